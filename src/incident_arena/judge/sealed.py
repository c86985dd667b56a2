"""Checks on sealed evidence, which ends with the first reconciliation.

A fail that a check finds in it is certain: the whole evidence would hold the same. What is left out could only add
fails, so that a check which also looks at that is unknown instead of passed. A seal makes no check pass, and none fail:
should it stand on nothing, there is no reward.
"""

from dataclasses import replace

from incident_arena.judge.finding import Finding, Spec
from incident_arena.judge.trial import Trial

LATER = ("durable", "stable")
"""Checks of what comes after a seal alone."""
ALSO_LATER = ("data-survives", "integrity")
"""Checks of what comes before it too."""


def decide(spec: Spec, trial: Trial) -> Finding:
    """What a check finds in sealed evidence."""
    told = f"not judged: sealed: {trial.sealed}"
    if spec.name in LATER:
        return Finding("unknown", told)
    finding = spec.decide(trial)
    if spec.name in ALSO_LATER and finding.verdict != "fail":
        return replace(finding, verdict="unknown", reason=told, seen="", at=None)
    return finding
