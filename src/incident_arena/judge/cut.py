"""Background work that the harness itself may have cut off: by planting the fault, or by a challenge."""

from incident_arena.judge.trial import Trial
from incident_arena.ledger import reading as ledger


def by_plant(trial: Trial) -> frozenset[int]:
    """Ids of the operations whose background work the planting may have cut off."""
    return _ids(trial, ["plant"] if trial.faults or trial.evidence.task.scenes else [])


def by_challenges(trial: Trial) -> frozenset[int]:
    """Ids of the operations whose background work a challenge may have cut off."""
    return _ids(trial, [challenge.stage for challenge in trial.evidence.task.challenges])


def _ids(trial: Trial, stages: list[str]) -> frozenset[int]:
    settling = trial.evidence.task.settling
    cut = [(trial.stage(name).started - settling.job, trial.ended(name) + settling.aftermath) for name in stages]
    return frozenset(one.id for one in trial.operations if any(start < one.due < end for start, end in cut))


def failed_jobs(trial: Trial) -> int:
    """How many jobs that failed since the agent was done the challenges can account for.

    One for each operation that a challenge may have cut off and that is still owed, or whose job left undone what it
    is to do; and one for each challenge, of work that is not the load's: a worker does one job at a time.
    """
    end = trial.evidence.reconciled.end
    if end is None:
        return 0
    cut = by_challenges(trial)
    owed = {one.id for one in trial.operations if one.id in cut and one.outcome is not None and one.outcome.owed}
    lines = [line for line in trial.evidence.ledger if line.id in cut]
    by_record = ledger.touches(lines, end.taken, trial.evidence.task.settling.job)
    wrong = {
        name
        for name, touches in by_record.items()
        if name.startswith(ledger.JOB)
        and (state := end.records.get(name)) is not None
        and not ledger.allowed(touches).holds(state)
    }
    undone = {one.id for one in trial.operations if one.id in cut and wrong.intersection(one.records)}
    return len(owed | undone) + len(trial.evidence.task.challenges)
