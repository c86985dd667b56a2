"""Are the load's rates in a window in bounds? One-sided tests against the episode's own healthy window.

Two bounds hold for each judged operation kind:

success   the share of operations that succeed is at least the kind's floor, and not significantly below the healthy
          window's (Fisher's exact test, one-sided);
latency   the p95 of those that succeed is under the limit `max(floor, MARGIN * healthy p95)`, or the operations over
          that limit are not significantly more frequent than in the healthy window (the same test).

A comparison with the episode's own healthy window makes the answer independent of the machine's speed.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from incident_arena.formats.task import KindLoad
from incident_arena.ledger.reading import Operation, quantile

MINIMUM_SAMPLES = 40
"""Fewer samples in a window say too little: with 40, a p95 rests on the two slowest."""

ALPHA = 0.01
"""Chance of calling a healthy kind worse, for one test on one kind in one window; the margins below lower it."""

MARGIN = 1.5
"""How much slower than the healthy window a p95 may be before it counts."""

QUANTILE = 0.95


@dataclass(frozen=True)
class Samples:
    """One kind's operations in one window.

    Attributes:
        latencies: seconds, of the operations that succeeded, any order.
        total: all operations that were due, whether they succeeded or not.
    """

    latencies: tuple[float, ...]
    total: int

    @property
    def ok(self) -> int:
        """How many succeeded."""
        return len(self.latencies)

    @property
    def share(self) -> float:
        """The share that succeeded; 0 of none."""
        return self.ok / self.total if self.total else 0.0

    @property
    def p95(self) -> float:
        """Seconds; infinite when none succeeded."""
        value = quantile(self.latencies, QUANTILE)
        return math.inf if value is None else value

    def over(self, limit: float) -> int:
        """How many of those that succeeded took longer than `limit` seconds."""
        return sum(latency > limit for latency in self.latencies)


def samples(operations: Iterable[Operation], start: float, end: float) -> dict[str, Samples]:
    """The operations that were due in [start, end), by kind, counted as `ledger.window` counts them.

    One without an outcome did not succeed; one that the referee's own pause left out is no sample.
    """
    totals: Counter[str] = Counter()
    latencies: dict[str, list[float]] = defaultdict(list)
    for operation in operations:
        if not start <= operation.due < end or operation.paused:
            continue
        totals[operation.kind] += 1
        if operation.outcome is not None and operation.outcome.result == "ok":
            latencies[operation.kind].append(operation.outcome.latency)
    return {kind: Samples(tuple(latencies[kind]), total) for kind, total in totals.items()}


def tail(bad: int, total: int, healthy_bad: int, healthy_total: int) -> float:
    """The chance of at least `bad` bad ones in a window of `total` if it were as good as the healthy window.

    The upper tail of the hypergeometric distribution: of all `total + healthy_total` operations,
    `bad + healthy_bad` are bad, and `total` are drawn.

    Returns:
        A probability in (0, 1]; 1 when nothing is bad.

    Source: R. A. Fisher, The Design of Experiments (1935), chapter II: the exact test of a two-by-two table, one-sided.
    """
    all_bad, everything = bad + healthy_bad, total + healthy_total
    ways = sum(
        math.comb(all_bad, drawn) * math.comb(everything - all_bad, total - drawn)
        for drawn in range(bad, min(all_bad, total) + 1)
    )
    return ways / math.comb(everything, total)


def limit(kind: KindLoad, healthy: Samples) -> float:
    """Seconds that the kind's p95 may take."""
    return max(kind.p95_floor, MARGIN * healthy.p95)


def worse(kind: KindLoad, now: Samples, healthy: Samples) -> str:
    """Why a kind is out of bounds in a window, in one phrase; empty when it is in bounds.

    Args:
        kind: its floors.
        now: its operations in the window.
        healthy: its operations in the episode's healthy window.
    """
    if now.share < kind.success_floor:
        return f"success {now.ok}/{now.total} is below the floor of {kind.success_floor:.0%}"
    chance = tail(now.total - now.ok, now.total, healthy.total - healthy.ok, healthy.total)
    if chance < ALPHA:
        return f"success {now.ok}/{now.total} is worse than the healthy {healthy.ok}/{healthy.total} (p={chance:.2g})"
    allowed = limit(kind, healthy)
    if now.p95 > allowed:
        chance = tail(now.over(allowed), now.ok, healthy.over(allowed), healthy.ok)
        if chance < ALPHA:
            return f"p95 {now.p95:.2f} s is over {allowed:.2f} s (p={chance:.2g})"
    return ""
