"""Signs that the harness failed, was changed or looked away after the agent had started.

Each function returns (when, what) pairs. Short blinks are no sign: a probe that fails once on a busy machine proves
nothing, and a component that its task restarts takes its observer's source away for a moment.
"""

import itertools
import math
from collections.abc import Iterator

from incident_arena.judge.trial import Trial
from incident_arena.ledger import rates
from incident_arena.ledger.reading import PEAK, Operation

OUTAGE_S = 15.0
"""Seconds without a sign of life that count as an outage. Signs come every few seconds."""

BLIND_S = 60.0
"""Seconds for which an observer may find its source gone: the agent may restart a component."""

SLICE_S = 10.0
"""The load is looked at in slices of at least this many seconds…"""

SLICE_OPERATIONS = 60
"""…and of at least this many planned operations."""

SLICE_SHARE = 0.5
"""Share of the planned operations that a slice must hold. With 60 planned, chance leaves this share by 4 sigma."""

SIGMAS = 4.0
"""How far under its planned number a kind may stay over the whole time."""

PROMPT_S = 5.0
"""Seconds within which the load has to deal with an arrival; later it was halted, and only catches up."""

type Sign = tuple[float, str]


def harness(trial: Trial) -> Iterator[Sign]:
    """Health records: components that are not alive for long, what was changed, and gaps between the records."""
    start, end = trial.evidence.manifest.agent_started, trial.over
    records = sorted((one for one in trial.evidence.health if start <= one.at <= end), key=lambda one: one.at)
    yield from _gaps("the referee's health log", [one.at for one in records], start, end)
    changed: set[str] = set()
    for record in records:
        for name in sorted(set(record.changed) - changed):
            yield record.at, f"{name} is not as it was set"
        changed |= set(record.changed)
    for name in sorted({name for record in records for name in record.alive}):
        alive = [record.at for record in records if record.alive.get(name, False)]
        yield from _gaps(name, alive, start, end)


def observers(trial: Trial) -> Iterator[Sign]:
    """Each fault's observer while the agent works and until the challenges: it looked, and could see."""
    start, end = trial.evidence.manifest.agent_started, trial.challenged
    for fault in trial.faults:
        looks = trial.observed(fault, start, end)
        yield from _gaps(f"the observer of {fault}", [one.at for one in looks], start, end)
        seeing = [one.at for one in looks if one.state != "unknown"]
        yield from _gaps(f"what the observer of {fault} looks at", seeing, start, end, BLIND_S)


def load(trial: Trial) -> Iterator[Sign]:
    """The ledger: ids without a gap, arrivals at the planned rate, and enough of each judged kind in each window."""
    yield from _identities(trial)
    yield from _arrivals(trial)
    started = trial.evidence.manifest.agent_started
    for span in trial.spans:
        if span.start < started:
            continue
        counted = rates.samples(trial.operations, span.start, span.end)
        for name in sorted(trial.judged):
            total = counted[name].total if name in counted else 0
            if total < rates.MINIMUM_SAMPLES:
                yield span.end, f"the load had only {total} operations of {name} in the window {span.name}"


def _gaps(name: str, moments: list[float], start: float, end: float, allowed: float = OUTAGE_S) -> Iterator[Sign]:
    """Gaps of over `allowed` seconds between signs of life, with the edges of the time looked at."""
    edges = [start, *moments, end]
    for before, after in itertools.pairwise(edges):
        if after - before > allowed:
            yield before, f"{name} gave no sign of life for {after - before:.0f} s"


def _identities(trial: Trial) -> Iterator[Sign]:
    """Ids count from 1, those of peaks from PEAK; one that is missing was taken out, or never written down."""
    expected = 1
    for operation in trial.operations:
        expected = max(expected, PEAK) if operation.id >= PEAK else expected
        if operation.id != expected:
            yield operation.due, f"the ledger lacks the operations {expected} to {operation.id - 1}"
        expected = operation.id + 1


def _dealt_with(operation: Operation) -> bool:
    """Whether the load sent an operation, or shed it for being too many, when it was due."""
    first = operation.intent or operation.outcome
    return first is not None and not operation.paused and first.at - operation.due <= PROMPT_S


def _arrivals(trial: Trial) -> Iterator[Sign]:
    """Slices of the agent's time in which the load sent far less than planned, and kinds that did so throughout.

    Later the referee may pause the load itself, to reconcile; the windows of the challenges are counted above.
    """
    start, end = trial.evidence.manifest.agent_started, trial.evidence.manifest.agent_ended
    scheduled = (one for one in trial.operations if one.id < PEAK)  # a peak must not stand for what the schedule lacks
    arrivals = [one for one in scheduled if start <= one.due < end and _dealt_with(one)]
    kinds = trial.evidence.task.load.kinds
    planned = sum(kind.rate for kind in kinds.values())
    length = max(SLICE_S, SLICE_OPERATIONS / planned)
    counts = [0] * int((end - start) / length)
    for one in arrivals:
        index = int((one.due - start) / length)
        if index < len(counts):
            counts[index] += 1
    for index, count in enumerate(counts):
        if count < SLICE_SHARE * planned * length:
            at = start + index * length
            yield at, f"the load sent {count} of {planned * length:.0f} planned operations in {length:.0f} s"
    for name, kind in sorted(kinds.items()):
        expected = kind.rate * (end - start)
        sent = sum(one.kind == name for one in arrivals)
        if sent < expected - SIGMAS * math.sqrt(expected * kind.burst) - kind.burst:
            yield end, f"the load sent {sent} of {expected:.0f} planned operations of {name}"
