"""Which check decided a trial, and in which stage its moment lies."""

from collections.abc import Iterable

from incident_arena.formats.records import Stage
from incident_arena.formats.verdict import Check, FailureClass, Verdict

CHECKS: dict[FailureClass, tuple[str, ...]] = {
    "never declared": ("declared",),
    "off-list change": ("scope", "data-survives"),
    "cause or damage left": ("cause-gone", "damage-gone"),
    "not durable": ("durable", "stable"),
    "declared out of bounds": ("in-bounds",),
    "other integrity": ("integrity", "no-further-harm"),
}
"""The checks that can give each class."""


def deciding(verdict: Verdict) -> Check | None:
    """The check that gave the failure class.

    Where the class's own checks all passed, or the trial has no class, it is the first that failed, else the first
    that is unknown.

    Returns:
        None when every check passed.
    """
    failed = [check for check in verdict.checks if check.verdict == "fail"]
    if verdict.failure_class is not None:
        own = CHECKS[verdict.failure_class]
        for check in failed:
            if check.name in own:
                return check
    unknown = [check for check in verdict.checks if check.verdict == "unknown"]
    return next(iter(failed + unknown), None)


def stage_at(stages: Iterable[Stage], at: float | None) -> str:
    """The name of the shortest stage that holds a moment; empty when none does."""
    if at is None:
        return ""
    holding = [stage for stage in stages if stage.started <= at <= stage.started + stage.seconds]
    return min(holding, key=lambda stage: stage.seconds).name if holding else ""
