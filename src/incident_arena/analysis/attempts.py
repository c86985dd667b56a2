"""Attempts at trials that do not count: Harbor deletes a retried trial's folder, `arena run` keeps a record.

`<job>/arena-records.jsonl` has one JSON object a line, one for each attempt that was not admitted (the agent was never
started) or that was errored (the model could not be reached).
"""

from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

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
    input_tokens: int | None = None
    """All input, cached ones counted too."""
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    output_tokens: int | None = None
    turns: int | None = None
    reported_cost: float | None = None
    """US dollars, as the agent itself reported."""


def read_attempts(job: Path, notes: list[str]) -> list[Attempt]:
    """The attempts that a job's records name; lines that can't be read are said in `notes`."""
    path = job / RECORDS_FILE
    if not path.is_file():
        return []
    attempts: list[Attempt] = []
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), start=1):
        if not line.strip():
            continue
        try:
            attempts.append(Attempt.model_validate_json(line).model_copy(update={"job": job.name}))
        except ValidationError:
            notes.append(f"job {job.name}: line {number} of {RECORDS_FILE} can't be read")
    return attempts
