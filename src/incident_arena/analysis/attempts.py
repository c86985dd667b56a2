"""Attempts at trials that do not count: Harbor deletes a retried trial's folder, `arena run` keeps a record.

`<job>/arena-records.jsonl` has one JSON object a line, one for each attempt that was not admitted (the agent was never
started) or that was errored (the model could not be reached).
"""

from pathlib import Path

from pydantic import BaseModel, ConfigDict

from incident_arena.analysis import job_files
from incident_arena.analysis.harbor_files import Count, TrajectoryTail, TrialResult
from incident_arena.analysis.spent import Spent, believable, spent_of
from incident_arena.plain import plain

RECORDS_FILE = "arena-records.jsonl"


class Attempt(BaseModel):
    """One attempt at an episode. The last one at a trial may have its folder still; earlier ones have not."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    job: str = ""
    """The folder it was read from."""
    trial: str
    task: str
    admissible: bool = False
    inadmissible: str = ""
    """Why the agent was never started."""
    attempt: int = 1
    started: float | None = None

    id: str = ""
    """Harbor's id of the attempt's trial; empty where the agent was never started."""
    errored: str = ""
    """Why an attempt that was admitted counts for nothing."""
    exception: str | None = None
    agent: str = ""
    model: str | None = None
    agent_seconds: float | None = None
    input_tokens: Count | None = None
    """All input, cached ones counted too."""
    cached_tokens: Count | None = None
    cache_write_tokens: Count | None = None
    output_tokens: Count | None = None
    turns: Count | None = None
    reported_cost: float | None = None
    """US dollars, as the agent itself reported."""

    def believable(self) -> tuple["Attempt", list[str]]:
        """The attempt with what it spent as far as that can be true, and what was left out."""
        spent: Spent = {
            "agent_seconds": self.agent_seconds,
            "input_tokens": self.input_tokens,
            "cached_tokens": self.cached_tokens,
            "cache_write_tokens": self.cache_write_tokens,
            "output_tokens": self.output_tokens,
            "turns": self.turns,
            "reported_cost": self.reported_cost,
        }
        kept, doubts = believable(spent)
        return self.model_copy(update=dict(kept)), doubts


def errored_attempt(result: TrialResult, tail: TrajectoryTail, *, number: int, reason: str) -> Attempt:
    """The record of an attempt that was admitted and counts for nothing."""
    model = result.agent_info.model_info
    return Attempt(
        trial=result.trial_name,
        task=result.task_name,
        admissible=True,
        attempt=number,
        started=result.started_at.timestamp() if result.started_at else None,
        id=result.id,
        errored=reason,
        exception=result.exception_info.exception_type if result.exception_info else None,
        agent=result.agent_info.name,
        model=model.name if model else None,
        **spent_of(result, tail),
    )


def read_attempts(job: Path, notes: list[str]) -> list[Attempt]:
    """The attempts that a job's records name; lines that can't be read are said in `notes`."""
    name = plain(job.name)
    attempts: list[Attempt] = []
    try:
        for number, line in enumerate(job_files.lines(job, RECORDS_FILE), start=1):
            if not line.strip():
                continue
            try:
                one, doubts = Attempt.model_validate_json(line).believable()
            except (ValueError, RecursionError) as error:
                problem = job_files.reason(error)
                notes.append(f"job {name}: line {number} of {RECORDS_FILE} can't be read ({problem})")
                continue
            attempts.append(one.model_copy(update={"job": name}))
            notes += [f"job {name}: an attempt at {one.trial} has {doubt}: left out" for doubt in doubts]
    except FileNotFoundError:
        return []
    except OSError as error:
        notes.append(f"job {name}: {RECORDS_FILE} can't be read ({job_files.reason(error)})")
    return attempts
