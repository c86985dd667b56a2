import io
from pathlib import Path

import pytest
from rich.console import Console
from tests.support.checkout import NAME

from incident_arena.catalogue.finding import Catalogue
from incident_arena.errors import UserError
from incident_arena.proving import keys, proofs
from incident_arena.proving.proofs import Choice, Proof, Result, Run
from incident_arena.settings import Settings


class Plays:
    """Answers for real episodes, by the run's name; says which were asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.answers: dict[str, Result] = {
            "solve": Result(reward=1),
            "nop": Result(reward=0, failure_class="never declared"),
            "wrong/flush": Result(reward=0, failure_class="off-list change"),
        }

    def __call__(
        self, settings: object, catalogue: object, name: str, batch: list[proofs._Plan], console: object, parallel: int
    ) -> list[Run]:
        del settings, catalogue, name, console
        assert len(batch) <= parallel
        self.asked += [plan.run.name for plan in batch]
        return [
            plan.run.model_copy(update={"results": [self.answers[plan.run.name]] * plan.run.repeat}) for plan in batch
        ]


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
    monkeypatch.setattr(proofs, "_play", made)
    return made


def prove(settings: Settings, checkout: Catalogue, choice: Choice | None = None) -> Proof:
    return proofs.prove(settings, checkout, NAME, Console(file=io.StringIO()), choice or Choice())


def test_every_script_is_played_and_what_holds_is_kept(settings: Settings, checkout: Catalogue, plays: Plays) -> None:
    proof = prove(settings, checkout)
    assert plays.asked == ["solve", "nop", "wrong/flush"]
    assert [(run.name, run.repeat, run.holds) for run in proof.runs] == [
        ("solve", 5, True), ("nop", 3, True), ("wrong/flush", 1, True),
    ]  # fmt: skip
    assert proofs.read(checkout.folder(NAME) / "proof.json") == proof


def test_what_has_not_changed_is_not_played_again(settings: Settings, checkout: Catalogue, plays: Plays) -> None:
    first = prove(settings, checkout)
    plays.asked.clear()
    assert prove(settings, checkout) == first
    assert plays.asked == []
    prove(settings, checkout, Choice(again=True))
    assert len(plays.asked) == 3


@pytest.mark.parametrize(
    ("path", "stale"),
    [
        ("substrates/frappe/tasks/deletes-and-jobs-fail/solution/solve.sh", ["solve"]),
        ("substrates/frappe/tasks/deletes-and-jobs-fail/wrong/flush.sh", ["wrong/flush"]),
        ("substrates/frappe/tasks/deletes-and-jobs-fail/values.yaml", ["solve", "nop", "wrong/flush"]),
        ("substrates/frappe/chart/values.yaml", ["solve", "nop", "wrong/flush"]),
        ("substrates/frappe/operations.py", ["solve", "nop", "wrong/flush"]),
        ("harness/chart/values.yaml", ["solve", "nop", "wrong/flush"]),
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
    assert [run.name for run in told.runs if not run.results] == stale
    assert plays.asked == []
    prove(settings, checkout)
    assert plays.asked == stale


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
    assert len(plays.asked) == 3


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
    assert plays.asked == ["nop"]
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
    def other(*arguments: object) -> list[Run]:
        monkeypatch.setattr(proofs, "_play", plays)
        prove(settings, checkout, Choice(only=("solve",)))
        return plays(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(proofs, "_play", other)
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
