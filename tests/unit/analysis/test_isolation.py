"""One bad trial costs no other: it is one row with its trial, its file and the reason, in every format."""

import csv
import io
import json
import os
import shutil
from pathlib import Path

import pytest
from tests.support.trials import trial

from incident_arena.analysis.cells import grids
from incident_arena.analysis.cost import load_prices
from incident_arena.analysis.evidence import evidence_of
from incident_arena.analysis.facts import task_facts
from incident_arena.analysis.harbor_files import trajectory_tail
from incident_arena.analysis.read import read_jobs
from incident_arena.analysis.render import csv_tables, json_document, markdown, terminal
from incident_arena.analysis.report import build
from incident_arena.analysis.simulate import FRAPPE, Plan, SimModel, simulate
from incident_arena.analysis.trial import Trial
from incident_arena.catalogue.finding import Catalogue
from incident_arena.folders import PACKAGE

MODEL = SimModel("m", efforts=("low",))
PLAN = Plan(tasks=FRAPPE[:2], models=(MODEL,), repeats=2, odd=0.0, evidence=True)
HUGE = 10**30


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "jobs"
    simulate(folder, PLAN)
    return folder


@pytest.fixture
def jobs(made, tmp_path) -> Path:
    shutil.copytree(made, tmp_path / "jobs")
    return tmp_path / "jobs"


def _first(jobs: Path) -> Path:
    return next(path.parent for path in sorted(jobs.glob("*/*/result.json")))


def _change(path: Path, **changes: object) -> None:
    document = json.loads(path.read_text())
    document.update(changes)
    path.write_text(json.dumps(document))


def _naive(trial: Path) -> str:
    _change(trial / "result.json", started_at="2026-10-01T09:40:48")
    return "result.json"


def _huge(trial: Path) -> str:
    _change(trial / "result.json", agent_result={"n_input_tokens": HUGE})
    return "result.json"


def _huge_reads(trial: Path) -> str:
    _change(trial / "verifier" / "verdict.json", reads=HUGE)
    return "verifier/verdict.json"


def _huge_seed(trial: Path) -> str:
    _change(trial / "verifier" / "verdict.json", seed=HUGE)
    return "verifier/verdict.json"


def _deep(trial: Path) -> str:
    (trial / "result.json").write_text("[" * 200_000)
    return "result.json"


def _deep_verdict(trial: Path) -> str:
    (trial / "verifier" / "verdict.json").write_text('{"task":' * 50_000)
    return "verifier/verdict.json"


def _self_link(trial: Path) -> str:
    (trial / "result.json").unlink()
    (trial / "result.json").symlink_to("result.json")
    return "result.json"


def _fifo(trial: Path) -> str:
    (trial / "verifier" / "verdict.json").unlink()
    os.mkfifo(trial / "verifier" / "verdict.json")
    return "verifier/verdict.json"


def _fifo_result(trial: Path) -> str:
    (trial / "result.json").unlink()
    os.mkfifo(trial / "result.json")
    return "result.json"


def _large(trial: Path) -> str:
    with (trial / "result.json").open("ab") as file:
        file.truncate(1 << 40)
    return "result.json"


def _linked_verifier(trial: Path) -> str:
    (trial / "verifier").rename(trial.parent.parent / "verifier-elsewhere")
    (trial / "verifier").symlink_to(trial.parent.parent / "verifier-elsewhere")
    return "verifier/verdict.json"


def _no_text(trial: Path) -> str:
    (trial / "result.json").write_bytes(b"\xff\xfe\x00")
    return "result.json"


WAYS = [
    _naive, _huge, _huge_reads, _huge_seed, _deep, _deep_verdict, _self_link, _fifo, _fifo_result, _large,
    _linked_verifier, _no_text,
]  # fmt: skip


@pytest.mark.parametrize("spoil", WAYS)
def test_it_is_one_row_in_every_format_and_the_others_are_judged(jobs, spoil):
    trial = _first(jobs)
    file = spoil(trial)
    reading = read_jobs([jobs])
    bad = [one for one in reading.trials if one.status != "judged"]
    assert [(one.status, one.folder, one.file) for one in bad] == [("unreadable", trial, file)]
    assert len(reading.judged) == 3
    report = build(reading, load_prices())
    reason = bad[0].reason
    assert reason
    document = json.loads(json_document(report))
    assert document["unusable"] == [
        {"status": "unreadable", "job": trial.parent.name, "trial": trial.name, "file": file, "reason": reason}
    ]
    tables = csv_tables(report)
    (row,) = csv.DictReader(io.StringIO(tables["unusable"]))
    assert (row["trial"], row["file"]) == (trial.name, file)
    assert len(list(csv.DictReader(io.StringIO(tables["trials"])))) == 4
    for text in (terminal(report, width=300), markdown(report).replace("\\", "")):
        assert trial.name in text
        assert file in text
    assert {grid.name for grid in grids(report)} >= {"unusable", "main"}


def test_a_trial_that_is_a_link_is_a_row_and_not_read(jobs, tmp_path):
    trial = _first(jobs)
    trial.rename(tmp_path / "elsewhere")
    trial.symlink_to(tmp_path / "elsewhere")
    (trial.parent / "loop").symlink_to("loop")
    bad = [one for one in read_jobs([jobs]).trials if one.status == "unreadable"]
    assert [one.name for one in bad] == [trial.name, "loop"]
    assert all("is a link" in one.reason for one in bad)


