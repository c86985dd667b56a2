import io
from pathlib import Path

from harbor.trial.hooks import TrialEvent
from rich.console import Console

from incident_arena.formats.records import Stage
from incident_arena.harbor.journal import Attempt, Journal, attempts, next_folder
from incident_arena.harbor.watch import Watch, bars


def journal(records: Path, tmp_path: Path) -> Journal:
    number, folder = next_folder(records, "job", "t")
    attempt = Attempt(job="job", trial="t", task="frappe/x", number=number, started=1.0)
    return Journal(folder, attempt, tmp_path / "job")


def stage(name: str, *, ok: bool = True) -> Stage:
    return Stage(name=name, started=2.0, seconds=1.5, ok=ok, detail="" if ok else "web crashes")


def test_each_stage_and_failure_is_told_once(tmp_path: Path) -> None:
    shown = io.StringIO()
    watch = Watch(bars(Console(file=shown, width=200)), tmp_path / "records" / "job")
    watch.event(TrialEvent.START, "t", "frappe/x")
    first = journal(tmp_path / "records", tmp_path)
    first.stage(stage("node"))
    watch.event(TrialEvent.ENVIRONMENT_START, "t", "frappe/x")
    first.stage(stage("ready", ok=False))
    first.inadmissible("web crashes")
    for _ in range(3):
        watch.event(TrialEvent.VERIFICATION_START, "t", "frappe/x")
    second = journal(tmp_path / "records", tmp_path)
    second.stage(stage("node"))
    watch.event(TrialEvent.END, "t", "frappe/x")
    lines = [" ".join(line.split()[1:]) for line in shown.getvalue().splitlines()]
    assert lines == ["node 1.5 s", "ready: failed: web crashes 1.5 s", "inadmissible: web crashes", "node 1.5 s"]


def test_a_trial_that_is_played_again_tells_its_first_attempt_once(tmp_path: Path) -> None:
    shown = io.StringIO()
    watch = Watch(bars(Console(file=shown, width=200)), tmp_path / "records" / "job")
    watch.event(TrialEvent.START, "t", "frappe/x")
    first = journal(tmp_path / "records", tmp_path)
    first.stage(stage("ready", ok=False))
    first.inadmissible("web crashes")
    watch.event(TrialEvent.END, "t", "frappe/x")
    watch.event(TrialEvent.START, "t", "frappe/x")
    watch.event(TrialEvent.ENVIRONMENT_START, "t", "frappe/x")
    journal(tmp_path / "records", tmp_path).stage(stage("node"))
    watch.event(TrialEvent.END, "t", "frappe/x")
    lines = [" ".join(line.split()[1:]) for line in shown.getvalue().splitlines()]
    assert lines == ["ready: failed: web crashes 1.5 s", "inadmissible: web crashes", "node 1.5 s"]


def test_a_label_stands_for_the_tasks_name(tmp_path: Path) -> None:
    shown = io.StringIO()
    watch = Watch(bars(Console(file=shown, width=200)), tmp_path / "records" / "job", label="frappe/x wrong/flush")
    watch.event(TrialEvent.START, "t", "frappe/x")
    journal(tmp_path / "records", tmp_path).stage(stage("node"))
    watch.event(TrialEvent.END, "t", "frappe/x")
    assert shown.getvalue().startswith("frappe/x wrong/flush  node ")


def test_a_persons_terminal_is_left_alone_while_they_work(tmp_path: Path) -> None:
    shown = io.StringIO()
    console = Console(file=shown, width=200, force_terminal=True)
    watch = Watch(bars(console), tmp_path / "records" / "job", hands_over=True)
    watch.event(TrialEvent.START, "t", "frappe/x")
    watch.event(TrialEvent.AGENT_START, "t", "frappe/x")
    before = shown.getvalue()
    console.print("theirs")
    assert shown.getvalue() == f"{before}theirs\n"
    watch.event(TrialEvent.AGENT_END, "t", "frappe/x")
    assert "agent " in shown.getvalue()
    watch.event(TrialEvent.END, "t", "frappe/x")


def test_records_tell_each_attempt(tmp_path: Path) -> None:
    first = journal(tmp_path / "records", tmp_path)
    first.inadmissible("web crashes")
    first.stopped(900)
    second = journal(tmp_path / "records", tmp_path)
    second.stage(stage("node"))
    second.admitted()
    second.stopped(1200)
    one, two = attempts(tmp_path / "records", "job", "t")
    assert (one.state, one.reason, one.peak_memory_mb) == ("inadmissible", "web crashes", 900)
    assert (two.state, two.number, two.peak_memory_mb, two.stages[0].name) == ("stopped", 2, 1200, "node")
    assert len((tmp_path / "job" / "arena-records.jsonl").read_text().splitlines()) == 1
