"""A against B: over the tasks that both tried, with intervals, tests and what could have been seen at all."""

from dataclasses import dataclass

import polars as pl
from pydantic import Field

from incident_arena.analysis.power import compare
from incident_arena.analysis.rows import ComparedTaskRow, ComparisonRow, Row
from incident_arena.analysis.tables_rates import per_task, span_row
from incident_arena.errors import UserError


class Compared(Row):
    """The comparison of two sides."""

    result: ComparisonRow
    tasks: list[ComparedTaskRow]
    notes: list[str] = Field(default_factory=list)


@dataclass(frozen=True)
class Side:
    """One side: the folders of its trials, and passes and trials of each task (columns task, c, n)."""

    name: str
    folders: frozenset[str]
    tasks: pl.DataFrame

    @classmethod
    def of(cls, name: str, trials: pl.DataFrame) -> "Side":
        """The side that these trials make."""
        return cls(name, frozenset(trials["folder"]), per_task(trials))


def shared_tasks(a: Side, b: Side) -> pl.DataFrame:
    """The tasks that both have: columns task, c, n, c_b, n_b, in order of name.

    Raises:
        UserError: the sides are one, or share trials, or share no task.
    """
    thing, shared = f"comparison of {a.name!r} and {b.name!r}", a.folders & b.folders
    if a.name == b.name:
        raise UserError(f"comparison of {a.name!r} with itself", "both sides are the same trials", "name two sides")
    if shared:
        reason = f"they share {len(shared)} trials, so that no test between them holds"
        raise UserError(thing, reason, "name sides that have no trial in common")
    both = a.tasks.join(b.tasks, on="task", suffix="_b").sort("task")
    if both.is_empty():
        raise UserError(thing, "they share no task", "compare sides that ran the same tasks")
    return both


def compare_sides(trials: pl.DataFrame, a: str, b: str) -> Compared:
    """Compare two sides among judged trials.

    Args:
        trials: judged ones, of tasks in which something is broken.
        a: a side: a model's label, or `label@effort` for one effort of it, or a job's name.
        b: the other.

    Raises:
        UserError: a side has no trials, or the two share no task.
    """
    one, other = (Side.of(name, side(trials, name)) for name in (a, b))
    both = shared_tasks(one, other)
    found = compare(both["c"], both["n"], both["c_b"], both["n_b"])
    notes = [
        f"{some.tasks.height - both.height} tasks that only {some.name} has are left out"
        for some in (one, other)
        if some.tasks.height > both.height
    ]
    result = ComparisonRow(
        a=a,
        b=b,
        tasks=found.tasks,
        trials_a=found.trials_a,
        trials_b=found.trials_b,
        rate_a=found.rate_a,
        rate_b=found.rate_b,
        difference=found.difference,
        interval=span_row(found.interval),
        p_paired=found.p_paired,
        p_permutation_tasks=found.p_permutation_tasks,
        p_permutation_trials=found.p_permutation_trials,
        detectable_tasks=found.detectable_tasks,
        detectable_trials=found.detectable_trials,
    )
    rows = [
        ComparedTaskRow(
            task=task,
            rate_a=ca / na,
            rate_b=cb / nb,
            difference=ca / na - cb / nb,
            without=found.left_out[place] if found.left_out else None,
        )
        for place, (task, ca, na, cb, nb) in enumerate(both.select("task", "c", "n", "c_b", "n_b").iter_rows())
    ]
    return Compared(result=result, tasks=rows, notes=notes)


def side(trials: pl.DataFrame, name: str) -> pl.DataFrame:
    """The trials that a name means: a job's, else a model's, else a model's at an effort.

    Raises:
        UserError: none are meant; the error lists what there is.
    """
    who, _, effort = name.rpartition("@")
    rules = [pl.col("job") == name, pl.col("who") == name, (pl.col("who") == who) & (pl.col("effort") == effort)]
    for rule in rules:
        some = trials.filter(rule)
        if some.height:
            return some
    there = sorted({*trials["who"].unique(), *trials["job"].unique()})
    raise UserError(f"side {name!r}", "no judged trial goes by it", f"one of: {', '.join(there)}; or MODEL@EFFORT")
