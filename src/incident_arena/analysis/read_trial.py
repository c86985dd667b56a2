"""One trial folder to one Trial, whatever lies in it: `read_trial` never raises."""

import math
from dataclasses import dataclass, replace
from pathlib import Path

from incident_arena.analysis import job_files
from incident_arena.analysis.consistency import contradiction, planted
from incident_arena.analysis.errored import ROUTE_FILE, read_route, why_errored
from incident_arena.analysis.evidence import VERDICT
from incident_arena.analysis.harbor_files import AgentConfig, TrialConfig, TrialResult, trajectory_tail
from incident_arena.analysis.spent import believable, doubtful, spent_of
from incident_arena.analysis.stillness import stood_still
from incident_arena.analysis.trial import NAMELESS_AGENT, NAMELESS_MODEL, REFUSALS, STOPPED, Status, Trial
from incident_arena.formats.verdict import Graded, Verdict
from incident_arena.plain import plain
from incident_arena.route import Route

OURS = "incident_arena"
RESULT = "result.json"
CONFIG = "config.json"
SIMULATED = "simulated"
"""Key of the agent's settings that the simulator puts into each of its trials."""
LARGEST = 2**63


def read_trial(folder: Path, job: str, *, ended: bool, link: bool = False) -> Trial:
    """Read one trial.

    Args:
        folder: the trial's.
        job: the name of its job.
        ended: the job has ended, so that a trial without a result won't get one.
        link: the folder is a link, which is not followed.
    """
    nothing = Trial(
        id=plain(str(folder)), name=plain(folder.name), job=plain(job), folder=folder, status="unreadable", task=""
    )
    if link:
        return replace(nothing, reason="the folder is a link, and links are not followed")
    try:
        trial = _read(folder, job, ended=ended)
        large = [name for name, value in _numbers(trial) if not -LARGEST <= value < LARGEST]
    except Exception as error:  # noqa: BLE001  # a folder from anywhere must not cost the other trials' report
        return replace(nothing, reason=plain(job_files.reason(error)))
    if large:
        return replace(nothing, task=trial.task, file=VERDICT, reason=f"{large[0]}: a number that is too large")
    return trial


def _numbers(trial: Trial) -> list[tuple[str, int]]:
    names = ("seed", "reads", "changes", "changes_after_fix", "reads_after_fix")
    return [(name, value) for name in names if isinstance(value := getattr(trial, name), int)]


@dataclass(frozen=True)
class _Found:
    """What a trial's folder holds."""

    folder: Path
    result: TrialResult
    route: Route | None
    verdict: Verdict | None
    verdict_problem: str


def _read(folder: Path, job: str, *, ended: bool) -> Trial:
    result, problem = job_files.document(folder, RESULT, TrialResult)
    if result is None:
        return _without_result(folder, job, problem, ended=ended)
    route, route_problem = read_route(folder)
    verdict, verdict_problem = job_files.document(folder, VERDICT, Verdict)
    found = _Found(folder, result, route, verdict, verdict_problem)
    base = _from_result(found, job)
    if still := stood_still(folder):
        return replace(base, status="inadmissible", reason=still)
    if route_problem:
        return replace(base, status="unreadable", file=ROUTE_FILE, reason=route_problem)
    if verdict is not None:
        return _with_verdict(base, found, verdict)
    if verdict_problem != "missing":
        return replace(base, status="unreadable", file=VERDICT, reason=verdict_problem)
    status, reason = _unjudged(found)
    return replace(base, status=status, reason=reason)


def _without_result(folder: Path, job: str, problem: str, *, ended: bool) -> Trial:
    config, config_problem = job_files.document(folder, CONFIG, TrialConfig)
    agent = config.agent if config else AgentConfig()
    status: Status = "crashed" if ended else "running"
    reason = f"no {RESULT}, and the job has ended" if ended else f"no {RESULT} yet"
    file = ""
    if problem != "missing":
        status, file, reason = "unreadable", RESULT, problem
    elif config is None and config_problem != "missing":
        status, file, reason = "unreadable", CONFIG, f"{config_problem}; and there is no {RESULT}"
    elif config is None:
        reason = f"{reason}; it never began: there is no {CONFIG} either"
    elif not is_ours(config):
        status = "foreign"
    provider, model = _split(agent.model_name)
    name = agent.name or ""
    return Trial(
        id=plain(str(folder)), name=plain(folder.name), job=plain(job), folder=folder, status=status, file=file,
        reason=reason, task=_task_of(config) if config else "", agent=name, model=model, provider=provider,
        effort=_effort(agent), who=model or (name if config is None else _reference(name, agent)),
        simulated=bool(agent.options.get(SIMULATED)),
    )  # fmt: skip


def _split(model_name: str | None) -> tuple[str | None, str | None]:
    """Provider and model, as Harbor parts them for a trial that has a result."""
    if not model_name:
        return None, None
    provider, slash, name = model_name.partition("/")
    return (provider, name or NAMELESS_MODEL) if slash else (None, model_name)


def _task_of(config: TrialConfig) -> str:
    """The task's name; of a task in a folder, the folder's, which read.py completes from other trials of the task."""
    return config.task.name or Path(config.task.path or "").name