def test_a_job_that_is_a_link_is_said_and_not_read(jobs):
    (jobs / "zz-latest").symlink_to(next(jobs.iterdir()))
    reading = read_jobs([jobs])
    assert len(reading.trials) == 4
    assert "'zz-latest' is a link, and not read: links are not followed" in reading.notes


def test_a_link_that_the_user_names_is_the_users_choice(jobs, tmp_path):
    (tmp_path / "mine").symlink_to(next(jobs.iterdir()))
    assert len(read_jobs([tmp_path / "mine"]).judged) == 4


def test_a_trial_below_a_link_that_the_user_names_is_read_with_its_jobs_judgements(jobs, tmp_path):
    job = next(jobs.iterdir())
    (tmp_path / "mine").symlink_to(job)
    (job / "arena-judgements.jsonl").write_text("no judgement\n")
    reading = read_jobs([tmp_path / "mine" / _first(jobs).name])
    assert [one.job for one in reading.judged] == [job.name]
    assert f"job {job.name}: line 1 of arena-judgements.jsonl can't be read" in build(reading, load_prices()).notes


def test_the_folder_one_is_in_has_its_name(jobs, monkeypatch):
    job = next(jobs.iterdir())
    monkeypatch.chdir(job)
    assert {one.job for one in read_jobs([Path()]).judged} == {job.name}
    monkeypatch.chdir(_first(jobs))
    (trial,) = read_jobs([Path()]).trials
    assert (trial.job, trial.folder.parent) == (job.name, job)


def test_an_error_that_nobody_foresaw_costs_one_trial(jobs, monkeypatch):
    def raises(folder: Path) -> None:
        if folder == _first(jobs):
            raise ZeroDivisionError("none foresaw it")

    monkeypatch.setattr("incident_arena.analysis.read_trial.stood_still", lambda folder: raises(folder) or "")
    reading = read_jobs([jobs])
    assert len(reading.judged) == 3
    assert [one.reason for one in reading.trials if one.status == "unreadable"] == [
        "ZeroDivisionError: none foresaw it"
    ]


def test_a_name_that_is_no_text_is_shown(jobs):
    trial = _first(jobs)
    odd = trial.with_name(os.fsdecode(b"\xff\x1b[31m\xe2\x80\xae__1"))
    trial.rename(odd)
    report = build(read_jobs([jobs]), load_prices())
    assert len(report.trials) == 4
    for text in (json_document(report), terminal(report), *csv_tables(report).values(), markdown(report)):
        assert "\x1b" not in text
        assert "\u202e" not in text
        text.encode()


@pytest.mark.parametrize("level", ["agent", "trajectory.json", "artifacts", "evidence"])
def test_nothing_is_read_through_a_link_in_a_trial(jobs, tmp_path, level):
    trial = _first(jobs)
    path = {
        "agent": trial / "agent", "trajectory.json": trial / "agent" / "trajectory.json",
        "artifacts": trial / "artifacts", "evidence": trial / "artifacts" / "evidence",
    }[level]  # fmt: skip
    path.rename(tmp_path / "outside")
    path.symlink_to(tmp_path / "outside")
    one = _read(trial, jobs)
    if level in {"agent", "trajectory.json"}:
        assert trajectory_tail(trial).turns is None
        assert one.turns is None
    else:
        assert evidence_of(one) is None


def _read(folder: Path, jobs: Path) -> Trial:
    return next(one for one in read_jobs([jobs]).trials if one.folder == folder)


@pytest.mark.parametrize("name", ["{outside}", "../outside", "a/../../outside", "nul\0byte/x", "loop"])
def test_a_tasks_name_does_not_lead_out_of_the_folder_of_tasks(tmp_path, name):
    (tmp_path / "outside").mkdir()
    (tmp_path / "tasks" / "frappe").mkdir(parents=True)
    (tmp_path / "tasks" / "loop").symlink_to("loop")
    text = 'version = 1\ntitle = "t"\nsubstrate = "s"\n'
    (tmp_path / "outside" / "task.toml").write_text(text)
    os.mkfifo(tmp_path / "tasks" / "frappe" / "task.toml")
    some = [trial(task=one) for one in (name.format(outside=tmp_path / "outside"), "frappe")]
    known = {"frappe": tmp_path / "tasks" / "frappe", "loop": tmp_path / "tasks" / "loop"}
    assert task_facts(some, known) == {}


def test_a_known_tasks_facts_are_those_of_its_folder():
    known = Catalogue(PACKAGE).tasks()
    name = next(iter(known))
    assert task_facts([trial(task=name)], known)[name].name == name


def test_records_that_are_no_regular_file_are_a_note(jobs):
    job = next(jobs.iterdir())
    os.mkfifo(job / "arena-records.jsonl")
    os.mkfifo(job / "arena-judgements.jsonl")
    report = build(read_jobs([jobs]), load_prices())
    said = [note for note in report.notes if "FIFO" in note]
    assert len(said) == 2
    assert report.main[0].trials == 4


def test_a_malformed_step_does_not_hide_a_trajectorys_totals(tmp_path):
    (tmp_path / "agent").mkdir()
    steps = [3, {"extra": 5}, {"extra": {"stop_reason": "refusal"}}, None]
    (tmp_path / "agent" / "trajectory.json").write_text(json.dumps({"steps": steps}))
    tail = trajectory_tail(tmp_path)
    assert (tail.turns, tail.stop_reason) == (4, "refusal")
