"""Tables of models at their best effort, and one line over all. Frames are those of trial.frame, judged trials only."""

import polars as pl

from incident_arena.analysis.efforts import best_efforts, with_level
from incident_arena.analysis.estimates import pass_at_1
from incident_arena.analysis.intervals import pass_at_1_interval
from incident_arena.analysis.rows import BestTaskRow, OverallRow, RankingRow
from incident_arena.analysis.tables_rates import mean, per_task, span_row


def ranking_rows(trials: pl.DataFrame) -> list[RankingRow]:
    """Figure 1 of the paper: each model at its best effort, best first."""
    rows = []
    levelled = with_level(trials)
    for best in best_efforts(trials):
        mine = levelled.filter((pl.col("who") == best.who) & (pl.col("level") == best.level))
        tasks = per_task(mine)
        refused = int(mine["refused"].sum())
        rows.append(
            RankingRow(
                who=best.who,
                mark="*" if refused else "",
                effort=best.level,
                of_efforts=best.of,
                tasks=tasks.height,
                trials=mine.height,
                pass_at_1=pass_at_1(tasks["c"], tasks["n"]),
                interval=span_row(pass_at_1_interval(tasks["c"], tasks["n"], choices=best.of)),
                refused=refused,
                cost_mean=mean(mine, "cost"),
            )
        )
    return rows


def best_task_rows(trials: pl.DataFrame) -> list[BestTaskRow]:
    """Figure 5 of the paper, one row a cell: tasks by name, models at their best effort, best first."""
    levelled = with_level(trials)
    best = best_efforts(trials)
    counts = {
        (task, who, level): (c, n)
        for task, who, level, c, n in levelled.group_by("task", "who", "level")
        .agg(pl.col("reward").sum().cast(pl.Int64), pl.len())
        .iter_rows()
    }
    return [
        BestTaskRow(task=task, who=one.who, effort=one.level, passed=cell[0], trials=cell[1])
        for task in sorted(trials["task"].unique())
        for one in best
        if (cell := counts.get((task, one.who, one.level)))
    ]


def overall_rows(trials: pl.DataFrame) -> list[OverallRow]:
    """One line over all trials; none without any."""
    if trials.is_empty():
        return []
    tasks = per_task(trials)
    tokens = trials.select(tokens=pl.col("input_tokens") + pl.col("output_tokens"))
    return [
        OverallRow(
            models=trials["who"].n_unique(),
            tasks=tasks.height,
            trials=trials.height,
            passed=int(tasks["c"].sum()),
            pass_at_1=pass_at_1(tasks["c"], tasks["n"]),
            interval=span_row(pass_at_1_interval(tasks["c"], tasks["n"])),
            pass_at_1_undeclared=mean(trials, "reward_undeclared"),
            mean_tokens=mean(tokens, "tokens"),
            tokens_known=tokens["tokens"].count(),
            turns=mean(trials, "turns"),
            turns_known=trials["turns"].count(),
            cost_mean=mean(trials, "cost"),
            costed=trials["cost"].count(),
        )
    ]
