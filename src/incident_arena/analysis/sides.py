"""What a reader may want side by side: each model, each of its efforts, and every pair of them.

The results page chooses among these and computes none: what stands there is what `--compare` says of the same sides.
"""

from itertools import combinations

import polars as pl
from pydantic import Field

from incident_arena.analysis.compare import Side, shared_tasks
from incident_arena.analysis.efforts import rank
from incident_arena.analysis.power import paired
from incident_arena.analysis.rows import FailureRow, GateRow, MainRow, Row, Share, Span, TaskModelRow
from incident_arena.analysis.tables_behaviour import failure_rows
from incident_arena.analysis.tables_rates import gate_rows, main_rows, models, span_row, task_model_rows
from incident_arena.errors import UserError

MOST = 40
"""Sides on a page; their pairs are 780, and take a second or two."""


class SideRow(Row):
    """One model, or one effort of it, with its rows of the report's tables, made of its trials alone."""

    name: str = Field(description="As `--compare` takes it: MODEL, or MODEL@EFFORT.")
    main: MainRow
    tasks: list[TaskModelRow]
    gates: list[GateRow] = Field(description="Under our mapping of checks.")
    failures: list[FailureRow]


class PairRow(Row):
    """Two sides, by their places in the list, over the tasks that both tried; nothing but why not, where none is."""

    a: int
    b: int
    refused: str = Field(default="", description="Why the two can't be compared.")
    tasks: int = 0
    rate_a: Share | None = Field(default=None, description="Mean of A's pass rates on these tasks.")
    rate_b: Share | None = None
    difference: float | None = None
    interval: Span | None = None
    p_paired: Share | None = None


class Sides(Row):
    """All of it. `left_out`: sides that are not among the first `MOST`."""

    sides: list[SideRow]
    pairs: list[PairRow]
    left_out: int = 0


def sides(trials: pl.DataFrame) -> Sides:
    """The sides that there are, models first, and what each pair of them shows.

    Args:
        trials: judged ones with costs, of tasks in which something is broken.
    """
    named = list(_named(trials).items())
    rows, made = [], []
    for name, mine in named[:MOST]:
        made.append(Side.of(name, mine))
        rows.append(
            SideRow(
                name=name,
                main=main_rows(mine)[0],
                tasks=task_model_rows(mine),
                gates=[row for row in gate_rows(mine) if row.mapping == "ours"],
                failures=failure_rows(mine),
            )
        )
    pairs = [_pair(a, b, made[a], made[b]) for a, b in combinations(range(len(made)), 2)]
    return Sides(sides=rows, pairs=pairs, left_out=max(0, len(named) - MOST))


def _named(trials: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Models, best first; then the efforts of those that have several. Of equal names the model's holds."""
    named = {who: trials.filter(pl.col("who") == who) for who in models(trials)}
    for who, mine in list(named.items()):
        if mine["effort"].n_unique() > 1:
            for level in sorted(mine["effort"].drop_nulls().unique(), key=rank):
                named.setdefault(f"{who}@{level}", mine.filter(pl.col("effort") == level))
    return named


def _pair(a: int, b: int, one: Side, other: Side) -> PairRow:
    try:
        both = shared_tasks(one, other)
    except UserError as error:
        return PairRow(a=a, b=b, refused=error.reason)
    found = paired(both["c"], both["n"], both["c_b"], both["n_b"])
    return PairRow(
        a=a,
        b=b,
        tasks=found.tasks,
        rate_a=found.rate_a,
        rate_b=found.rate_b,
        difference=found.difference,
        interval=span_row(found.interval),
        p_paired=found.p_paired,
    )
