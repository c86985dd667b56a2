"""One trial as the tables see it: a flat row, read from Harbor's result.json and our verdict.json."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import polars as pl

from incident_arena.formats.verdict import FailureClass
from incident_arena.plain import plain

type Status = Literal[
    "judged",
    "errored",
    "inadmissible",
    "unknown",
    "crashed",
    "running",
    "foreign",
    "unreadable",
    "inconsistent",
    "superseded",
]

STATUS_MEANING: dict[Status, str] = {
    "judged": "has a reward from our judge; the only trials that rates are made of",
    "errored": "the provider, the key, the way to the model or the agent's start failed: not the agent's doing, rerun",
    "inadmissible": "the episode did not reach its agent, the judge ruled it out, or the machine stood still: rerun",
    "unknown": "the judge could not decide: a check raised, or evidence is unfinished",
    "crashed": "the trial ended, or its job ended, without a verdict",
    "running": "has no result yet and its job has not ended",
    "foreign": "ran another benchmark's task: not ours to judge",
    "unreadable": "a file that must be there is damaged, of another version, too large, a link or no regular file",
    "inconsistent": "the verdict contradicts itself or the reward, or is of another task or episode than its trial",
    "superseded": "judged again by a later job among those read, or read twice",
}
"""Each trial folder that is read gets exactly one of these, and the report counts them all."""

REFUSALS = frozenset({"AgentSafetyRefusalError", "ContentPolicyViolationError"})
"""Harbor's exception types for a provider that declined on grounds of safety."""
NAMELESS_MODEL = "(model without a name)"
NAMELESS_AGENT = "(agent without a name)"
STOPPED = frozenset({"refusal", "content_filter"})
"""Providers' own words for the same, where it was the last thing that they said (Anthropic's, OpenAI's)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One trial folder. Times are seconds since the epoch, durations seconds, tokens counts.

    A field is None when it is not known or does not apply; nothing is guessed.
    """

    id: str
    """Harbor's trial id; the folder's path when that could not be read."""
    name: str
    job: str
    folder: Path
    status: Status
    reason: str = ""
    """Why the status is not "judged"; also a note on a judged trial (an exception that did not cost the verdict)."""
    file: str = ""
    """The file that is unreadable or inconsistent, below the trial's folder."""
    doubts: tuple[str, ...] = ()
    """What was left out because it can't be true, in words: "negative tokens", "a reported cost that is infinite"."""
    simulated: bool = False
    """Made up by the simulator: nothing in it was measured."""

    task: str
    """`<substrate>/<name>` from the verdict, else the name that Harbor has."""
    substrate: str = ""
    checksum: str = ""
    """Harbor's checksum of the task folder that was run."""
    agent: str = ""
    agent_version: str = ""
    model: str | None = None
    provider: str | None = None
    effort: str | None = None
    who: str = ""
    """What tables group by: the model's name, or the agent's where it has none (oracle, nop, a script)."""
    exception: str | None = None
    refused: bool = False
    """The provider declined on grounds of safety, as the last thing it said; a mark beside the verdict."""

    reward: int | None = None
    outcome: str | None = None
    safety: str | None = None
    paper_outcome: str | None = None
    """The gates under the paper's mapping of checks, as the verdict has them."""
    paper_safety: str | None = None
    reward_undeclared: int | None = None
    """The reward had nobody demanded a declaration; None when a check that then decides could not say."""
    failure_class: FailureClass | None = None
    inclusive: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    """Checks that did not pass, each with its answer: "scope fail"."""
    judge_version: str | None = None
    seed: int = 0
    """By which the task's values were drawn; 0 when that is not known."""

    faults: int | None = None
    """Planted faults; 0 in a task in which nothing is broken, None when there are some and none was tracked."""
    repaired: int | None = None
    fixed_at: float | None = None
    """When the last of them turned clear; None unless all did."""
    declared_at: float | None = None
    reads: int | None = None
    changes: int | None = None
    changes_after_fix: int | None = None
    reads_after_fix: int | None = None
    named: bool | None = None
    precision: float | None = None
    recall: float | None = None
    exact: bool | None = None

    started: float | None = None
    agent_seconds: float | None = None
    total_seconds: float | None = None
    input_tokens: int | None = None
    """All input: fresh, read from a cache, and written to one."""
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    output_tokens: int | None = None
    turns: int | None = None
    """Steps of the agent's trajectory."""
    reported_cost: float | None = None
    """US dollars, as the agent itself reported; the report's own cost comes from the price list."""

    source_trial: str | None = None
    """Id (or folder) of the trial that this one judges again."""

    @property
    def no_fault(self) -> bool:
        """Nothing was broken in this task."""
        return self.faults == 0

    @property
    def completion(self) -> float | None:
        """Share of the planted faults that the tracker saw repaired, 0 to 1."""
        return self.repaired / self.faults if self.faults and self.repaired is not None else None

    @property
    def declared_after_fix(self) -> float | None:
        """Seconds from the full fix to the declaration."""
        return None if self.fixed_at is None or self.declared_at is None else self.declared_at - self.fixed_at


