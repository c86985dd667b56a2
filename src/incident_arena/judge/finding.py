"""The shape of a check, and what it answers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from incident_arena.formats.verdict import Answer, FailureClass
from incident_arena.judge.trial import Trial

SHOWN = 5


def listed(phrases: Sequence[str]) -> str:
    """What was seen, to read: the first few, and how many more there are."""
    more = len(phrases) - SHOWN
    return "; ".join(phrases[:SHOWN]) + (f"; and {more} more" if more > 0 else "")


@dataclass(frozen=True)
class Finding:
    """A check's answer. `expected`, `seen` and `at` as in `verdict.Check`.

    `classes` are the failure classes that a *fail* shows; empty for a fail that is none of them by itself.
    """

    verdict: Answer
    reason: str
    expected: str = ""
    seen: str = ""
    at: float | None = None
    classes: tuple[FailureClass, ...] = ()


@dataclass(frozen=True)
class Spec:
    """One check: its name in the verdict, the failure class it mostly shows, and the function that decides.

    Its gate is in the table of `gates.MAPPINGS`.
    """

    name: str
    failure: FailureClass
    decide: Callable[[Trial], Finding]
