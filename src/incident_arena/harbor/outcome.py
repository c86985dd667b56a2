"""What became of a trial: Harbor's result, the attempts at it, and our verdict, as one document."""

from datetime import datetime
from pathlib import Path
from typing import Any

from harbor.models.trial.result import TimingInfo, TrialResult
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from incident_arena.analysis.errored import read_route, why_errored
from incident_arena.analysis.harbor_files import trajectory_tail
from incident_arena.analysis.stillness import stood_still
from incident_arena.analysis.trial import REFUSALS, STOPPED
from incident_arena.formats.records import Stage
from incident_arena.formats.verdict import FailureClass, Verdict
from incident_arena.harbor.journal import Attempt


class CheckRow(BaseModel):
    """One check, as a row."""

    name: str
    verdict: str
    reason: str


class StageRow(BaseModel):
    """One stage, as a row."""

    name: str
    seconds: float


class Outcome(BaseModel):
    """One trial, as `arena run --json` tells it. `reward` None: there is no verdict, and `reason` says why."""

    model_config = ConfigDict(frozen=True)

    task: str
    trial: str
    agent: str
    script: str
    """Path of the script that was run instead of an agent; empty otherwise."""
    reward: float | None
    reason: str
    errored: bool
    """The model could not be reached: whatever the judge says, the trial counts for nothing."""
    refused: bool
    """The provider declined on grounds of safety; a mark beside the verdict."""
    gates: dict[str, str]
    checks: list[CheckRow]
    failure_class: FailureClass | None
    inclusive: list[str] = Field(default_factory=list)
    admissible: bool
    attempts: int
    stages: list[StageRow]
    peak_memory_mb: int | None
    job_dir: str


def outcome(result: TrialResult, attempts: list[Attempt], job: Path) -> Outcome:
    """Put a trial together.

    Args:
        result: Harbor's.
        attempts: at this trial, in order.
        job: the job's folder.
    """
    trial = job / result.trial_name
    verdict = read_verdict(trial)
    last = attempts[-1] if attempts else None
    rewards = (result.verifier_result.rewards or {}) if result.verifier_result else {}
    still = stood_still(trial)
    errored = "" if still else errored_reason(result, trial, verdict)
    reward = None if still or errored else rewards.get("reward")
    stopped_early = last is not None and last.state == "inadmissible"
    return Outcome(
        task=result.task_name,
        trial=result.trial_name,
        agent=result.agent_info.name,
        script=str(result.config.agent.kwargs.get("script", "")),
        reward=None if reward is None else float(reward),
        reason="" if reward is not None else still or errored or why_none(result, trial, last, verdict),
        errored=bool(errored),
        refused=_refused(result, trial),
        gates=dict(verdict.gates) if verdict else {},
        checks=[CheckRow(name=c.name, verdict=c.verdict, reason=c.reason) for c in verdict.checks] if verdict else [],
        failure_class=verdict.failure_class if verdict else None,
        inclusive=list(verdict.inclusive) if verdict else [],
        admissible=not stopped_early and not still and (verdict.admissible if verdict else last is not None),
        attempts=len(attempts),
        stages=[StageRow(name=stage.name, seconds=round(stage.seconds, 3)) for stage in stages(result, trial, last)],
        peak_memory_mb=last.peak_memory_mb if last else None,
        job_dir=str(job),
    )


def errored_reason(result: TrialResult, trial: Path, verdict: Verdict | None) -> str:
    """Why a trial is errored; empty when it is not. A harness that failed comes first: that is inadmissible."""
    if verdict is not None and not verdict.admissible:
        return ""
    error, model = result.exception_info, result.agent_info.model_info
    return why_errored(
        exception=error.exception_type if error else None,
        message=error.exception_message if error else "",
        route=read_route(trial)[0],
        declared=verdict is not None and verdict.declared is not None,
        agent=result.agent_info.name,
        model=model.name if model else None,
        output_tokens=result.agent_result.n_output_tokens if result.agent_result else None,
    )


def _refused(result: TrialResult, trial: Path) -> bool:
    route, _ = read_route(trial)
    named = result.exception_info is not None and result.exception_info.exception_type in REFUSALS
    stop = trajectory_tail(trial).stop_reason
    return named or stop in STOPPED or (route is not None and route.refused)


def read_verdict(trial: Path) -> Verdict | None:
    """The judge's verdict; None when there is none that can be read."""
    try:
        return Verdict.model_validate_json((trial / "verifier" / "verdict.json").read_text())
    except (OSError, ValidationError):
        return None


def why_none(result: TrialResult, trial: Path, last: Attempt | None, verdict: Verdict | None) -> str:
    """Why a trial has no reward: the first of these that is known."""
    if last is not None and last.state == "inadmissible":
        return last.reason
    if verdict is not None and not verdict.admissible:
        return f"inadmissible: {verdict.inadmissible}"
    judged = trial / "verifier" / "test-stdout.txt"
    said = judged.read_text(errors="replace").strip() if judged.exists() else ""
    if said:
        return f"{said.splitlines()[0]} (see {trial / 'trial.log'})"
    if result.exception_info is not None:
        return f"{result.exception_info.exception_type}: {result.exception_info.exception_message}"
    return f"the judge said nothing; see {trial / 'trial.log'}"


def stages(result: TrialResult, trial: Path, last: Attempt | None) -> list[Stage]:
    """All stages in order: the start's, the agent's, those of the gathering, the judge's.

    The runner tells of the start, the referee of all that it did itself; each stage is there once, as the runner saw
    it.
    """
    found = {stage.name: stage for stage in (last.stages if last else [])}
    for line in _lines(trial / "artifacts" / "evidence" / "stages.jsonl"):
        try:
            stage = Stage.model_validate_json(line)
        except ValidationError:
            continue  # the evidence is the judge's to reject
        found.setdefault(stage.name, stage)
    for name, timing in (("agent", result.agent_execution), ("judge", result.verifier)):
        if timed := _timed(name, timing):
            found[name] = timed
    return sorted(found.values(), key=lambda stage: stage.started)


def _lines(path: Path) -> list[str]:
    return path.read_text(errors="replace").splitlines() if path.is_file() else []


def _timed(name: str, timing: TimingInfo | None) -> Stage | None:
    if timing is None or timing.started_at is None or timing.finished_at is None:
        return None
    start, end = _seconds(timing.started_at), _seconds(timing.finished_at)
    return Stage(name=name, started=start, seconds=max(0.0, end - start), ok=True)


def _seconds(moment: datetime) -> float:
    return moment.timestamp()


def document(outcomes: list[Outcome]) -> list[dict[str, Any]]:
    """The `--json` document."""
    return [one.model_dump(mode="json") for one in outcomes]
