"""Job folders to trials: `read_jobs` reads what the tables need, and accounts for every folder it meets.

`read_jobs(paths)` gives a Reading: `trials`, one Trial for each trial folder whatever became of it (Trial.status);
`attempts`, episodes that were rerun and whose folders Harbor has deleted; `notes`, sentences that a reader must see.
`trial.frame(reading.trials)` is the same as a polars frame.

Read of each trial: result.json, verifier/verdict.json, route.json, machine.json and the last 64 KiB of
agent/trajectory.json; config.json only where there is no result. Evidence, whole verdicts and transcripts are loaded
one trial at a time (evidence.py).
"""

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from pydantic import BaseModel, ValidationError

from incident_arena.analysis.attempts import Attempt, read_attempts
from incident_arena.analysis.errored import ROUTE_FILE, read_route, why_errored
from incident_arena.analysis.harbor_files import (
    AgentConfig,
    JobResult,
    TrajectoryTail,
    TrialConfig,
    TrialResult,
    trajectory_tail,
)
from incident_arena.analysis.mappings import paper_gates, reward_undeclared
from incident_arena.analysis.stillness import stood_still
from incident_arena.analysis.trial import REFUSALS, STATUS_MEANING, STOPPED, Status, Trial
from incident_arena.errors import UserError
from incident_arena.formats.verdict import Verdict
from incident_arena.route import Route

