"""Rows of the tables that have a line for each trial."""

from pydantic import Field

from incident_arena.analysis.rows import Row


class UnusableRow(Row):
    """A trial that counts for nothing because a file of it can't be read, or can't be the judge's."""

    status: str = Field(title="Status")
    job: str = Field(title="Job")
    trial: str = Field(title="Trial", description="The trial's folder.")
    file: str = Field(title="File")
    reason: str = Field(title="Reason")


class TrialRow(Row):
    """One trial folder, whatever became of it."""

    job: str = Field(title="Job")
    trial: str = Field(title="Trial")
    id: str = Field(title="Id", description="Harbor's; the folder where that could not be read.")
    task: str = Field(title="Task")
    who: str = Field(title="Model", description="The label that tables group by.")
    agent: str = Field(title="Harness")
    agent_version: str = Field(title="Version")
    effort: str | None = Field(title="Effort")
    status: str = Field(title="Status")
    reason: str = Field(title="Reason")
    file: str = Field(title="File", description="The file that is unreadable or inconsistent.")
    reward: int | None = Field(title="Reward")
    failure_class: str | None = Field(title="Class", description="The first that applies.")
    inclusive: str = Field(title="Classes", description="All that apply.")
    checks: str = Field(title="Checks", description="Those that did not pass, each with its answer.")
    refused: bool = Field(title="Refused")
    cost: float | None = Field(title="Cost $")
    cost_source: str | None = Field(
        title="Cost by", description="`prices`: tokens by the price list; `agent`: as the agent itself reported."
    )
    input_tokens: int | None = Field(title="Tokens in", description="Cached ones counted too.")
    cached_tokens: int | None = Field(title="Cached")
    cache_write_tokens: int | None = Field(title="Cache writes")
    output_tokens: int | None = Field(title="Out")
    turns: int | None = Field(title="Turns")
    agent_seconds: float | None = Field(title="Agent s")
    started: float | None = Field(title="Started", description="Seconds since the epoch.")
    doubts: str = Field(title="Doubts", description="What was left out because it can't be true.")
    simulated: bool = Field(title="Simulated", description="Made up by the simulator; nothing was measured.")
    source_trial: str | None = Field(
        title="Judges again", description="Id or folder of the trial that it judges again."
    )
    folder: str = Field(title="Folder")
