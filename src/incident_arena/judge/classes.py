"""The failure classes of a trial, from what its checks found."""

from collections.abc import Sequence

from incident_arena.formats.verdict import CLASSES, FailureClass
from incident_arena.judge.finding import Finding


def inclusive(findings: Sequence[Finding]) -> tuple[FailureClass, ...]:
    """Every class that applies, in the order of `verdict.CLASSES`; the last only where no other does."""
    shown = {name for finding in findings if finding.verdict == "fail" for name in finding.classes}
    others = tuple(name for name in CLASSES[:-1] if name in shown)
    return others or tuple(name for name in CLASSES[-1:] if name in shown)


def exclusive(findings: Sequence[Finding]) -> FailureClass | None:
    """The first class that applies; None when nothing failed.

    A failed check without a class of its own (a window that nobody declared) never stands alone: what caused it has
    a class. Should it, the trial is counted under the last class rather than under none.
    """
    applying = inclusive(findings)
    if applying:
        return applying[0]
    return CLASSES[-1] if any(finding.verdict == "fail" for finding in findings) else None