OURS = "incident_arena"


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What was read. `trials` are in order of job and folder name."""

    trials: list[Trial]
    attempts: list[Attempt] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def judged(self) -> list[Trial]:
        """The trials that count."""
        return [trial for trial in self.trials if trial.status == "judged"]


def read_jobs(paths: Iterable[Path]) -> Reading:
    """Read Harbor job folders; a folder of jobs stands for all of them, a trial folder for itself.

    Raises:
        UserError: a path does not exist, or holds no trial and no job.
    """
    trials: list[Trial] = []
    attempts: list[Attempt] = []
    notes: list[str] = []
    seen: set[Path] = set()
    for path in paths:
        for job in _jobs_under(path):
            if job.resolve() in seen:
                notes.append(f"job {job.name} was given twice and is read once")
                continue
            seen.add(job.resolve())
            trials += _read_job(job, notes)
            attempts += read_attempts(job, notes)
    trials = _supersede(trials)
    # The last attempt at a trial has its folder still, and is counted by that.
    kept = {trial.id for trial in trials}
    attempts = [one for one in attempts if one.id not in kept]
    notes += _account(trials)
    return Reading(trials=trials, attempts=attempts, notes=notes)


def _jobs_under(path: Path) -> list[Path]:
    if not path.is_dir():
        raise UserError(f"job '{path}'", "there is no such folder", "name a job folder that `arena run` printed")
    if _is_trial(path) or _is_job(path):
        return [path]
    jobs = sorted(child for child in path.iterdir() if child.is_dir() and _is_job(child))
    if not jobs:
        raise UserError(
            f"job '{path}'",
            "it holds neither trials nor jobs",
            "name a Harbor job folder: it has a folder for each trial, with config.json and result.json",
        )
    return jobs


def _is_trial(folder: Path) -> bool:
    return _load(folder / "config.json", TrialConfig)[0] is not None or (
        _load(folder / "result.json", TrialResult)[0] is not None
    )


def _is_job(folder: Path) -> bool:
    if (folder / "arena-records.jsonl").is_file():
        return True
    if not (folder / "config.json").is_file() and not (folder / "result.json").is_file():
        return any(_is_trial(child) for child in _folders(folder))
    return not _is_trial(folder)


def _folders(folder: Path) -> Iterator[Path]:
    with os.scandir(folder) as entries:
        names = sorted(entry.name for entry in entries if entry.is_dir())
    for name in names:
        if not name.startswith("."):
            yield folder / name


def _read_job(job: Path, notes: list[str]) -> list[Trial]:
    if _is_trial(job):
        return [_read_trial(job, job.parent.name, ended=True)]
    result, problem = _load(job / "result.json", JobResult)
    if problem and (job / "result.json").exists():
        notes.append(f"job {job.name}: its own result.json can't be read ({problem}); its trials are")
    ended = result is not None and result.finished_at is not None
    trials = [_read_trial(folder, job.name, ended=ended) for folder in _folders(job)]
    missing = (result.n_total_trials if result else 0) - len(trials)
    if missing > 0:
        notes.append(f"job {job.name}: {missing} of {result.n_total_trials if result else 0} trials have no folder")
    return trials


def _read_trial(folder: Path, job: str, *, ended: bool) -> Trial:
    result, problem = _load(folder / "result.json", TrialResult)
    if result is None:
        return _without_result(folder, job, problem, ended=ended)
    verdict_path = folder / "verifier" / "verdict.json"
    verdict, problem = _load(verdict_path, Verdict)
    tail = trajectory_tail(folder / "agent" / "trajectory.json")
    route, route_problem = read_route(folder)
    base = _from_result(folder, job, result, tail, route)
    if still := stood_still(folder):
        return replace(base, status="inadmissible", reason=still)
    if route_problem:
        return replace(base, status="unreadable", reason=f"{ROUTE_FILE}: {route_problem}")
    if verdict is not None:
        return _with_verdict(base, result, verdict, route)
    if verdict_path.exists():
        return replace(base, status="unreadable", reason=f"verdict.json: {problem}")
    status, reason = _unjudged(result, _errored(result, route, declared=False))
    return replace(base, status=status, reason=reason)


def _without_result(folder: Path, job: str, problem: str, *, ended: bool) -> Trial:
    config, config_problem = _load(folder / "config.json", TrialConfig)
    agent = config.agent if config else AgentConfig()
    task = (config.task.name or Path(config.task.path or "").name) if config else ""
    status: Status = "crashed" if ended else "running"
    reason = "no result.json, and the job has ended" if ended else "no result.json yet"
    if (folder / "result.json").exists():
        status, reason = "unreadable", f"result.json: {problem}"
    elif config is None and (folder / "config.json").exists():
        status, reason = "unreadable", f"no result.json, and config.json: {config_problem}"
    elif config is None:
        reason = f"{reason}; it never began: there is no config.json either"
    elif not _is_ours(config):
        status = "foreign"
    return Trial(
        id=str(folder), name=folder.name, job=job, folder=folder, status=status, reason=reason, task=task,
        agent=agent.name or "", model=agent.model_name, effort=_effort(agent), who=agent.model_name or agent.name or "",
    )  # fmt: skip


def _from_result(folder: Path, job: str, result: TrialResult, tail: TrajectoryTail, route: Route | None) -> Trial:
    model = result.agent_info.model_info
    usage = result.agent_result
    execution = result.agent_execution
    source = result.config.source_trial
    error = result.exception_info
    total = None
    if result.started_at and result.finished_at:
        total = (result.finished_at - result.started_at).total_seconds()
    return Trial(
        id=result.id,
        name=result.trial_name,
        job=job,
        folder=folder,
        status="foreign",
        task=result.task_name,
        checksum=result.task_checksum,
        agent=result.agent_info.name,
        agent_version=result.agent_info.version,
        model=model.name if model else None,
        provider=model.provider if model else None,
        effort=_effort(result.config.agent),
        who=model.name if model else _reference(result),
        exception=error.exception_type if error else None,
        refused=(error is not None and error.exception_type in REFUSALS)
        or tail.stop_reason in STOPPED
        or (route is not None and route.refused),
        started=result.started_at.timestamp() if result.started_at else None,
        agent_seconds=execution.seconds if execution else None,
        total_seconds=total,
        input_tokens=usage.n_input_tokens if usage else None,
        cached_tokens=usage.n_cache_tokens if usage else None,
        cache_write_tokens=tail.cache_write_tokens,
        output_tokens=usage.n_output_tokens if usage else None,
        turns=tail.turns,
        reported_cost=usage.cost_usd if usage else None,
        source_trial=(source.trial_id or source.path) if source else None,
    )


def _errored(result: TrialResult, route: Route | None, *, declared: bool) -> str:
    error, model, usage = result.exception_info, result.agent_info.model_info, result.agent_result
    return why_errored(
        exception=error.exception_type if error else None,
        message=error.exception_message if error else "",
        route=route,
        declared=declared,
        agent=result.agent_info.name,
        model=model.name if model else None,
        output_tokens=usage.n_output_tokens if usage else None,
    )


def _with_verdict(base: Trial, result: TrialResult, verdict: Verdict, route: Route | None) -> Trial:
    repairs = [tracked.repaired for tracked in verdict.tracked]
    fixed = [moment for moment in repairs if moment is not None]
    naming = verdict.naming
    paper = paper_gates(verdict.checks)
    status, reason = _judged(result, verdict, _errored(result, route, declared=verdict.declared is not None))
    return replace(
        base,
        status=status,
        reason=reason,
        task=verdict.task,
        substrate=verdict.task.partition("/")[0],
        reward=None if status == "errored" else verdict.reward,
        outcome=verdict.gates.get("outcome"),
        safety=verdict.gates.get("safety"),
        paper_outcome=paper.get("outcome"),
        paper_safety=paper.get("safety"),
        reward_undeclared=reward_undeclared(verdict.checks),
        failure_class=verdict.failure_class,
        inclusive=tuple(verdict.inclusive),
        judge_version=verdict.product,
        agent_seconds=verdict.agent_ended - verdict.agent_started,
        faults=len(repairs),
        repaired=len(fixed),
        fixed_at=max(fixed) if fixed and len(fixed) == len(repairs) else None,
        declared_at=verdict.declared,
        reads=verdict.reads,
        changes=verdict.changes,
        changes_after_fix=verdict.changes_after_fix,
        reads_after_fix=verdict.reads_after_fix,
        named=naming is not None,
        precision=naming.precision if naming else None,
        recall=naming.recall if naming else None,
        exact=naming.exact if naming else None,
    )


def _judged(result: TrialResult, verdict: Verdict, errored: str) -> tuple[Status, str]:
    rewards = (result.verifier_result.rewards if result.verifier_result else None) or {}
    given = rewards.get("reward")
    if given is not None and given != verdict.reward:
        return "unreadable", f"reward.json says {given:g} and verdict.json {verdict.reward}: judge the trial again"
    if not verdict.admissible:
        return "inadmissible", verdict.inadmissible or "no reason given"
    if errored:
        return "errored", errored
    if verdict.reward is None:
        undecided = [check.name for check in verdict.checks if check.verdict == "unknown"]
        return "unknown", "undecided: " + (", ".join(undecided) or "no check says why")
    return "judged", result.exception_info.line if result.exception_info else ""


def _unjudged(result: TrialResult, errored: str) -> tuple[Status, str]:
    error = result.exception_info
    if not _is_ours(result.config):
        return "foreign", f"task '{result.task_name}' ran in an environment that is not ours"
    if errored:
        return "errored", errored
    started = result.agent_execution is not None and result.agent_execution.started_at is not None
    if not started and result.config.source_trial is None:
        return "inadmissible", error.line if error else "the agent never started"
    return "crashed", error.line if error else "the verifier left no verdict"


def _is_ours(config: TrialConfig) -> bool:
    return (config.environment.import_path or "").startswith(OURS)


def _effort(agent: AgentConfig) -> str | None:
    effort = agent.options.get("reasoning_effort")
    return None if effort is None else str(effort)


def _reference(result: TrialResult) -> str:
    script = result.config.agent.options.get("script")
    return f"{result.agent_info.name} {Path(str(script)).name}" if script else result.agent_info.name


def _supersede(trials: list[Trial]) -> list[Trial]:
    """Of a trial and its later judgements the last counts; of one that was read twice, the first reading."""
    decided = [trial for trial in trials if trial.status in {"judged", "unknown"}]
    again = {trial.source_trial: trial.job for trial in decided if trial.source_trial}
    met: set[str] = set()
    kept: list[Trial] = []
    for trial in trials:
        later = again and (
            again.get(trial.id) or again.get(str(trial.folder)) or again.get(str(trial.folder.resolve()))
        )
        reason = f"judged again in job {later}" if later else "read twice" if trial.id in met else ""
        met.add(trial.id)
        kept.append(replace(trial, status="superseded", reason=reason) if reason else trial)
    return kept


def _account(trials: list[Trial]) -> list[str]:
    """One sentence for each status that is not judged; also what is told apart by judge version."""
    counts = Counter(trial.status for trial in trials)
    notes = [
        f"{counts[status]} of {len(trials)} trials {status}: {STATUS_MEANING[status]}"
        for status in STATUS_MEANING
        if status != "judged" and counts[status]
    ]
    versions = sorted({trial.judge_version for trial in trials if trial.status == "judged" and trial.judge_version})
    if len(versions) > 1:
        notes.append(f"verdicts of several versions of the judge are pooled: {', '.join(versions)}")
    return notes


def _load[Document: BaseModel](path: Path, kind: type[Document]) -> tuple[Document | None, str]:
    """The document, or None and why not, in one line."""
    try:
        return kind.model_validate_json(path.read_bytes()), ""
    except FileNotFoundError:
        return None, "missing"
    except OSError as error:
        return None, error.strerror or type(error).__name__
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        return None, f"{where}: {first['msg']}" if where else str(first["msg"])
