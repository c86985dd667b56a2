"""Reads a ledger: what the load did, what came of it, and what must be true of the data afterwards.

Pure: no clock, no network. A ledger is JSON lines (`records.Intent`, `records.Outcome`), each operation's intent before
its outcome, and between them what its client saw (`records.Witness`). Operation ids are 1, 2, 3, … in the order in
which they were due; those of a peak are from PEAK on. Times are seconds since the epoch.

An operation whose outcome is `indeterminate` may have taken effect or not, now or later, so what must be true of
a record afterwards is a set of allowed states (as jepsen's checkers treat such operations: concurrent with all that
follows). What the sets are is said at `allowed`.
"""

import itertools
import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from incident_arena.errors import ArenaError
from incident_arena.formats.records import Intent, LedgerLine, Outcome, Reconciled, RecordState, Witness
from incident_arena.formats.verdict import KindRates, Window

DELETED = "deleted"
CREATED = "created"
PAUSED = "paused"
"""Error of an arrival that was shed because the referee had paused the load: no sample of any window."""
DOWN = "the generator was not running"
"""Error of what the load did not send, or cut off, because it was itself not there: says nothing of the application."""
JOB = "job/"
"""Prefix of records that a background job makes or removes."""
PEAK = 1_000_000
"""Ids from here on are of operations beside the schedule: those of a peak."""
SLACK = 0.05
"""Seconds by which an outcome's figures may disagree among themselves (they are taken one after the other)."""


class LedgerError(ArenaError):
    """A ledger holds a line that is none of its formats."""


@dataclass(frozen=True)
class Operation:
    """One operation: its intent (None when it was shed) and its outcome (None while it is pending)."""

    id: int
    kind: str
    due: float
    intent: Intent | None
    outcome: Outcome | None

    @property
    def result(self) -> str:
        """The outcome's result, or `pending`."""
        return self.outcome.result if self.outcome else "pending"

    @property
    def paused(self) -> bool:
        """It was left out because the load was paused."""
        return self.outcome is not None and self.outcome.result == "shed" and self.outcome.error == PAUSED

    @property
    def records(self) -> tuple[str, ...]:
        """Names of the records it touches, from the intent and the answer."""
        return (self.intent.records if self.intent else ()) + (self.outcome.records if self.outcome else ())


_LINE: TypeAdapter[LedgerLine] = TypeAdapter(LedgerLine)


def parse(data: bytes, source: str = "ledger") -> list[LedgerLine]:
    """Parse complete lines.

    Raises:
        LedgerError: a line is no intent and no outcome; says which.
    """
    lines: list[LedgerLine] = []
    for number, text in enumerate(data.splitlines(), start=1):
        try:
            lines.append(_LINE.validate_json(text))
        except ValidationError as error:
            first = error.errors(include_url=False, include_context=False)[0]["msg"]
            raise LedgerError(source, f"line {number} is no ledger line: {first}") from error
    return lines


def read(path: Path) -> list[LedgerLine]:
    """All complete lines of a ledger; a last line without its end (its writer was killed) is left out.

    Raises:
        LedgerError: the file can't be read or holds something else.
    """
    return Tail(path).read()


class Tail:
    """Follows a ledger that is being written."""

    def __init__(self, path: Path) -> None:
        """Begin at the start of the file, which need not exist yet."""
        self._path = path
        self._offset = 0

    def read(self) -> list[LedgerLine]:
        """The lines completed since the last call; none while the file does not exist.

        Raises:
            LedgerError: the file can't be read, holds something else, or has shrunk.
        """
        try:
            with self._path.open("rb") as file:
                if file.seek(0, 2) < self._offset:
                    raise LedgerError(self._path.name, f"is shorter than the {self._offset} bytes read before")
                file.seek(self._offset)
                data = file.read()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise LedgerError(self._path.name, f"can't be read: {error.strerror}") from error
        complete = data[: data.rfind(b"\n") + 1]
        lines = parse(complete, self._path.name)
        self._offset += len(complete)
        return lines


