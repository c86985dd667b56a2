"""The damage that the fault did is healed: the backlog drained, no job is left failed, no record of before is gone."""

from incident_arena.judge.finding import Finding, Spec
from incident_arena.judge.trial import Trial


def decide(trial: Trial) -> Finding:
    """Pass when the queues drained after the agent was done, without failed jobs, and with every earlier record."""
    drain = trial.stage("drain")
    at = trial.ended("drain")
    drained = trial.evidence.reconciled.drained
    expected = "queues drained, no failed job, no record of before missing"
    if drained is None or not drain.ok:
        seen = drain.detail or f"not drained after {drain.seconds:.0f} s"
        return Finding("fail", "the backlog did not drain", expected, seen, at, ("cause or damage left",))
    failed = {queue: states.get("failed", 0) for queue, states in drained.queue.items()}
    left = [f"{count} failed jobs in {queue}" for queue, count in sorted(failed.items()) if count]
    if drained.seeds_missing:
        left.append(f"{len(drained.seeds_missing)} records of before missing")
    seen = "; ".join(left) or "queues drained"
    if left:
        return Finding("fail", "damage is left", expected, seen, drained.taken, ("cause or damage left",))
    return Finding("pass", "no damage is left", expected, seen, drained.taken)


CHECK = Spec("damage-gone", "cause or damage left", decide)
