"""How well a declaration names the planted causes. Beside the reward, never in it."""

from incident_arena.formats.records import NamedCause
from incident_arena.formats.verdict import Naming
from incident_arena.judge.trial import Trial


def naming(trial: Trial) -> Naming | None:
    """Precision and recall of the named causes; None when the declaration names none, nor says "no fault".

    Precision is the share of the named causes that were planted, recall the share of the planted ones that were
    named. Where that share is of nothing, it is 1 when nothing was right to say, else 0.
    """
    declaration = trial.evidence.declaration
    if declaration is None or declaration.causes is None:
        return None
    named = set(declaration.causes)
    planted = {_cause(fault) for fault in trial.faults}
    right = len(named & planted)
    exact = named == planted
    return Naming(
        named=declaration.causes,
        precision=right / len(named) if named else float(exact),
        recall=right / len(planted) if planted else float(exact),
        exact=exact,
    )


def _cause(fault: str) -> NamedCause:
    component, _, aspect = fault.partition(".")
    return NamedCause(component=component, aspect=aspect)
