"""Looks at planted faults through an observer that fails now and then."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from incident_arena.formats.records import Observation
from incident_arena.services.referee import looks, patience
from incident_arena.services.referee.folder import Evidence
from incident_arena.stores.base import StoreError


class Observer:
    """Cannot see the first `blind` times."""

    def __init__(self, blind: int) -> None:
        self.blind = blind
        self.looks = 0

    def observe(self, store: object, parameters: object) -> Any:
        del store, parameters
        self.looks += 1
        if self.looks <= self.blind:
            raise StoreError("mariadb", "no answer")
        return SimpleNamespace(state="clear", seen={"privilege": True})


@pytest.fixture
def parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(patience, "POLL_S", 0.01)
    return SimpleNamespace(evidence=Evidence(tmp_path), stores={"mariadb": None}, faults=(), others=())


def plant(parts: Any, *blind: int) -> list[Observer]:
    observers = [Observer(times) for times in blind]
    parts.faults = tuple(
        SimpleNamespace(name=f"fault-{number}", component="mariadb", fault=one, parameters=None)
        for number, one in enumerate(observers)
    )
    return observers


def written(parts: Any) -> list[str]:
    lines = (parts.evidence.live.folder / "observations.jsonl").read_text().splitlines()
    return [Observation.model_validate_json(line).state for line in lines]


@pytest.mark.parametrize("blind", [0, 1, 2])
async def test_a_blind_look_is_made_again_until_one_sees(parts: Any, blind: int) -> None:
    [observer] = plant(parts, blind)
    [last] = await looks.record(parts)
    assert (last.state, observer.looks) == ("clear", blind + 1)
    assert written(parts) == ["unknown"] * blind + ["clear"]


async def test_only_the_blind_ones_are_asked_again(parts: Any) -> None:
    observers = plant(parts, 0, 3)
    assert [one.state for one in await looks.record(parts)] == ["clear", "clear"]
    assert [one.looks for one in observers] == [1, 4]


async def test_one_that_stays_blind_is_written_down_and_keeps_nothing_up(
    parts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(looks, "BLIND_S", 0.05)
    plant(parts, 0, 10**6)
    assert [one.state for one in await looks.record(parts)] == ["clear", "unknown"]
    assert written(parts).count("unknown") > 1
