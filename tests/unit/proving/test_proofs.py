import io
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from tests.support.checkout import NAME

from incident_arena.catalogue.finding import Catalogue
from incident_arena.errors import UserError
from incident_arena.harbor import queue
from incident_arena.harbor.outcome import Outcome
from incident_arena.proving import keys, proofs
from incident_arena.proving.proofs import Choice, Proof, Result
from incident_arena.settings import Settings


class Plays:
    """Answers for real episodes, by the run's name; says which were asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.entries: list[queue.Entry] = []
        self.stop_after = 1000
        self.answers: dict[str, Result] = {
            "solve": Result(reward=1),
            "nop": Result(reward=0, failure_class="never declared"),
            "wrong/flush": Result(reward=0, failure_class="off-list change"),
        }

    def __call__(
        self, settings: object, entries: Sequence[queue.Entry], places: int, console: object, on_end: queue.OnEnd
    ) -> None:
        del settings, console
        for number, entry in enumerate(entries):
            assert entry.request.parallel == places
            if len(self.asked) == self.stop_after:
                raise KeyboardInterrupt
            self.asked.append(entry.label.partition(" ")[2])
            self.entries.append(entry)
            on_end(number, outcome(self.answers[self.asked[-1]]))


def outcome(result: Result) -> Outcome:
    return Outcome(
        task=NAME, trial="t", agent="oracle", script="", reward=result.reward, reason="", errored=False, refused=False,
        gates={}, checks=[], failure_class=result.failure_class, admissible=True, attempts=1, stages=[],
        peak_memory_mb=None, job_dir="jobs/j",
    )  # fmt: skip


class Keys(keys.Keys):
    """Without the images and binaries of a machine: what they add to the hashes is tested in test_keys.py."""

    judge = "one"

    def __init__(self, settings: Settings, catalogue: Catalogue, name: str) -> None:
        del settings
        self.judged = self.judge
        self._played = keys.exported(catalogue, name)[1]


@pytest.fixture(autouse=True)
def hashes(monkeypatch: pytest.MonkeyPatch) -> type[Keys]:
    monkeypatch.setattr(keys, "Keys", Keys)
    monkeypatch.setattr(Keys, "judge", "one")
    return Keys


@pytest.fixture
def plays(monkeypatch: pytest.MonkeyPatch) -> Plays:
    made = Plays()
    monkeypatch.setattr(queue, "play", made)
    return made


def prove(settings: Settings, checkout: Catalogue, choice: Choice | None = None) -> Proof:
    [proof] = proofs.prove(settings, checkout, [NAME], Console(file=io.StringIO()), choice or Choice())
    return proof


EVERY = [*["solve"] * 3, *["nop"] * 3, "wrong/flush"]


def test_every_script_is_played_and_what_holds_is_kept(settings: Settings, checkout: Catalogue, plays: Plays) -> None:
    proof = prove(settings, checkout)
    assert plays.asked == EVERY
    assert [(run.name, run.repeat, run.holds) for run in proof.runs] == [
        ("solve", 3, True), ("nop", 3, True), ("wrong/flush", 1, True),
    ]  # fmt: skip
    assert proofs.read(checkout.folder(NAME) / "proof.json") == proof


def test_what_has_not_changed_is_not_played_again(settings: Settings, checkout: Catalogue, plays: Plays) -> None:
    first = prove(settings, checkout)
    plays.asked.clear()
    assert prove(settings, checkout) == first
    assert plays.asked == []
    prove(settings, checkout, Choice(again=True))
    assert plays.asked == EVERY


@pytest.mark.parametrize(
    ("path", "stale"),
    [
        ("substrates/frappe/tasks/deletes-and-jobs-fail/solution/solve.sh", ["solve"]),
        ("substrates/frappe/tasks/deletes-and-jobs-fail/wrong/flush.sh", ["wrong/flush"]),
        ("substrates/frappe/tasks/deletes-and-jobs-fail/values.yaml", ["solve", "nop", "wrong/flush"]),
        ("substrates/frappe/chart/values.yaml", ["solve", "nop", "wrong/flush"]),
        ("substrates/frappe/operations.py", ["solve", "nop", "wrong/flush"]),
        ("harness/chart/values.yaml", ["solve", "nop", "wrong/flush"]),
        ("substrates/frappe/library.sh", ["solve", "wrong/flush"]),
        ("substrates/frappe/README.md", []),
        ("substrates/other/chart/values.yaml", []),
    ],
)
def test_a_change_makes_stale_what_depends_on_it(
    settings: Settings, checkout: Catalogue, plays: Plays, path: str, stale: list[str]
) -> None:
    prove(settings, checkout)
    plays.asked.clear()
    file = checkout.root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a") as stream:
        stream.write("\n# changed\n")
    told = prove(settings, checkout, Choice(check=True))
    assert [run.name for run in told.runs if run.missing] == stale
    assert plays.asked == []
    prove(settings, checkout)
    assert list(dict.fromkeys(plays.asked)) == stale


def test_a_new_judge_judges_again_and_plays_only_without_evidence(
    settings: Settings, checkout: Catalogue, plays: Plays, hashes: type[Keys], monkeypatch: pytest.MonkeyPatch
) -> None:
    prove(settings, checkout)
    plays.asked.clear()
    hashes.judge = "another"
    monkeypatch.setattr(proofs.rejudge, "again", lambda _trial, before: before)
    proof = prove(settings, checkout)
    assert plays.asked == []
    assert all(run.holds for run in proof.runs)
    hashes.judge = "yet another"
    monkeypatch.setattr(proofs.rejudge, "again", lambda _trial, _before: None)
    prove(settings, checkout)
    assert plays.asked == EVERY


@pytest.mark.parametrize(
    ("name", "result"),
    [
        ("solve", Result(reward=0, failure_class="not durable")),
        ("solve", Result(reward=None)),
        ("nop", Result(reward=1)),
        ("nop", Result(reward=None)),
        ("wrong/flush", Result(reward=0, failure_class="not durable")),
    ],
)
def test_a_wrong_outcome_does_not_hold(
    settings: Settings, checkout: Catalogue, plays: Plays, name: str, result: Result
) -> None:
    plays.answers[name] = result
    assert [run.name for run in prove(settings, checkout).runs if not run.holds] == [name]


def test_only_what_is_named_is_played_and_the_rest_is_kept(
    settings: Settings, checkout: Catalogue, plays: Plays
) -> None:
    prove(settings, checkout)
    plays.asked.clear()
    prove(settings, checkout, Choice(again=True, only=("nop",)))
    assert plays.asked == ["nop"] * 3
    kept = proofs.read(checkout.folder(NAME) / "proof.json")
    assert kept is not None
    assert [run.name for run in kept.runs] == ["solve", "nop", "wrong/flush"]
    with pytest.raises(UserError, match="one of: solve, nop"):
        prove(settings, checkout, Choice(only=("flush",)))


def test_a_proof_that_cannot_be_read_says_what_to_do(checkout: Catalogue) -> None:
    path = checkout.folder(NAME) / "proof.json"
    path.write_text("{}")
    with pytest.raises(UserError, match="can't be read") as caught:
        proofs.read(path)
    assert caught.value.remedy == "remove it"


def test_rejudging_needs_the_evidence(tmp_path: Path) -> None:
    assert proofs.rejudge.again(tmp_path, Result(reward=1)) is None


def test_two_processes_do_not_lose_each_others_results(
    settings: Settings, checkout: Catalogue, plays: Plays, monkeypatch: pytest.MonkeyPatch
) -> None:
    def other(*arguments: Any) -> None:
        monkeypatch.setattr(queue, "play", plays)
        prove(settings, checkout, Choice(only=("solve",)))
        plays(*arguments)

    monkeypatch.setattr(queue, "play", other)
    prove(settings, checkout, Choice(only=("nop",)))
    kept = proofs.read(checkout.folder(NAME) / "proof.json")
    assert kept is not None
    assert [run.name for run in kept.runs if run.holds] == ["solve", "nop"]


def test_what_was_proven_elsewhere_is_taken_over_while_it_is_fresh(
    settings: Settings, checkout: Catalogue, plays: Plays, tmp_path: Path
) -> None:
    path, elsewhere = checkout.folder(NAME) / "proof.json", tmp_path / "proof.json"
    prove(settings, checkout)
    path.rename(elsewhere)
    (checkout.folder(NAME) / "wrong" / "flush.sh").write_text("#!/bin/sh\n# class: off-list change\n# another\n")
    proofs.merge(settings, checkout, NAME, elsewhere)
    plays.asked.clear()
    prove(settings, checkout)
    assert plays.asked == ["wrong/flush"]
    with pytest.raises(UserError, match="is not one of task"):
        proofs.merge(settings, checkout, NAME, tmp_path / "nothing.json")


def test_each_trial_is_a_sealed_job_of_its_own(settings: Settings, checkout: Catalogue, plays: Plays) -> None:
    prove(settings, checkout, Choice(parallel=2))
    assert {(entry.request.seal, entry.request.trials) for entry in plays.entries} == {(True, 1)}
    asked = [(entry.request.agent, [path.name for path in entry.request.scripts]) for entry in plays.entries]
    assert asked == [*[("oracle", [])] * 3, *[("nop", [])] * 3, ("oracle", ["flush.sh"])]


def test_an_interrupt_keeps_what_has_ended(settings: Settings, checkout: Catalogue, plays: Plays) -> None:
    plays.stop_after = 5
    with pytest.raises(KeyboardInterrupt):
        prove(settings, checkout)
    kept = proofs.read(checkout.folder(NAME) / "proof.json")
    assert kept is not None
    assert [(run.name, len(run.results), run.holds) for run in kept.runs] == [("solve", 3, True), ("nop", 2, False)]
    told = prove(settings, checkout, Choice(check=True))
    assert [(run.name, run.missing) for run in told.runs] == [("solve", 0), ("nop", 1), ("wrong/flush", 1)]
    plays.stop_after = 1000
    plays.asked.clear()
    assert all(run.holds for run in prove(settings, checkout).runs)
    assert plays.asked == ["nop", "wrong/flush"]


def test_all_tasks_are_one_queue_and_right_fixes_come_first(
    settings: Settings, checkout: Catalogue, plays: Plays
) -> None:
    other = f"{NAME}-too"
    folder = checkout.folder(NAME).with_name(other.rpartition("/")[2])
    shutil.copytree(checkout.folder(NAME), folder)
    (folder / "task.toml").write_text((folder / "task.toml").read_text().replace(NAME, other))
    shown = io.StringIO()
    found = proofs.prove(settings, checkout, [NAME, other], Console(file=shown, width=500), Choice(parallel=2))
    assert [(proof.task, all(run.holds for run in proof.runs)) for proof in found] == [(NAME, True), (other, True)]
    labels = [entry.label for entry in plays.entries]
    assert labels[:6] == [*[f"{NAME} solve"] * 3, *[f"{other} solve"] * 3]
    assert len(labels) == 14
    lines = shown.getvalue().splitlines()
    assert lines[0].startswith("14 trials to play, 2 at once: ")
    assert lines[-1] == f"{other} wrong/flush: 0 off-list change; 0 to go"
