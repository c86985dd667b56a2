"""For how long did what had worked not work? Lower bounds in seconds, from operations that come at different rates.

A *stretch* of one kind begins and ends with a bad operation (one that failed or was late), and bad operations outnumber
the good ones in it, counted from either end. It counts when it is significantly worse than the kind was before (the
test of `rates`), so that what happens by chance, now and then, does not add up. What a stretch costs is the time from
its first to its last bad operation: at least so long the kind was out. Stretches of several kinds at once cost once.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from incident_arena.formats.task import KindLoad
from incident_arena.ledger import rates
from incident_arena.ledger.reading import DOWN, Operation

LATE_S = 5.0
"""Seconds over a kind's limit from which an operation is bad by itself. The limit is one for a p95, not for each."""

SLOW_S = 10.0
"""Operations over the limit by less are bad in stretches longer than this: a busy machine stalls for up to 7 s."""

type Interval = tuple[float, float]


@dataclass(frozen=True)
class Stretch:
    """`bad` of `total` operations of a kind, due in [start, end] (seconds since the epoch)."""

    kind: str
    start: float
    end: float
    bad: int
    total: int


def counted(operation: Operation) -> bool:
    """Whether an operation says anything: not where the referee or an outage of the load left it out or cut it off."""
    return not operation.paused and (operation.outcome is None or operation.outcome.error != DOWN)


def stretches(operations: Sequence[Operation], limit: float, before: rates.Samples) -> list[Stretch]:
    """The stretches of one kind that count; those of late operations may overlap those of failed ones.

    Args:
        operations: of this kind, in the order in which they were due.
        limit: seconds that one may take (`rates.limit`).
        before: the kind as it was before, bad ones by the same limit.
    """
    slow = [one for one in _stretches(operations, limit, before) if one.end - one.start > SLOW_S]
    return slow + _stretches(operations, limit + LATE_S, before)


def _bad(operation: Operation, limit: float) -> bool:
    """Whether it failed, never ended, or took longer than `limit` seconds."""
    outcome = operation.outcome
    return outcome is None or outcome.result != "ok" or outcome.latency > limit


def _stretches(operations: Sequence[Operation], limit: float, before: rates.Samples) -> list[Stretch]:
    failed = [_bad(one, limit) for one in operations]
    bad_before = before.total - before.ok + before.over(limit)
    found: list[Stretch] = []
    for first, last in _outnumbered(failed):
        count, total = sum(failed[first : last + 1]), last - first + 1
        if rates.tail(count, total, bad_before, before.total) < rates.ALPHA:
            found.append(Stretch(operations[first].kind, operations[first].due, operations[last].due, count, total))
    return found


def _outnumbered(failed: Sequence[bool]) -> list[tuple[int, int]]:
    """The longest stretches in whose every beginning and every end the True outnumber the False; first and last index.

    Source: W. L. Ruzzo, M. Tompa, A linear time algorithm for finding all maximal scoring subsequences (ISMB 1999),
    with the scores 1 and -1.
    """
    found: list[tuple[int, int, int, int]] = []  # first, last, the sum before it, the sum at its end
    total = 0
    for index, one in enumerate(failed):
        before, total = total, total + (1 if one else -1)
        if not one:
            continue
        first = index
        while True:
            place = next((n for n in range(len(found) - 1, -1, -1) if found[n][2] < before), None)
            if place is None or found[place][3] >= total:
                break
            first, before = found[place][0], found[place][2]
            del found[place:]
        found.append((first, index, before, total))
    return [(first, last) for first, last, _, _ in found]


def back(operations: Sequence[Operation], kind: KindLoad, healthy: rates.Samples, since: float) -> float | None:
    """When a kind that was broken worked again: with the last of the first MINIMUM_SAMPLES in a row in bounds.

    Args:
        operations: of this kind, in the order in which they were due.
        kind: its floors.
        healthy: its operations in the healthy window.
        since: seconds since the epoch before which it can't be.

    Returns:
        When that last one was due; None when there is none.
    """
    later = [one for one in operations if one.due >= since]
    for end in range(rates.MINIMUM_SAMPLES, len(later) + 1):
        some = later[end - rates.MINIMUM_SAMPLES : end]
        if not rates.worse(kind, of_kind(some), healthy):
            return some[-1].due
    return None


def of_kind(operations: Iterable[Operation]) -> rates.Samples:
    """Operations of one kind as samples."""
    some = list(operations)
    latencies = [one.outcome.latency for one in some if one.outcome is not None and one.outcome.result == "ok"]
    return rates.Samples(tuple(latencies), len(some))


def union(intervals: Iterable[Interval]) -> list[Interval]:
    """The same time in intervals that do not touch, in order."""
    made: list[Interval] = []
    for start, end in sorted(intervals):
        if made and start <= made[-1][1]:
            made[-1] = (made[-1][0], max(made[-1][1], end))
        else:
            made.append((start, end))
    return made


def seconds(intervals: Iterable[Interval]) -> float:
    """How long they are together, what overlaps counted once."""
    return sum(end - start for start, end in union(intervals))


def used_up(intervals: Iterable[Interval], budget: float) -> float | None:
    """When they were together longer than `budget` seconds; None when they never were."""
    left = budget
    for start, end in union(intervals):
        if end - start > left:
            return start + left
        left -= end - start
    return None
