"""Kinds of event are found by file, and read what a task says of them."""

import inspect

import pytest

from incident_arena.errors import UserError
from incident_arena.formats.task import Event
from incident_arena.services.referee import events

KINDS = ("churn", "grow", "passed", "peak", "reconcile", "restart", "schedule")


def test_events_are_found_by_file() -> None:
    assert events.kinds() == KINDS
    for kind in KINDS:
        module = __import__(f"{events.__name__}.{kind}", fromlist=["run"])
        for name in ("run", "begin", "prepare"):
            if act := getattr(module, name, None):
                assert inspect.iscoroutinefunction(act)
                assert [each.lstrip("_") for each in inspect.signature(act).parameters] == [
                    "parts", "event", "parameters",
                ]  # fmt: skip


@pytest.mark.parametrize("kind", ["fire", "", "Churn", "churn.run"])
def test_an_unknown_kind_lists_the_valid_ones(kind: str) -> None:
    with pytest.raises(UserError, match=f"one of: {', '.join(KINDS)}"):
        events.read(Event(kind=kind))


def test_wrong_parameters_are_all_told_at_once() -> None:
    with pytest.raises(UserError) as told:
        events.read(Event(kind="peak", parameters={"factor": 0.5, "colour": "red"}))
    assert all(word in str(told.value) for word in ("factor", "seconds", "colour", "its parameters: factor, seconds"))
    with pytest.raises(UserError, match="it has none"):
        events.read(Event(kind="restart", component="web", parameters={"gently": True}))