def operations(lines: Iterable[LedgerLine]) -> dict[int, Operation]:
    """Join intents with outcomes, by id, in the order of ids. The first of two lines of a type counts."""
    intents: dict[int, Intent] = {}
    outcomes: dict[int, Outcome] = {}
    for line in lines:
        if isinstance(line, Intent):
            intents.setdefault(line.id, line)
        elif isinstance(line, Outcome):
            outcomes.setdefault(line.id, line)
    joined: dict[int, Operation] = {}
    for id_ in sorted(intents.keys() | outcomes.keys()):
        intent, outcome = intents.get(id_), outcomes.get(id_)
        first = intent or outcome
        assert first is not None
        joined[id_] = Operation(id_, first.kind, first.due, intent, outcome)
    return joined


def defects(lines: Sequence[LedgerLine]) -> list[str]:
    """What a ledger written by the load alone cannot have; empty when it is whole. A sentence each."""
    found: list[str] = []
    intents: dict[int, Intent] = {}
    ended: set[int] = set()
    for line in lines:
        if isinstance(line, Intent):
            if line.id in intents or line.id in ended:
                found.append(f"operation {line.id} has an intent too many")
            intents[line.id] = line
            continue
        intent = intents.get(line.id)
        if isinstance(line, Witness):
            found += [f"operation {line.id} has a witness without an intent"] if intent is None else []
            continue
        if line.id in ended:
            found.append(f"operation {line.id} has two outcomes")
        ended.add(line.id)
        if intent is None and line.result != "shed":
            found.append(f"operation {line.id} has an outcome without an intent")
        if intent is not None and (intent.kind, intent.due) != (line.kind, line.due):
            found.append(f"operation {line.id} ended as another than it began")
        if abs(line.at - line.due - line.latency) > SLACK:
            found.append(f"operation {line.id}: latency {line.latency:.3f} s is not its end less its due time")
    return found + _gaps(lines)


def _gaps(lines: Sequence[LedgerLine]) -> list[str]:
    """What is wrong with the order of the schedule's operations; those of a peak are beside it."""
    found: list[str] = []
    scheduled = [operation for operation in operations(lines).values() if operation.id < PEAK]
    last = scheduled[-1].id if scheduled else 0
    if missing := last - len(scheduled):
        found.append(f"{missing} operation ids of 1 to {last} are missing")
    dues = [operation.due for operation in scheduled]
    if any(later < earlier for earlier, later in itertools.pairwise(dues)):
        found.append("operations are not in the order in which they were due")
    return found


def window(lines: Iterable[LedgerLine], start: float, end: float, name: str = "", *, pending: bool = True) -> Window:
    """The load's figures over the operations that were due from `start` up to, not including, `end`.

    Args:
        lines: the ledger.
        start: seconds since the epoch.
        end: as `start`.
        name: the window's name.
        pending: count operations without an outcome, as not ok. False while the load still runs and the window
            has just ended: they may yet succeed.

    Returns:
        For each kind that had samples: samples, successes, and quantiles of the successes' latency (None without
        any), in the order of names. A shed arrival is a sample that failed; one left out by a pause is none.
    """
    samples: dict[str, int] = defaultdict(int)
    latencies: dict[str, list[float]] = defaultdict(list)
    for operation in operations(lines).values():
        if not start <= operation.due < end or operation.paused or (operation.outcome is None and not pending):
            continue
        samples[operation.kind] += 1
        if operation.outcome is not None and operation.outcome.result == "ok":
            latencies[operation.kind].append(operation.outcome.latency)
    kinds = tuple(
        KindRates(
            kind=kind,
            samples=count,
            ok=len(latencies[kind]),
            p50=quantile(latencies[kind], 0.50),
            p95=quantile(latencies[kind], 0.95),
        )
        for kind, count in sorted(samples.items())
    )
    return Window(name=name, start=start, end=end, kinds=kinds)


