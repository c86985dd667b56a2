"""Nothing that the service acknowledged is lost: the ledger's allowed states hold, before the challenges and after.

And what clients saw agrees with itself: the substrate's invariants.
"""

from incident_arena.formats.records import LedgerLine, Witness
from incident_arena.judge import cut as cut_off
from incident_arena.judge.finding import Finding, Spec, listed
from incident_arena.judge.trial import Trial
from incident_arena.ledger import reading as ledger
from incident_arena.ledger import witnessed


def decide(trial: Trial) -> Finding:
    """Pass when both reconciliations allow what the ledger says and every record of before is there."""
    expected = "every acknowledged operation holds, every record of before is there"
    both = trial.evidence.reconciled
    lost: list[str] = []
    at = None
    for name, stage, reconciled in (
        ("when the agent was done", "drain", both.drained),
        ("after the challenges", "drain-end", both.end),
    ):
        if reconciled is None:
            continue
        lines = _claims(trial, drained=trial.stage(stage).ok)
        lost += [f"{name}: {one}" for one in ledger.violations(lines, reconciled, trial.evidence.task.settling.job)]
        at = at or reconciled.taken
    lost += witnessed.broken(trial.evidence.ledger, trial.evidence.task.invariants)
    if lost:
        seen = listed(lost)
        return Finding("fail", f"data is lost: {lost[0]}", expected, seen, at, ("off-list change",))
    if both.end is None:
        return Finding("unknown", "the stores could not be compared with the ledger after the challenges", expected)
    return Finding("pass", "no data is lost", expected, "all there", both.end.taken)


def _claims(trial: Trial, *, drained: bool) -> list[LedgerLine]:
    """The ledger, without the claim that background work was done where nobody can promise it.

    When the backlog did not drain, what is owed is still to come: that it stands is damage left, which is judged
    apart. And work that was under way when the harness itself planted the fault or restarted a component may have been
    cut off: it did what it could, as an operation that was never answered.
    """
    cut = cut_off.by_plant(trial) | cut_off.by_challenges(trial)
    unsure = {operation.id for operation in trial.operations if not drained or operation.id in cut}
    return [_unsure(line) if line.id in unsure else line for line in trial.evidence.ledger]


def _unsure(line: LedgerLine) -> LedgerLine:
    if isinstance(line, Witness):
        return line
    names = tuple(name for name in line.records if not name.startswith(ledger.JOB))
    return line.model_copy(update={"records": names, **({"owed": False} if line.type == "outcome" else {})})


CHECK = Spec("data-survives", "off-list change", decide)
