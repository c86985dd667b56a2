"""From evidence to verdict: a pure function, without a cluster, a network, a model or a clock."""

from collections.abc import Sequence

from incident_arena import __version__
from incident_arena.formats.task import Policy
from incident_arena.formats.verdict import Check, TrackedFault, Verdict
from incident_arena.judge import checks, classes, sealed
from incident_arena.judge.admission import inadmissible
from incident_arena.judge.checks.scope import forbidden
from incident_arena.judge.evidence import Evidence
from incident_arena.judge.finding import Finding, Spec
from incident_arena.judge.gates import MAPPINGS, decides, gates, graded, reward
from incident_arena.judge.naming import naming
from incident_arena.judge.observed import tracked
from incident_arena.judge.trial import Trial
from incident_arena.scope import differences


def judge(evidence: Evidence, specs: Sequence[Spec] | None = None) -> Verdict:
    """Judge one trial.

    Args:
        evidence: a verified evidence folder.
        specs: the checks; those of the folder `checks` when None.

    Returns:
        The verdict. Its reward is None when the trial is inadmissible, or when a check raised or could not say and no
        other check failed for certain.
    """
    trial = Trial(evidence)
    used = checks.specs() if specs is None else specs
    findings = [_decide(spec, trial) for spec in used]
    policy = evidence.task.policy
    made = tuple(_check(spec, finding, policy) for spec, finding in zip(used, findings, strict=True))
    answers = gates(made, policy)
    counted = [finding for spec, finding in zip(used, findings, strict=True) if decides(spec.name, policy)]
    reason = inadmissible(trial)
    faults = tracked(trial)
    repaired = _repaired(faults)
    snapshots = evidence.snapshots
    return Verdict(
        task=evidence.task.name,
        episode=evidence.manifest.episode,
        product=__version__,
        seed=evidence.task.seed,
        reward=None if reason else reward(answers),
        admissible=not reason,
        inadmissible=reason,
        policy=policy,
        gates=answers,
        graded=graded(made, admissible=not reason),
        checks=made,
        failure_class=None if reason else classes.exclusive(counted),
        inclusive=() if reason else classes.inclusive(counted),
        differences=differences(snapshots["B"], snapshots["C"], evidence.task.permitted),
        windows=tuple(trial.window(span) for span in trial.spans),
        tracked=faults,
        naming=naming(trial),
        declared=trial.declared,
        agent_started=evidence.manifest.agent_started,
        agent_ended=evidence.manifest.agent_ended,
        reads=_acts(evidence, "read", 0.0),
        changes=_acts(evidence, "change", 0.0),
        changes_after_fix=None if repaired is None else _acts(evidence, "change", repaired),
        reads_after_fix=None if repaired is None else _acts(evidence, "read", repaired),
        forbidden=forbidden(trial),
    )


def _decide(spec: Spec, trial: Trial) -> Finding:
    try:
        return sealed.decide(spec, trial) if trial.sealed else spec.decide(trial)
    except Exception as error:  # noqa: BLE001  # a check that raises is our bug: its answer is unknown, and loud
        return Finding("unknown", f"the check raised {type(error).__name__}: {error}")


def _check(spec: Spec, finding: Finding, policy: Policy) -> Check:
    return Check(
        name=spec.name,
        gate=MAPPINGS[policy.gates][spec.name],
        verdict=finding.verdict,
        reason=finding.reason,
        expected=finding.expected,
        seen=finding.seen,
        at=finding.at,
    )


def _repaired(faults: Sequence[TrackedFault]) -> float | None:
    """When the last fault was repaired; None when one never was, or when there was none to repair."""
    moments = [fault.repaired for fault in faults if fault.repaired is not None]
    return max(moments) if moments and len(moments) == len(faults) else None


def _acts(evidence: Evidence, kind: str, after: float) -> int:
    return sum(act.kind == kind and act.at > after for act in evidence.actions)
