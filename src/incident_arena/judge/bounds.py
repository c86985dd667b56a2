"""The judged kinds of a window against their bounds, as text for a finding."""

from dataclasses import dataclass

from incident_arena.judge.trial import Span, Trial
from incident_arena.ledger import rates

NOTHING = rates.Samples((), 0)


@dataclass(frozen=True)
class Bounds:
    """What a window looked like.

    Attributes:
        bad: one phrase for each kind that is out of bounds or has too few samples.
        short: those of them that have too few samples.
        expected: the bounds of the bad kinds, or of all.
        seen: the figures of the bad kinds, or of all.
    """

    bad: tuple[str, ...]
    short: tuple[str, ...]
    expected: str
    seen: str


def find(trial: Trial, span: Span) -> Bounds:
    """Judge every judged kind in one window."""
    healthy = rates.samples(trial.operations, trial.baseline.start, trial.baseline.end)
    present = rates.samples(trial.operations, span.start, span.end)
    bad: dict[str, str] = {}
    short: list[str] = []
    for name, kind in sorted(trial.judged.items()):
        now = present.get(name, NOTHING)
        if now.total < rates.MINIMUM_SAMPLES:
            bad[name] = f"{name}: {now.total} operations, {rates.MINIMUM_SAMPLES} are needed"
            short.append(bad[name])
        elif reason := rates.worse(kind, now, healthy.get(name, NOTHING)):
            bad[name] = f"{name}: {reason}"
    shown = sorted(bad or trial.judged)
    return Bounds(
        tuple(bad.values()),
        tuple(short),
        "; ".join(_allowed(trial, name, healthy.get(name, NOTHING)) for name in shown),
        "; ".join(_figures(name, present.get(name, NOTHING)) for name in shown),
    )


def _allowed(trial: Trial, name: str, healthy: rates.Samples) -> str:
    kind = trial.judged[name]
    return f"{name}: success at least {kind.success_floor:.0%}, p95 at most {rates.limit(kind, healthy):.2f} s"


def _figures(name: str, now: rates.Samples) -> str:
    slow = f", p95 {now.p95:.2f} s" if now.ok else ""
    return f"{name}: {now.ok}/{now.total} succeeded{slow}"
