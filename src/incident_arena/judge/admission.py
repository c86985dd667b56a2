"""Was the trial fit to be judged? A fault proves itself before the agent starts, or the trial is inadmissible."""

from incident_arena.judge import bounds
from incident_arena.judge.observed import look
from incident_arena.judge.trial import Trial

ALWAYS = ("node", "deploy", "ready", "healthy", "baseline", "snapshot-A", "snapshot-B")
BROKEN = ("plant", "symptom")
"""Where something is broken, or happens."""


def inadmissible(trial: Trial) -> str:
    """The reason why a trial counts for nothing; empty when it counts."""
    for name in (*ALWAYS, *(BROKEN if trial.faults or trial.evidence.task.scenes else ())):
        stage = trial.evidence.stages.get(name)
        if stage is None:
            return f"stage {name} is not recorded"
        if not stage.ok:
            return f"stage {name} failed: {stage.detail or 'no detail'}"
    baseline = bounds.find(trial, trial.baseline)
    if baseline.bad:
        return f"the healthy window was out of bounds: {baseline.bad[0]}"
    for fault in trial.faults:
        seen = look(trial, fault, trial.stage("plant").started, trial.evidence.manifest.agent_started)
        if seen.state != "planted":
            return f"the observer of {fault} did not see it before the agent started: {seen.state}"
    return ""
