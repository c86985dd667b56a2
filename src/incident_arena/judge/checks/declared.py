"""The agent said that the repair is complete, within its time."""

from incident_arena.judge.finding import Finding, Spec
from incident_arena.judge.trial import Trial


def decide(trial: Trial) -> Finding:
    """Pass when there is a declaration between the agent's start and its deadline."""
    allowed = trial.evidence.task.deadlines.agent
    expected = f"a declaration within {allowed:g} s"
    if trial.declared is None:
        return Finding(
            "fail",
            "the agent never declared the repair complete",
            expected,
            "none",
            trial.evidence.manifest.agent_ended,
            ("never declared",),
        )
    after = trial.declared - trial.evidence.manifest.agent_started
    seen = f"declared after {after:.0f} s"
    if trial.in_time is None:
        late = "the declaration came after the deadline"
        return Finding("fail", late, expected, seen, trial.declared, ("never declared",))
    return Finding("pass", "declared in time", expected, seen, trial.declared)


CHECK = Spec("declared", "never declared", decide)
