"""When which kind of operation is due.

The schedule is a function of the task's load alone: arrival n is the same kind at the same offset in every run, so that
a generator which was killed goes on where the ledger ends, and operation ids are positions in the schedule.
"""

import heapq
import itertools
import random
from collections.abc import Collection, Iterator, Mapping
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
    return _merged(spec.kinds, spec.seed)


def _merged(kinds: Mapping[str, KindLoad], seed: int | str) -> Iterator[Arrival]:
    return heapq.merge(*(_of_kind(name, kind, seed) for name, kind in sorted(kinds.items())))


def peak(spec: LoadSpec, number: int, factor: float, seconds: float, kinds: Collection[str]) -> Iterator[Arrival]:
    """What arrives more while the load is `factor` times as high, for the `number`th time. Offsets from its start."""
    more = {
        name: kind.model_copy(update={"rate": kind.rate * (factor - 1)})
        for name, kind in spec.kinds.items()
        if not kinds or name in kinds
    }
    arriving = _merged(more, f"{spec.seed}/peak {number}")
    return itertools.takewhile(lambda arrival: arrival.offset < seconds, arriving)


def _of_kind(name: str, kind: KindLoad, seed: int | str) -> Iterator[Arrival]:
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
