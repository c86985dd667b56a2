"""When the agent was done, the live effective state of each planted fault was right."""

from incident_arena.judge.finding import Finding, Spec
from incident_arena.judge.observed import look
from incident_arena.judge.trial import Trial


def decide(trial: Trial) -> Finding:
    """Pass when every observer saw its fault clear between the agent's end and the first challenge.

    Nothing is challenged in that time, so one look that finds the fault decides, and one that finds it clear speaks for
    the blind ones after it.
    """
    if not trial.faults:
        return Finding("pass", "no fault was planted")
    start, end = trial.evidence.manifest.agent_ended, trial.challenged
    looks = {fault: look(trial, fault, start, end) for fault in trial.faults}
    left = [fault for fault, one in looks.items() if one.state == "planted"]
    blind = [fault for fault, one in looks.items() if one.state == "unknown"]
    seen = "; ".join(f"{fault}: {one.state} {one.shown}".strip() for fault, one in looks.items())
    expected = "each planted fault clear"
    if left:
        at = min(looks[fault].at for fault in left)
        return Finding("fail", f"{', '.join(left)} still there", expected, seen, at, ("cause or damage left",))
    if blind:
        return Finding("unknown", f"{', '.join(blind)} could not be observed", expected, seen, end)
    return Finding("pass", "every planted fault was clear", expected, seen, max(one.at for one in looks.values()))


CHECK = Spec("cause-gone", "cause or damage left", decide)
