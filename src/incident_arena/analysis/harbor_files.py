"""The parts of Harbor 0.26's files that the tables need; other keys are left alone, so later versions stay readable.

`<job>/<trial>/result.json` is Harbor's TrialResult, `<job>/<trial>/config.json` its TrialConfig, `<job>/result.json`
its JobResult, and `<job>/<trial>/agent/trajectory.json` an ATIF trajectory.
"""

import json
import re
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError

TAIL_BYTES = 64 * 1024


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

    started_at: datetime | None = None
    finished_at: datetime | None = None

    @property
    def seconds(self) -> float | None:
        """Its length; None while it has no end."""
        if self.started_at is None or self.finished_at is None:
            return None
        return (self.finished_at - self.started_at).total_seconds()


class Usage(_Part):
    """Tokens; `n_input_tokens` counts cached ones too."""

    n_input_tokens: int | None = None
    n_cache_tokens: int | None = None
    n_output_tokens: int | None = None
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
    started_at: datetime | None = None
    finished_at: datetime | None = None
    agent_execution: Timing | None = None


class JobResult(_Part):
    """result.json of a job."""

    n_total_trials: int = 0
    finished_at: datetime | None = None


class FinalMetrics(_Part):
    """The totals at the end of a trajectory."""

    total_steps: int | None = None
    extra: dict[str, Any] | None = None


class TrajectoryTail(_Part):
    """What is read of a trajectory without reading all of it."""

    turns: int | None = None
    cache_write_tokens: int | None = None
    stop_reason: str | None = None
    """Of the last step that has one."""


_METRICS = re.compile(rb'\n  "final_metrics": (?=\{)')
_STOP = re.compile(rb'\n        "stop_reason": "([a-z_]+)"')


def trajectory_tail(path: Path) -> TrajectoryTail:
    """Totals and stop reason from the last 64 KiB of a trajectory.

    Harbor's agents write it indented by two, so that a line break and two spaces before a key mean the document's own
    key: text of the agent can't look like it, since a string holds no line break. Any other layout is read whole.

    Returns:
        All None when there is no trajectory, or it is not JSON.
    """
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - TAIL_BYTES))
            tail = file.read()
    except OSError:
        return TrajectoryTail()
    found = list(_METRICS.finditer(tail))
    if not found:
        return _whole(path)
    stops = _STOP.findall(tail)
    try:
        metrics, _ = json.JSONDecoder().raw_decode(tail[found[-1].end() :].decode(errors="replace"))
        return _tail(FinalMetrics.model_validate(metrics), stops[-1].decode() if stops else None)
    except (json.JSONDecodeError, ValidationError):
        return TrajectoryTail()


def _whole(path: Path) -> TrajectoryTail:
    try:
        document = json.loads(path.read_bytes())
        steps = document.get("steps") or []
        metrics = FinalMetrics.model_validate(document.get("final_metrics") or {"total_steps": len(steps)})
        extras = [step.get("extra") or {} for step in steps]
        stops = [extra["stop_reason"] for extra in extras if isinstance(extra.get("stop_reason"), str)]
        return _tail(metrics, stops[-1] if stops else None)
    except (ValueError, AttributeError, TypeError, ValidationError):
        return TrajectoryTail()


def _tail(metrics: FinalMetrics, stop: str | None) -> TrajectoryTail:
    extra = metrics.extra or {}
    names = ("total_cache_creation_input_tokens", "total_cache_write_input_tokens")
    writes = next((extra[name] for name in names if isinstance(extra.get(name), int)), None)
    return TrajectoryTail(turns=metrics.total_steps, cache_write_tokens=writes, stop_reason=stop)
