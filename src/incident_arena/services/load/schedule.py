"""When which kind of operation is due.

The schedule is a function of the task's load alone: arrival n is the same kind at the same offset in every run, so that
a generator which was killed goes on where the ledger ends, and operation ids are positions in the schedule.
"""

import heapq
import random
from collections.abc import Iterator
from dataclasses import dataclass

from incident_arena.formats.task import KindLoad, LoadSpec

FIRST = 1.0
"""Seconds within which each kind arrives for the first time, however low its rate."""


@dataclass(frozen=True, order=True)
class Arrival:
    """One operation's place in the schedule: seconds after the schedule's origin."""

    offset: float
    kind: str


def arrivals(spec: LoadSpec) -> Iterator[Arrival]:
    """All arrivals of all kinds in the order in which they are due, without an end."""
    return heapq.merge(*(_of_kind(name, kind, spec.seed) for name, kind in sorted(spec.kinds.items())))


def _of_kind(name: str, kind: KindLoad, seed: int) -> Iterator[Arrival]:
    """Arrivals of one kind: one group of `burst` in each slot of burst/rate seconds, at a random moment of the slot.

    So any window of T seconds holds between rate·T - 2·burst and rate·T + 2·burst arrivals: a window's number of
    samples does not depend on luck, which independent exponential gaps would make it.
    """
    chance = random.Random(f"{seed}/{name}")  # noqa: S311  it has to be reproducible, not secret
    slot = kind.burst / kind.rate
    number = 0
    while True:
        width = min(slot, FIRST) if number == 0 else slot
        offset = number * slot + chance.random() * width
        for _ in range(kind.burst):
            yield Arrival(offset, name)
        number += 1
