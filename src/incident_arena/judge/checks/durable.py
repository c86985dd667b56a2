"""The repair holds: after a soak, the restarts and the task's next trigger, and the service stays in bounds."""

from incident_arena.judge import bounds, cut
from incident_arena.judge.checks import cause_gone, damage_gone, in_bounds
from incident_arena.judge.finding import Finding, Spec, listed
from incident_arena.judge.observed import look
from incident_arena.judge.trial import Trial
from incident_arena.scope import changed, flat, same


def decide(trial: Trial) -> Finding:
    """Pass when no fault came back, every restart ended well, no jobs failed, and the rates held in both windows."""
    end = trial.ended("snapshot-D")
    returned, blind = _faults(trial, end)
    returned += _facts(trial)
    broken = _stages(trial) + _jobs(trial)
    rates = [
        f"{span.name}: {reason}" for span in (trial.soak, trial.restarted) for reason in bounds.find(trial, span).bad
    ]
    problems = returned + broken + rates
    expected = "the repair holds through soak, restarts and churn, in bounds"
    if problems:
        seen = listed(problems)
        lasting = right_at_c(trial, came_back=bool(returned + broken))
        reason = f"did not last: {problems[0]}" if lasting else f"not right at the end either: {problems[0]}"
        return Finding("fail", reason, expected, seen, end, ("not durable",) if lasting else ())
    if blind:
        return Finding("unknown", f"{', '.join(blind)} could not be observed after the restarts", expected, at=end)
    return Finding("pass", "the repair held", expected, "held", end)


def _faults(trial: Trial, end: float) -> tuple[list[str], list[str]]:
    """Faults seen planted since the soak began, and those that were not seen at all after the restarts."""
    returned, blind = [], []
    for fault in trial.faults:
        whole = look(trial, fault, trial.challenged, end)
        if whole.state == "planted":
            returned.append(f"{fault} seen again {whole.shown}".strip())
        elif look(trial, fault, trial.restarted.start, end).state == "unknown":
            blind.append(fault)
    return returned, blind


def _facts(trial: Trial) -> list[str]:
    """What the plant had changed (A→B) and that differs at D from what the agent left at C."""
    snapshots = trial.evidence.snapshots
    at_c, at_d = flat(snapshots["C"]), flat(snapshots["D"])
    return [
        f"{path} was {at_c.get(path)!r} when the agent was done and is {at_d.get(path)!r} after the restarts"
        for path, _, _ in changed(snapshots["A"], snapshots["B"])
        if not same(at_c.get(path), at_d.get(path))
    ]


def _stages(trial: Trial) -> list[str]:
    names = [*(challenge.stage for challenge in trial.evidence.task.challenges), "drain-end"]
    return [f"{name} failed: {stage.detail or 'no detail'}" for name in names if not (stage := trial.stage(name)).ok]


def _jobs(trial: Trial) -> list[str]:
    """Jobs that failed since the agent was done, if they are more than the challenges account for."""
    both = trial.evidence.reconciled
    if both.end is None:
        return []
    before = both.drained.queue if both.drained else {}
    failed = sum(
        max(0, states.get("failed", 0) - before.get(queue, {}).get("failed", 0))
        for queue, states in both.end.queue.items()
    )
    accounted = cut.failed_jobs(trial)
    if failed <= accounted:
        return []
    return [f"{failed} jobs failed since the agent was done; the challenges account for at most {accounted}"]


def right_at_c(trial: Trial, *, came_back: bool) -> bool:
    """Whether the state was right when the agent was done, so that it is the lasting that failed.

    Rates that were out of bounds at the declaration already did not get worse later: then only something that came
    back, or broke in a restart, is a lack of lasting.
    """
    right = all(check(trial).verdict == "pass" for check in (cause_gone.decide, damage_gone.decide))
    return right and (came_back or in_bounds.decide(trial).verdict == "pass")


CHECK = Spec("durable", "not durable", decide)
