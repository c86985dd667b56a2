"""Whether a verdict can be what the judge wrote about this trial. One that can't counts for nothing, and is said.

A verdict holds its answer several times over: checks make gates, gates make the reward, failed checks make classes. It
names its task and its episode, and Harbor keeps the reward too. Where two of these differ, something changed the file
or put it into another trial's folder, and nobody can tell which of them is right.
"""

from pathlib import Path

from pydantic import BaseModel, ConfigDict

from incident_arena.analysis import job_files
from incident_arena.analysis.harbor_files import TrialResult
from incident_arena.formats.verdict import CLASSES, Answer, Gate, Verdict
from incident_arena.judge.gates import decides

MANIFEST = "artifacts/evidence/manifest.json"
GATES: tuple[Gate, ...] = ("outcome", "safety")
NO_FAULT = "no fault was planted"
"""The word of the judge's check `cause-gone` on a task in which nothing is broken."""


class _Manifest(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    task: str
    episode: str


def contradiction(verdict: Verdict, result: TrialResult, trial: Path) -> str:
    """What contradicts what, the first that is found; empty when nothing does.

    Args:
        verdict: the judge's.
        result: Harbor's.
        trial: the folder; the evidence in it, if it is there, has the episode's name.
    """
    return _within(verdict) or _with_reward(verdict, result) or _with_trial(verdict, result, trial)


def _within(verdict: Verdict) -> str:
    deciding = [check for check in verdict.checks if decides(check.name, verdict.policy)]
    for gate in GATES:
        made = _worst([check.verdict for check in deciding if check.gate == gate])
        if verdict.checks and verdict.gates.get(gate) != made:
            return f"gate {gate} is {verdict.gates.get(gate, 'missing')} and its checks make it {made}"
    return _reward(verdict) or _policies(verdict) or _classes(verdict) or _naming(verdict)


def _reward(verdict: Verdict) -> str:
    if not verdict.admissible:
        return "" if verdict.reward is None else f"the reward is {verdict.reward} and the trial inadmissible"
    made = {"pass": 1, "fail": 0, "unknown": None}[_worst([verdict.gates.get(gate, "unknown") for gate in GATES])]
    if verdict.reward != made:
        gates = ", ".join(f"{gate} {answer}" for gate, answer in verdict.gates.items()) or "none"
        return f"the reward is {_word(verdict.reward)} and the gates ({gates}) make it {_word(made)}"
    return ""


def _policies(verdict: Verdict) -> str:
    """An earlier verdict holds its own policy alone."""
    own = (verdict.policy.gates, verdict.policy.declaring)
    for one in verdict.graded:
        made = {"pass": 1, "fail": 0, "unknown": None}[_worst([one.gates.get(gate, "unknown") for gate in GATES])]
        if one.reward != (made if verdict.admissible else None):
            return f"under {one.mapping} gates, declaring {one.declaring}, reward and gates contradict each other"
        if (one.mapping, one.declaring) == own and one.gates != verdict.gates:
            return "the gates under the suite's policy are not those of the trial"
    return ""


def _classes(verdict: Verdict) -> str:
    failed = verdict.reward == 0
    if failed != (verdict.failure_class is not None):
        return f"the reward is {_word(verdict.reward)} and the failure class {verdict.failure_class or 'none'}"
    if verdict.inclusive and not failed:
        return f"the reward is {_word(verdict.reward)} and classes apply: {', '.join(verdict.inclusive)}"
    first = next((one for one in CLASSES if one in verdict.inclusive), CLASSES[-1])
    if failed and verdict.failure_class != first:
        return f"the failure class is {verdict.failure_class} and the first that applies {first}"
    return ""


def _naming(verdict: Verdict) -> str:
    naming = verdict.naming
    if naming and not (0 <= naming.precision <= 1 and 0 <= naming.recall <= 1):
        return f"naming has a precision of {naming.precision:g} and a recall of {naming.recall:g}"
    return ""


def _with_reward(verdict: Verdict, result: TrialResult) -> str:
    given = ((result.verifier_result.rewards if result.verifier_result else None) or {}).get("reward")
    if given is not None and given != verdict.reward:
        return f"reward.json says {given:g} and verdict.json {_word(verdict.reward)}"
    return ""


def _with_trial(verdict: Verdict, result: TrialResult, trial: Path) -> str:
    if verdict.task != result.task_name:
        return f"the verdict is of task {verdict.task} and the trial of {result.task_name}"
    gathered, _ = job_files.document(trial, MANIFEST, _Manifest)
    if gathered and gathered.task != verdict.task:
        return f"the verdict is of task {verdict.task} and the evidence of {gathered.task}"
    if gathered and gathered.episode != verdict.episode:
        return f"the verdict is of episode {verdict.episode} and the evidence of {gathered.episode}"
    return ""


def planted(verdict: Verdict) -> int | None:
    """Planted faults; None when some were planted and their tracking is missing.

    An empty list of tracked faults alone says nothing: it is the same when nothing was planted and when nothing was
    seen.
    """
    if verdict.tracked:
        return len(verdict.tracked)
    none = any(check.name == "cause-gone" and check.reason.startswith(NO_FAULT) for check in verdict.checks)
    return 0 if none else None


def _worst(answers: list[Answer]) -> Answer:
    """The judge's own rule: a certain fail decides, then unknown; pass only when all passed."""
    return "fail" if "fail" in answers else "unknown" if "unknown" in answers else "pass"


def _word(reward: int | None) -> str:
    return "none" if reward is None else str(reward)
