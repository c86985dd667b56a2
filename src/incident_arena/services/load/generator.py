"""Sends the operations when they are due, whatever the latency, and writes down what came of them."""

import asyncio
import contextlib
import itertools
import time
from collections import Counter, deque
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

import aiohttp

from incident_arena.errors import UserError
from incident_arena.formats.records import Intent, LedgerLine, Outcome, Witness
from incident_arena.formats.task import LoadSpec
from incident_arena.ledger.reading import DOWN, PAUSED, PEAK, LedgerError, operations, quantile
from incident_arena.ledger.writing import Ledger
from incident_arena.services.load import schedule
from incident_arena.workload.operations import Answer, Operations, Plan

RECENT = 1000
"""Arrivals over which lateness is reported."""


@dataclass
class KindFigures:
    """How one kind has fared since this process started. Times are seconds since the epoch."""

    results: Counter[str] = field(default_factory=Counter)
    last_ok: float | None = None
    last_not_ok: float | None = None
    last_error: str = ""


class Generator:
    """An open-loop generator: it never waits for an answer before it sends what is due next."""

    def __init__(self, spec: LoadSpec, application: Operations, ledger: Ledger) -> None:
        """Take on a ledger; it may hold what an earlier process with the same load left.

        Raises:
            UserError: the load names a kind that the substrate does not have.
            LedgerError: the ledger is of another load.
        """
        unknown = sorted(set(spec.kinds) - set(application.kinds))
        if unknown:
            raise UserError(f"load kind {unknown[0]!r}", "is unknown", f"use one of: {', '.join(application.kinds)}")
        foreign = sorted({line.kind for line in ledger.before} - set(spec.kinds))
        if foreign:
            raise LedgerError("ledger", f"has operations of the kind {foreign[0]!r}, which this load does not have")
        self._spec = spec
        self._application = application
        self._ledger = ledger
        self._under_way: set[asyncio.Task[None]] = set()
        self._fault: BaseException | None = None
        self._stop = asyncio.Event()
        self.paused = False
        self.started = 0.0
        """When this process began to send."""
        self.origin: float | None = None
        """When the schedule began, in seconds since the epoch; None before the application was ready."""
        self.waiting_for = ""
        """Why the application is not ready yet, as was seen last."""
        self.sent = 0
        self.figures: dict[str, KindFigures] = {name: KindFigures() for name in sorted(spec.kinds)}
        self._peaks = 0
        self._rising: list[asyncio.Task[None]] = []
        self._beside = itertools.count(PEAK)
        """Ids of operations beside the schedule."""
        self._lateness: deque[float] = deque(maxlen=RECENT)

    @property
    def in_flight(self) -> int:
        """Operations under way."""
        return len(self._under_way)

    def lateness(self, share: float) -> float | None:
        """Quantile of the seconds by which recent operations went out after they were due."""
        return quantile(self._lateness, share)

    @property
    def stopping(self) -> bool:
        """Whether `stop` was called."""
        return self._stop.is_set()

    def stop(self) -> None:
        """Let `run` end."""
        self._stop.set()

    async def run(self) -> None:
        """Send what is due, until `stop`; then what is under way is cut off, as indeterminate.

        Raises:
            LedgerError: the ledger can't be written.
        """
        before = self._ledger.before
        number, self.origin = self._resume(before)
        for id_, arrival in enumerate(itertools.islice(schedule.arrivals(self._spec), number, None), start=number + 1):
            due = self.origin + arrival.offset
            if number and due < self.started:
                self._shed(id_, arrival.kind, due, DOWN)
                continue
            if await self._stopped_before(due):
                break
            self._due(id_, arrival.kind, due)
        await self._cut_off()

    def peak(self, factor: float, seconds: float, kinds: Collection[str] = ()) -> None:
        """Send more for some time, beside the schedule. What is left of it ends with this process.

        Args:
            factor: of the rate, in all.
            seconds: how long.
            kinds: which rise; all when there are none.

        Raises:
            UserError: the load has no such kind, or has not begun.
        """
        if self.origin is None:
            raise UserError("the peak", "the load has not begun")
        if unknown := sorted(set(kinds) - set(self._spec.kinds)):
            raise UserError(f"load kind {unknown[0]!r}", "is not in this load", f"one of: {', '.join(self.figures)}")
        self._peaks += 1
        more = schedule.peak(self._spec, self._peaks, factor, seconds, kinds)
        self._rising.append(asyncio.create_task(self._rise(time.time(), more), name=f"peak {self._peaks}"))

    async def _rise(self, start: float, more: Iterator[schedule.Arrival]) -> None:
        for arrival in more:
            due = start + arrival.offset
            if await self._stopped_before(due):
                break
            self._due(next(self._beside), arrival.kind, due)

    def _due(self, id_: int, kind: str, due: float) -> None:
        if self.paused:
            self._shed(id_, kind, due, PAUSED)
        elif len(self._under_way) >= self._spec.in_flight:
            self._shed(id_, kind, due, f"{self._spec.in_flight} operations were under way")
        else:
            self._send(id_, kind, due)

    def _resume(self, before: Sequence[LedgerLine]) -> tuple[int, float]:
        """Close what an earlier process left open; return how many arrivals it took, and the schedule's origin."""
        self.started = time.time()
        joined = operations(before)
        for operation in joined.values():
            if operation.outcome is None:
                self._end(operation.id, operation.kind, operation.due, Answer("indeterminate", error=DOWN))
        if not joined:
            return 0, self.started
        first = next(schedule.arrivals(self._spec))
        beside = [id_ for id_ in joined if id_ >= PEAK]
        self._beside = itertools.count(max(beside, default=PEAK - 1) + 1)
        return max(id_ for id_ in joined if id_ < PEAK), joined[min(joined)].due - first.offset

    async def _stopped_before(self, due: float) -> bool:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._stop.wait(), max(0.0, due - time.time()))
        return self._stop.is_set()

    def _send(self, id_: int, kind: str, due: float) -> None:
        plan = self._application.plan(kind, id_)
        at = time.time()
        self._ledger.write(
            Intent(id=id_, kind=kind, due=due, at=at, records=plan.records, effect=plan.effect),
        )
        self.sent += 1
        self._lateness.append(at - due)
        task = asyncio.create_task(self._perform(id_, kind, due, plan), name=f"{kind} {id_}")
        self._under_way.add(task)
        task.add_done_callback(self._performed)

    async def _perform(self, id_: int, kind: str, due: float, plan: Plan) -> None:
        answer = Answer("indeterminate", error="the generator stopped")
        try:
            answer = await plan.perform()
        except TimeoutError:
            answer = Answer("indeterminate", error=f"no answer within {self._spec.timeout:g} s")
        except (aiohttp.ClientError, OSError) as error:
            answer = Answer("indeterminate", error=f"{type(error).__name__}: {error}")
        finally:
            for subject, value in answer.witnessed:
                self._ledger.write(Witness(id=id_, kind=kind, due=due, at=answer.at, subject=subject, value=value))
            self._application.settle(id_, answer)
            self._end(id_, kind, due, answer)

    def _performed(self, task: asyncio.Task[None]) -> None:
        """Forget it; what it raised is a fault of ours, and ends the generator: a load that limps proves nothing."""
        self._under_way.discard(task)
        if not task.cancelled() and task.exception() is not None:
            self._fault = task.exception()
            self._stop.set()

    def _shed(self, id_: int, kind: str, due: float, reason: str) -> None:
        at = time.time()
        self._record(Outcome(id=id_, kind=kind, due=due, at=at, result="shed", latency=at - due, error=reason))

    def _end(self, id_: int, kind: str, due: float, answer: Answer) -> None:
        self._record(
            Outcome(
                id=id_,
                kind=kind,
                due=due,
                at=answer.at,
                result=answer.result,
                latency=answer.at - due,
                status=answer.status,
                error=answer.error,
                records=answer.records,
                owed=answer.owed,
            )
        )

    def _record(self, outcome: Outcome) -> None:
        self._ledger.write(outcome)
        figures = self.figures[outcome.kind]
        figures.results[outcome.result] += 1
        if outcome.result == "ok":
            figures.last_ok = outcome.at
        elif outcome.error != PAUSED:
            figures.last_not_ok, figures.last_error = outcome.at, outcome.error

    async def _cut_off(self) -> None:
        await asyncio.gather(*self._rising)  # each has seen the stop
        under_way = tuple(self._under_way)
        for task in under_way:
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)
        if self._fault is not None:
            raise self._fault
