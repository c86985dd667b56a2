from pathlib import Path

import pytest

from incident_arena.formats.records import Intent, Outcome
from incident_arena.formats.task import TaskSpec
from incident_arena.ledger import rates
from incident_arena.services.referee.figures import Figures

TASK = TaskSpec.model_validate(
    {
        "name": "frappe/x", "title": "x", "substrate": "frappe", "surface": "confined", "layer": "configuration",
        "onset": "at start", "faults": [],
        "load": {"kinds": {"create": {"rate": 2, "judged": True}, "rare": {"rate": 0.1}}},
        "symptom": {"kinds": {"create": 0.5}, "window": 10}, "challenges": [], "permitted": [],
    }
)  # fmt: skip


class Ledger:
    """A ledger file, and figures that follow it at the time that `now` says."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.now = 1000.0
        self.figures = Figures(path, TASK, lambda: self.now)
        self._id = 0

    def add(self, kind: str, due: float, result: str | None = "ok", *, error: str = "", took: float = 0.1) -> None:
        self._id += 1
        lines = [Intent(id=self._id, kind=kind, due=due, at=due).model_dump_json()]
        if result:
            outcome = {"id": self._id, "kind": kind, "due": due, "at": due + took, "result": result, "latency": took}
            lines.append(Outcome.model_validate(outcome | {"error": error}).model_dump_json())
        with self.path.open("a") as file:
            file.write("".join(f"{line}\n" for line in lines))

    def stretch(self, start: float, end: float, result: str = "ok") -> None:
        """Operations of `create` at their rate."""
        for number in range(int((end - start) * 2)):
            self.add("create", start + number / 2, result)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "ledger.jsonl")


def test_healthy_needs_a_success_of_every_kind(ledger: Ledger) -> None:
    ledger.figures.refresh()
    assert ledger.figures.healthy() == (False, "no success of create, rare")
    ledger.stretch(994, 1000)
    ledger.figures.refresh()
    assert ledger.figures.healthy() == (False, "no success of rare")
    ledger.add("rare", 989)
    ledger.figures.refresh()
    assert ledger.figures.healthy()[0]
    ledger.now = 1010
    assert not ledger.figures.healthy()[0]


@pytest.mark.parametrize("result", ["failed", "indeterminate", "wrong", "shed"])
def test_one_failure_in_five_seconds_is_not_healthy(ledger: Ledger, result: str) -> None:
    ledger.stretch(990, 1000)
    ledger.add("rare", 998)
    ledger.add("create", 996, result, error="boom")
    ledger.figures.refresh()
    assert ledger.figures.healthy() == (False, f"create {result} (boom)")


def test_arrivals_of_a_pause_are_no_failures(ledger: Ledger) -> None:
    ledger.stretch(990, 1000)
    ledger.add("rare", 998)
    ledger.add("create", 996, "shed", error="paused")
    ledger.figures.refresh()
    assert ledger.figures.healthy()[0]


def test_a_window_is_whole_up_to_the_first_operation_under_way(ledger: Ledger) -> None:
    ledger.stretch(960, 1000)
    ledger.add("create", 990.25, None)
    ledger.add("create", 900, None)
    ledger.figures.refresh()
    assert ledger.figures.whole(950) == 990.25
    assert ledger.figures.whole(991) == 1000


def test_bounds_are_samples_and_the_floor(ledger: Ledger) -> None:
    ledger.stretch(960, 960 + rates.MINIMUM_SAMPLES / 2)
    ledger.figures.refresh()
    assert ledger.figures.in_bounds(960, 1000) == (True, "in bounds")
    assert ledger.figures.in_bounds(960.5, 1000) == (False, "create: 39 operations, 40 are needed")
    ledger.add("create", 980, "failed")
    ledger.add("create", 980, "failed")
    ledger.figures.refresh()
    assert ledger.figures.in_bounds(960, 1000) == (False, "create: 40/42 succeeded, floor 97%")


def test_a_symptom_shows_among_what_was_due_after_the_plant(ledger: Ledger) -> None:
    ledger.stretch(980, 998)
    ledger.add("create", 998, "failed")
    ledger.add("create", 998.5, "failed")
    ledger.figures.refresh()
    assert ledger.figures.symptom(998) == (False, "create too few")
    ledger.add("create", 999, "ok")
    ledger.figures.refresh()
    assert ledger.figures.symptom(998) == (True, "create 1/3")
    assert not ledger.figures.symptom(990)[0]
    ledger.add("create", 999.5, "ok")
    ledger.add("create", 999.6, "ok")
    ledger.figures.refresh()
    assert ledger.figures.symptom(998) == (False, "create 3/5")


def test_old_lines_are_forgotten(ledger: Ledger) -> None:
    ledger.stretch(0, 100)
    ledger.now = 1900
    ledger.figures.refresh()
    ledger.stretch(1890, 1900)
    ledger.figures.refresh()
    assert len(ledger.figures._lines) == 40
