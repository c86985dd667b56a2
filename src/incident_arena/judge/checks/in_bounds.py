"""At the declaration the service was in bounds: every judged operation kind, over the acceptance window before it."""

from incident_arena.judge import bounds
from incident_arena.judge.finding import Finding, Spec
from incident_arena.judge.trial import Trial


def decide(trial: Trial) -> Finding:
    """Pass when every judged kind is in bounds over the acceptance window.

    Without a declaration in time the window before the agent's end is judged instead; a fail then is no early one.
    A window that lacks operations although it lies within the agent's time is the load's silence: not this class.
    """
    span = trial.acceptance
    early = span.start < trial.evidence.manifest.agent_started
    found = bounds.find(trial, span)
    declared = trial.in_time is not None
    where = "at the declaration" if declared else "at the agent's end (there is no declaration in time)"
    if found.short and not early:
        return Finding("fail", f"too little load {where}: {found.short[0]}", found.expected, found.seen, span.end)
    if not found.bad:
        return Finding("pass", f"in bounds {where}", found.expected, found.seen, span.end)
    return Finding(
        "fail",
        f"out of bounds {where}: {found.bad[0]}" + (" (the window reaches back before the agent)" if early else ""),
        found.expected,
        found.seen,
        span.end,
        ("declared out of bounds",) if declared else (),
    )


CHECK = Spec("in-bounds", "declared out of bounds", decide)