def quantile(values: Sequence[float], share: float) -> float | None:
    """The smallest value that at least `share` of all values do not exceed (nearest rank); None without values."""
    if not values:
        return None
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


@dataclass(frozen=True)
class Touch:
    """What one operation means for one record. `certain`: it must take effect. `end`: by then it has, if ever."""

    effect: str
    at: float
    end: float
    certain: bool


@dataclass(frozen=True)
class Allowed:
    """The states that a record may be in. `values` None: any value."""

    gone: bool
    exists: bool
    values: frozenset[str] | None

    def holds(self, state: RecordState) -> bool:
        """Whether a state is one of them."""
        if not state.exists:
            return self.gone
        return self.exists and (self.values is None or state.value in self.values)

    def __str__(self) -> str:
        """Say the states in words."""
        there = "there" if self.values is None else "there with " + " or ".join(repr(v) for v in sorted(self.values))
        return " or ".join([there] * self.exists + ["gone"] * self.gone)


def allowed(touches: Sequence[Touch]) -> Allowed:
    """The states that one record may be in after these touches.

    - A deletion that must take effect: gone. Names are never used again, so nothing brings a record back.
    - A deletion that may have: gone is allowed too. A record that nothing certain has written may be gone as well.
    - Values: of each write that may be the last, that is, that no certain write follows which began after it ended.
      A write that is not certain, or whose effect is still owed, never ends. Without a certain write: any value.
    """
    deletions = [touch for touch in touches if touch.effect == DELETED]
    writes = [touch for touch in touches if touch.effect != DELETED]
    certain = [touch for touch in writes if touch.certain]
    if any(touch.certain for touch in deletions):
        return Allowed(gone=True, exists=False, values=None)
    last = {write.effect for write in writes if not any(other.at > write.end for other in certain)}
    known = bool(certain) and CREATED not in last
    return Allowed(gone=bool(deletions) or not certain, exists=True, values=frozenset(last) if known else None)


def touches(lines: Iterable[LedgerLine], taken: float, job_s: float) -> dict[str, list[Touch]]:
    """What the ledger's operations mean for each record, for someone who looks at `taken` or soon after.

    What ended after `taken` may be visible or not. Background jobs get `job_s` seconds.
    """
    found: dict[str, list[Touch]] = defaultdict(list)
    for operation in operations(lines).values():
        intent, outcome = operation.intent, operation.outcome
        if intent is None or operation.result in ("shed", "failed"):
            continue
        for record in operation.records:
            due_by = taken - job_s if record.startswith(JOB) else taken
            accepted = outcome is not None and (outcome.result == "ok" or outcome.owed)
            certain = outcome is not None and accepted and outcome.at <= due_by
            ended = outcome is not None and outcome.result == "ok"
            end = outcome.at if outcome is not None and ended else math.inf
            found[record].append(Touch(intent.effect, intent.at, end, certain))
    return dict(found)


def violations(lines: Iterable[LedgerLine], reconciled: Reconciled, job_s: float) -> list[str]:
    """Records that are in none of their allowed states, and records from before the load that are gone.

    Args:
        lines: the ledger.
        reconciled: what became of its records.
        job_s: seconds that a background job of an answered operation may take before its effect is due.

    Returns:
        A sentence each, in the order of names; empty when the data survived.
    """
    found = [f"{name}, from before the load, is gone" for name in sorted(reconciled.seeds_missing)]
    for name, its_touches in sorted(touches(lines, reconciled.taken, job_s).items()):
        state = reconciled.records.get(name)
        states = allowed(its_touches)
        if state is None:
            if any(touch.certain for touch in its_touches):
                found.append(f"{name} was not looked up")
        elif not states.holds(state):
            seen = f"there with {state.value!r}" if state.exists else "gone"
            found.append(f"{name} is {seen}; allowed: {states}")
    return found