_TYPES: dict[str, pl.DataType] = {
    "id": pl.String(),
    "name": pl.String(),
    "job": pl.String(),
    "folder": pl.String(),
    "status": pl.Enum(list(get_args(Status.__value__))),
    "reason": pl.String(),
    "file": pl.String(),
    "doubts": pl.List(pl.String()),
    "simulated": pl.Boolean(),
    "task": pl.String(),
    "substrate": pl.String(),
    "checksum": pl.String(),
    "agent": pl.String(),
    "agent_version": pl.String(),
    "model": pl.String(),
    "provider": pl.String(),
    "effort": pl.String(),
    "who": pl.String(),
    "exception": pl.String(),
    "refused": pl.Boolean(),
    "reward": pl.Int8(),
    "outcome": pl.String(),
    "safety": pl.String(),
    "paper_outcome": pl.String(),
    "paper_safety": pl.String(),
    "reward_undeclared": pl.Int8(),
    "failure_class": pl.String(),
    "inclusive": pl.List(pl.String()),
    "checks": pl.List(pl.String()),
    "judge_version": pl.String(),
    "seed": pl.Int64(),
    "faults": pl.Int64(),
    "repaired": pl.Int64(),
    "fixed_at": pl.Float64(),
    "declared_at": pl.Float64(),
    "reads": pl.Int64(),
    "changes": pl.Int64(),
    "changes_after_fix": pl.Int64(),
    "reads_after_fix": pl.Int64(),
    "named": pl.Boolean(),
    "precision": pl.Float64(),
    "recall": pl.Float64(),
    "exact": pl.Boolean(),
    "started": pl.Float64(),
    "agent_seconds": pl.Float64(),
    "total_seconds": pl.Float64(),
    "input_tokens": pl.Int64(),
    "cached_tokens": pl.Int64(),
    "cache_write_tokens": pl.Int64(),
    "output_tokens": pl.Int64(),
    "turns": pl.Int64(),
    "reported_cost": pl.Float64(),
    "source_trial": pl.String(),
    "completion": pl.Float64(),
    "no_fault": pl.Boolean(),
    "declared_after_fix": pl.Float64(),
}


LISTS = ("inclusive", "checks", "doubts")
"""Fields that are lists."""


def frame(trials: list[Trial]) -> pl.DataFrame:
    """The trials as a frame of shape (trials, columns): every field of Trial and its three properties."""
    columns: dict[str, list[Any]] = {}
    for name in _TYPES:
        columns[name] = [getattr(trial, name) for trial in trials]
    columns["folder"] = [plain(str(trial.folder)) for trial in trials]
    lists = [_lists(columns.pop(name)).alias(name) for name in LISTS]
    flat = {name: kind for name, kind in _TYPES.items() if name not in LISTS}
    return pl.DataFrame(columns, schema=flat).with_columns(lists).select(list(_TYPES))


def _lists(values: Sequence[Sequence[str]]) -> pl.Series:
    """A column of lists, gathered from a flat one: polars would make a series of each list first."""
    flat = pl.DataFrame(
        {
            "row": [row for row, some in enumerate(values) for _ in some],
            "value": [one for some in values for one in some],
        },
        schema={"row": pl.Int64(), "value": pl.String()},
    )
    gathered = flat.group_by("row", maintain_order=True).agg("value")
    rows = pl.DataFrame({"row": pl.int_range(len(values), eager=True)})
    return rows.join(gathered, on="row", how="left", maintain_order="left")["value"].fill_null([])


def _check_columns() -> set[str]:
    """Fields of Trial that the frame lacks; a test holds it empty."""
    return {field.name for field in dataclasses.fields(Trial)} - set(_TYPES)
