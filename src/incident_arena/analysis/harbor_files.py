"""The parts of Harbor 0.26's files that the tables need; other keys are left alone, so later versions stay readable.

`<job>/<trial>/result.json` is Harbor's TrialResult, `<job>/<trial>/config.json` its TrialConfig, `<job>/result.json`
its JobResult, and `<job>/<trial>/agent/trajectory.json` an ATIF trajectory.
"""

import json
import re
import sys
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

from pydantic import AliasChoices, AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from incident_arena.analysis import job_files

TAIL_BYTES = 64 * 1024
TRAJECTORY = "agent/trajectory.json"
type Count = Annotated[int, Field(ge=-(2**63), lt=2**63)]
"""A number that a table can hold. Whether it can be true is asked later (spent.py)."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, protected_namespaces=())


class ModelInfo(_Part):
    """The model of an agent."""

    name: str
    provider: str | None = None


class AgentInfo(_Part):
    """The agent that ran."""

    name: str
    version: str = ""
    model_info: ModelInfo | None = None


class Timing(_Part):
    """One phase."""

    started_at: AwareDatetime | None = None
    finished_at: AwareDatetime | None = None

    @property
    def seconds(self) -> float | None:
        """Its length; None while it has no end."""
        if self.started_at is None or self.finished_at is None:
            return None
        return (self.finished_at - self.started_at).total_seconds()


class Usage(_Part):
    """Tokens; `n_input_tokens` counts cached ones too."""

    n_input_tokens: Count | None = None
    n_cache_tokens: Count | None = None
    n_output_tokens: Count | None = None
    cost_usd: float | None = None


class Rewards(_Part):
    """What Harbor's verifier step returned."""

    rewards: dict[str, float] | None = None


class Failure(_Part):
    """The exception that ended a trial."""

    exception_type: str
    exception_message: str = ""

    @property
    def line(self) -> str:
        """Type and first line of the message."""
        first = self.exception_message.strip().splitlines()[:1]
        return f"{self.exception_type}: {first[0]}" if first else self.exception_type


class AgentConfig(_Part):
    """The agent as it was asked for."""

    name: str | None = None
    model_name: str | None = None
    import_path: str | None = None
    options: dict[str, Any] = Field(default_factory=dict, validation_alias=AliasChoices("kwargs"))


class EnvironmentConfig(_Part):
    """The environment as it was asked for."""

    import_path: str | None = None


class TaskConfig(_Part):
    """The task as it was asked for."""

    path: str | None = None
    name: str | None = None


class SourceTrial(_Part):
    """The trial that a regrade judges again."""

    trial_id: str | None = None
    path: str | None = None


class TrialConfig(_Part):
    """config.json of a trial. `task` is what tells it from a job's."""

    task: TaskConfig
    trial_name: str = ""
    agent: AgentConfig = AgentConfig()
    environment: EnvironmentConfig = EnvironmentConfig()
    source_trial: SourceTrial | None = None


class TrialResult(_Part):
    """result.json of a trial."""

    id: str
    task_name: str
    trial_name: str
    task_checksum: str = ""
    config: TrialConfig
    agent_info: AgentInfo
    agent_result: Usage | None = None
    verifier_result: Rewards | None = None
    exception_info: Failure | None = None
    started_at: AwareDatetime | None = None
    finished_at: AwareDatetime | None = None
    agent_execution: Timing | None = None


class JobResult(_Part):
    """result.json of a job. Harbor writes its times without a zone."""

    n_total_trials: Count = 0
    finished_at: datetime | None = None


class FinalMetrics(_Part):
    """The totals at the end of a trajectory."""

    total_steps: Count | None = None
    extra: dict[str, Any] | None = None


class TrajectoryTail(_Part):
    """What is read of a trajectory without reading all of it."""

    turns: int | None = None
    cache_write_tokens: int | None = None
    stop_reason: str | None = None
    """Of the last step that has one."""


_METRICS = re.compile(rb'\n  "final_metrics": (?=\{)')
_STOP = re.compile(rb'\n        "stop_reason": "([a-z_]+)"')


def trajectory_tail(trial: Path) -> TrajectoryTail:
    """Totals and stop reason from the last 64 KiB of a trial's trajectory.

    Harbor's agents write it indented by two, so that a line break and two spaces before a key mean the document's own
    key: text of the agent can't look like it, since a string holds no line break. Any other layout is read whole.

    Args:
        trial: Harbor's folder.

    Returns:
        All None when there is no trajectory, or it can't be read.
    """
    try:
        with job_files.open_file(trial, TRAJECTORY, limit=sys.maxsize) as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - TAIL_BYTES))
            tail = file.read(TAIL_BYTES)
        found = list(_METRICS.finditer(tail))
        if not found:
            return _whole(job_files.read(trial, TRAJECTORY, job_files.TRANSCRIPT_BYTES))
        stops = _STOP.findall(tail)
        metrics, _ = json.JSONDecoder().raw_decode(tail[found[-1].end() :].decode(errors="replace"))
        return _tail(FinalMetrics.model_validate(metrics), stops[-1].decode() if stops else None)
    except (OSError, ValueError, RecursionError):
        return TrajectoryTail()


def _whole(data: bytes) -> TrajectoryTail:
    try:
        document = json.loads(data)
        steps = document.get("steps") or []
        metrics = FinalMetrics.model_validate(document.get("final_metrics") or {"total_steps": len(steps)})
    except (ValueError, AttributeError, TypeError, ValidationError):
        return TrajectoryTail()
    stops = [stop for step in steps if (stop := _stop(step))] if isinstance(steps, list) else []
    return _tail(metrics, stops[-1] if stops else None)


def _stop(step: object) -> str | None:
    """A step's stop reason; None where it has none, or is malformed."""
    extra = step.get("extra") if isinstance(step, dict) else None
    stop = extra.get("stop_reason") if isinstance(extra, dict) else None
    return stop if isinstance(stop, str) else None


def _tail(metrics: FinalMetrics, stop: str | None) -> TrajectoryTail:
    extra = metrics.extra or {}
    names = ("total_cache_creation_input_tokens", "total_cache_write_input_tokens")
    writes = next((extra[name] for name in names if type(extra.get(name)) is int), None)
    if writes is not None and abs(writes) >= 2**63:
        writes = None
    return TrajectoryTail(turns=metrics.total_steps, cache_write_tokens=writes, stop_reason=stop)
