"""A against B: over the tasks that both tried, with intervals, tests and what could have been seen at all."""

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


def compare_sides(trials: pl.DataFrame, a: str, b: str) -> Compared:
    """Compare two sides among judged trials.

    Args:
        trials: judged ones, of tasks in which something is broken.
        a: a side: a model's label, or `label@effort` for one effort of it, or a job's name.
        b: the other.

    Raises:
        UserError: a side has no trials, or the two share no task.
    """
    sides = {name: side(trials, name) for name in (a, b)}
    shared = set(sides[a]["folder"]) & set(sides[b]["folder"])
    if a == b:
        raise UserError(f"comparison of {a!r} with itself", "both sides are the same trials", "name two sides")
    if shared:
        reason = f"they share {len(shared)} trials, so that no test between them holds"
        raise UserError(f"comparison of {a!r} and {b!r}", reason, "name sides that have no trial in common")
    counts = [per_task(some) for some in sides.values()]
    both = counts[0].join(counts[1], on="task", suffix="_b").sort("task")
    if both.is_empty():
        raise UserError(f"comparison of {a!r} and {b!r}", "they share no task", "compare sides that ran the same tasks")
    found = compare(both["c"], both["n"], both["c_b"], both["n_b"])
    notes = [
        f"{counts[number].height - both.height} tasks that only {name} has are left out"
        for number, name in enumerate(sides)
        if counts[number].height > both.height
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
