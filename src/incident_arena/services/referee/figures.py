"""The load's own figures as they come in: is every kind healthy, is a window in bounds, does the fault show?"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from incident_arena.formats.records import LedgerLine, Outcome
from incident_arena.formats.task import TaskSpec
from incident_arena.ledger import rates
from incident_arena.ledger import reading as ledger

KEPT_S = 600.0
"""Lines older than this are forgotten."""
HEALTHY_S = 5.0
SYMPTOM_SAMPLES = 3
"""A kind must have ended so often in the window before its share of successes says anything."""
NONE = rates.Samples((), 0)


class Figures:
    """Follows the ledger. `clock` gives seconds since the epoch."""

    def __init__(self, path: Path, task: TaskSpec, clock: Callable[[], float] = time.time) -> None:
        self._tail = ledger.Tail(path)
        self._task = task
        self._clock = clock
        self._lines: list[LedgerLine] = []

    def refresh(self) -> None:
        """Read what was written since the last time.

        Raises:
            LedgerError: the ledger is none.
        """
        self._lines += self._tail.read()
        oldest = self._clock() - KEPT_S
        if self._lines and self._lines[0].due < oldest - KEPT_S:
            self._lines = [line for line in self._lines if line.due >= oldest]

    def healthy(self) -> tuple[bool, str]:
        """Whether in the last HEALTHY_S seconds every operation that ended succeeded, and every kind did.

        A kind that is due less often has one and a half of its intervals to succeed in.
        """
        now = self._clock()
        ended = self._ended(now - HEALTHY_S, now)
        bad = sorted(
            {f"{each.kind} {each.result} ({each.error or each.status})" for each in ended if each.result != "ok"}
        )
        silent = [
            name
            for name, kind in self._task.load.kinds.items()
            if not any(
                each.kind == name and each.result == "ok"
                for each in self._ended(now - max(HEALTHY_S, 1.5 / kind.rate), now)
            )
        ]
        if bad:
            return False, "; ".join(bad[:3])
        return not silent, f"no success of {', '.join(silent)}" if silent else f"{len(ended)} operations, all ok"

    def whole(self, start: float) -> float:
        """The latest moment up to which every operation due since `start` has ended; never later than now."""
        pending = [
            operation.due
            for operation in ledger.operations(self._lines).values()
            if operation.due >= start and operation.outcome is None
        ]
        return min([*pending, self._clock()])

    def in_bounds(self, start: float, end: float) -> tuple[bool, str]:
        """Whether every judged kind has enough operations due in [start, end), and its floor of successes."""
        counted = rates.samples(ledger.operations(self._lines).values(), start, end)
        bad = []
        for name, kind in self._task.load.kinds.items():
            seen = counted.get(name, NONE)
            if kind.judged and seen.total < rates.MINIMUM_SAMPLES:
                bad.append(f"{name}: {seen.total} operations, {rates.MINIMUM_SAMPLES} are needed")
            elif kind.judged and seen.share < kind.success_floor:
                bad.append(f"{name}: {seen.ok}/{seen.total} succeeded, floor {kind.success_floor:.0%}")
        return not bad, "; ".join(bad) or "in bounds"

    def symptom(self, since: float) -> tuple[bool, str]:
        """Whether each kind of the task's symptom has fallen, among the operations due after `since` that ended."""
        now = self._clock()
        ended = [each for each in self._ended(now - self._task.symptom.window, now) if each.due >= since]
        shares = {name: _share(ended, name) for name in self._task.symptom.kinds}
        shown = {
            name: seen is not None and seen.share <= self._task.symptom.kinds[name] for name, seen in shares.items()
        }
        told = ", ".join(
            f"{name} {seen.ok}/{seen.total}" if seen else f"{name} too few" for name, seen in shares.items()
        )
        return all(shown.values()), told

    def _ended(self, start: float, end: float) -> list[Outcome]:
        """Outcomes that came in [start, end], those of a pause left out."""
        return [
            line
            for line in self._lines
            if line.type == "outcome"
            and start <= line.at <= end
            and not (line.result == "shed" and line.error == ledger.PAUSED)
        ]


@dataclass(frozen=True)
class _Share:
    ok: int
    total: int

    @property
    def share(self) -> float:
        return self.ok / self.total


def _share(ended: Sequence[Outcome], kind: str) -> _Share | None:
    of_kind = [each for each in ended if each.kind == kind]
    if len(of_kind) < SYMPTOM_SAMPLES:
        return None
    return _Share(sum(each.result == "ok" for each in of_kind), len(of_kind))
