"""The repaired system is stable: nothing starts anew by itself, and it takes what it took when it was healthy."""

from collections.abc import Sequence

from incident_arena.formats.records import Usage
from incident_arena.formats.verdict import FailureClass
from incident_arena.judge import usage
from incident_arena.judge.checks.durable import right_at_c
from incident_arena.judge.finding import Finding, Spec, listed
from incident_arena.judge.trial import Trial

OOM = "OOMKilled"


def decide(trial: Trial) -> Finding:
    """Pass when nothing ends by itself, or leaves what it was in the healthy window, in the soak and at the end.

    What is measured is memory, CPU, connections and waiting work; each may also not be about to leave its bounds.
    In the challenges a container may be started again, as those it needs are away; but it may run out of memory at
    no time since the agent was done.
    """
    seen = trial.evidence.usage
    expected = "no container ends by itself; memory, CPU, connections and waiting work stay as when healthy"
    if seen is None:
        return Finding("pass", "not recorded: the evidence is older than this check", expected)
    problems, blind = _found(trial, seen)
    end = trial.ended("snapshot-D")
    if problems:
        classes: tuple[FailureClass, ...] = ("not durable",) if right_at_c(trial, came_back=True) else ()
        return Finding("fail", f"not stable: {problems[0]}", expected, listed(problems), end, classes)
    if blind:
        return Finding("unknown", f"the kubelet's figures are missing: {', '.join(blind)}", expected)
    return Finding("pass", "as when it was healthy", expected, "stable", end)


def _found(trial: Trial, seen: Sequence[Usage]) -> tuple[list[str], list[str]]:
    """What is not stable, and the windows without figures."""
    end = trial.ended("snapshot-D")
    healthy = usage.series(seen, trial.baseline.start, trial.baseline.end)
    problems = [
        f"{name} ran out of memory" for name, why in usage.endings(seen, trial.ended("agent"), end) if why == OOM
    ]
    blind = [] if usage.has_memory(healthy) else [trial.baseline.name]
    before = {} if blind else usage.highest(healthy)
    for span, until in ((trial.soak, trial.soak.end), (trial.restarted, end)):
        figures = usage.series(seen, span.start, span.end)
        if not usage.has_memory(figures):
            blind.append(span.name)
        problems += [
            f"{span.name}: {name} ended by itself ({why or 'no reason told'})"
            for name, why in usage.endings(seen, span.start, until)
            if why != OOM
        ]
        problems += [f"{span.name}: {name} got another pod" for name in usage.replaced(seen, span.start, until)]
        problems += [f"{span.name}: {told}" for told in usage.moved(figures, before)]
    return problems, blind


CHECK = Spec("stable", "not durable", decide)