def _from_result(found: _Found, job: str) -> Trial:
    result, route = found.result, found.route
    tail = trajectory_tail(found.folder)
    spent, doubts = believable(spent_of(result, tail))
    info, source, error = result.agent_info.model_info, result.config.source_trial, result.exception_info
    total = None
    if result.started_at and result.finished_at:
        total = (result.finished_at - result.started_at).total_seconds()
    if doubt := doubtful(total):
        doubts.append(f"a time of the trial that is {doubt}")
        total = None
    model = None if info is None else info.name or NAMELESS_MODEL
    return Trial(
        id=result.id,
        name=plain(result.trial_name),
        job=plain(job),
        folder=found.folder,
        status="foreign",
        doubts=tuple(doubts),
        simulated=bool(result.config.agent.options.get(SIMULATED)),
        task=result.task_name,
        checksum=result.task_checksum,
        agent=result.agent_info.name,
        agent_version=result.agent_info.version,
        model=model,
        provider=info.provider if info else None,
        effort=_effort(result.config.agent),
        who=model or _reference(result.agent_info.name, result.config.agent),
        exception=error.exception_type if error else None,
        refused=(error is not None and error.exception_type in REFUSALS)
        or tail.stop_reason in STOPPED
        or (route is not None and route.refused),
        started=result.started_at.timestamp() if result.started_at else None,
        total_seconds=total,
        source_trial=(source.trial_id or (source.path and str(Path(source.path).absolute()))) if source else None,
        **spent,
    )


def _errored(found: _Found) -> str:
    result, verdict = found.result, found.verdict
    error, model, usage = result.exception_info, result.agent_info.model_info, result.agent_result
    return why_errored(
        exception=error.exception_type if error else None,
        message=error.exception_message if error else "",
        route=found.route,
        declared=verdict is not None and verdict.declared is not None,
        agent=result.agent_info.name,
        model=model.name if model else None,
        output_tokens=usage.n_output_tokens if usage else None,
    )


def _with_verdict(base: Trial, found: _Found, verdict: Verdict) -> Trial:
    if wrong := contradiction(verdict, found.result, found.folder):
        reason = f"{wrong}: judge the trial again"
        return replace(base, status="inconsistent", file=VERDICT, reason=reason, judge_version=verdict.product)
    fixed = [one.repaired for one in verdict.tracked if one.repaired is not None]
    last = max(fixed) if fixed and len(fixed) == len(verdict.tracked) else None
    times: dict[str, float | None] = {
        "fixed_at": last if all(math.isfinite(one) for one in fixed) else math.nan,
        "declared_at": verdict.declared,
        "agent_seconds": verdict.agent_ended - verdict.agent_started,
    }
    doubts = list(base.doubts)
    for name, value in times.items():
        if doubt := doubtful(value):
            doubts.append(f"a time ({name}) that is {doubt}")
            times[name] = None
    naming = verdict.naming
    # Both mappings with the suite's own demand, as the reward is; an earlier verdict holds ours alone.
    declaring = verdict.policy.declaring
    ours, paper = _under(verdict, "ours", declaring) or verdict, _under(verdict, "paper", declaring)
    recorded = _under(verdict, "ours", "recorded")
    status, reason = _judged(found, verdict)
    return replace(
        base,
        status=status,
        reason=reason,
        doubts=tuple(doubts),
        task=verdict.task,
        substrate=verdict.task.partition("/")[0],
        reward=None if status == "errored" else verdict.reward,
        outcome=ours.gates.get("outcome"),
        safety=ours.gates.get("safety"),
        paper_outcome=paper.gates.get("outcome") if paper else None,
        paper_safety=paper.gates.get("safety") if paper else None,
        reward_undeclared=recorded.reward if recorded else None,
        failure_class=verdict.failure_class,
        inclusive=tuple(verdict.inclusive),
        checks=tuple(f"{check.name} {check.verdict}" for check in verdict.checks if check.verdict != "pass"),
        judge_version=verdict.product,
        seed=verdict.seed,
        agent_seconds=times["agent_seconds"],
        faults=planted(verdict),
        repaired=len(fixed) if verdict.tracked else None,
        fixed_at=times["fixed_at"],
        declared_at=times["declared_at"],
        reads=verdict.reads,
        changes=verdict.changes,
        changes_after_fix=verdict.changes_after_fix,
        reads_after_fix=verdict.reads_after_fix,
        named=naming is not None,
        precision=naming.precision if naming else None,
        recall=naming.recall if naming else None,
        exact=naming.exact if naming else None,
    )


def _under(verdict: Verdict, mapping: str, declaring: str) -> Graded | None:
    """The verdict under a policy; None in an earlier verdict, which holds its own alone."""
    return next((one for one in verdict.graded if (one.mapping, one.declaring) == (mapping, declaring)), None)


def _judged(found: _Found, verdict: Verdict) -> tuple[Status, str]:
    if not verdict.admissible:
        return "inadmissible", verdict.inadmissible or "no reason given"
    if errored := _errored(found):
        return "errored", errored
    if verdict.reward is None:
        undecided = [check.name for check in verdict.checks if check.verdict == "unknown"]
        return "unknown", "undecided: " + (", ".join(undecided) or "no check says why")
    error = found.result.exception_info
    return "judged", error.line if error else ""


def _unjudged(found: _Found) -> tuple[Status, str]:
    result = found.result
    error = result.exception_info
    if not is_ours(result.config):
        return "foreign", f"task '{result.task_name}' ran in an environment that is not ours"
    if errored := _errored(found):
        return "errored", errored
    started = result.agent_execution is not None and result.agent_execution.started_at is not None
    if not started and result.config.source_trial is None:
        return "inadmissible", error.line if error else "the agent never started"
    return "crashed", error.line if error else "the verifier left no verdict"


def is_ours(config: TrialConfig) -> bool:
    """The trial ran in our environment."""
    return (config.environment.import_path or "").startswith(OURS)


def _effort(agent: AgentConfig) -> str | None:
    effort = agent.options.get("reasoning_effort")
    return None if effort is None else str(effort)


def _reference(name: str, asked: AgentConfig) -> str:
    """The label of an agent without a model."""
    script = asked.options.get("script")
    return f"{name or NAMELESS_AGENT} {Path(str(script)).name}" if script else name or NAMELESS_AGENT
