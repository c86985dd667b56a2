"""Tables of rates: by model, by kind of task, by task. Frames are those of trial.frame, judged trials only."""

from typing import Literal

import polars as pl

from incident_arena.analysis.efforts import rank, shared, with_level
from incident_arena.analysis.estimates import (
    leave_one_task_out,
    pass_at_1,
    pass_hat_k,
    pass_hat_k_curve,
)
from incident_arena.analysis.intervals import Span, bootstrap_interval, pass_at_1_interval
from incident_arena.analysis.power import separation
from incident_arena.analysis.rows import (
    GateRow,
    GroupRow,
    LeftOutRow,
    MainRow,
    PassHatKRow,
    SeparationRow,
    TaskModelRow,
    TaskRow,
)
from incident_arena.analysis.rows import Span as SpanRow
from incident_arena.formats.task import TaskSpec

ALL = "all"
UNKNOWN = "unknown"
type Facts = dict[str, TaskSpec]


def span_row(span: Span | None) -> SpanRow | None:
    """As a row's cell."""
    return None if span is None else SpanRow(low=span[0], high=span[1])


def per_task(trials: pl.DataFrame) -> pl.DataFrame:
    """Passes and trials of each task, in order of name: columns task, c, n."""
    return (
        trials.group_by("task").agg(pl.col("reward").sum().cast(pl.Int64).alias("c"), pl.len().alias("n")).sort("task")
    )


def models(trials: pl.DataFrame) -> list[str]:
    """The labels, best Pass@1 first, then by name."""
    rates = trials.group_by("who").agg(pl.col("reward").mean().alias("rate"))
    return rates.sort(["rate", "who"], descending=[True, False])["who"].to_list()


def main_rows(trials: pl.DataFrame) -> list[MainRow]:
    """Table 10 of the paper: one row a model, best first."""
    rows = []
    for who in models(trials):
        mine = trials.filter(pl.col("who") == who)
        tasks = per_task(mine)
        unrefused = mine.filter(~pl.col("refused"))
        rows.append(
            MainRow(
                who=who,
                trials=mine.height,
                tasks=tasks.height,
                passed=int(tasks["c"].sum()),
                pass_at_1=pass_at_1(tasks["c"], tasks["n"]),
                interval=span_row(pass_at_1_interval(tasks["c"], tasks["n"])),
                interval_bootstrap=span_row(bootstrap_interval(tasks["c"], tasks["n"])),
                completion=mean(mine, "completion"),
                pass_3=_mean_pass_hat(tasks, 3),
                pass_5=_mean_pass_hat(tasks, 5),
                refused=mine.height - unrefused.height,
                pass_at_1_unrefused=mean(unrefused, "reward"),
                pass_at_1_undeclared=mean(mine, "reward_undeclared"),
                cost_mean=mean(mine, "cost"),
            )
        )
    return rows


def _mean_pass_hat(tasks: pl.DataFrame, k: int) -> float | None:
    """Mean over the tasks with at least k trials; None when there are none."""
    enough = tasks.filter(pl.col("n") >= k)
    return float(pass_hat_k(enough["c"], enough["n"], k).mean()) if enough.height else None


def pass_hat_k_rows(trials: pl.DataFrame) -> list[PassHatKRow]:
    """Pass^k for every k, a model after the other."""
    rows = []
    for who in models(trials):
        tasks = per_task(trials.filter(pl.col("who") == who))
        rows += [
            PassHatKRow(who=who, k=one.k, value=one.value, interval=span_row(one.interval), tasks=one.tasks)
            for one in pass_hat_k_curve(tasks["c"], tasks["n"])
        ]
    return rows


def group_rows(trials: pl.DataFrame, facts: Facts) -> list[GroupRow]:
    """Tables 11 and 14 of the paper, and the same by layer, surface and onset."""
    kinds = {
        "substrate": {task: task.partition("/")[0] for task in trials["task"].unique()},
        "layer": {task: spec.layer for task, spec in facts.items()},
        "surface": {task: spec.surface for task, spec in facts.items()},
        "onset": {task: spec.onset for task, spec in facts.items()},
    }
    rows = []
    for dimension, of in kinds.items():
        column = pl.col("task").replace_strict(of, default=UNKNOWN, return_dtype=pl.String)
        rows += _grouped(trials.with_columns(column.alias("kind")), dimension)
    return rows + _by_effort(trials)


def _grouped(trials: pl.DataFrame, dimension: str) -> list[GroupRow]:
    everyone = models(trials)
    rows = []
    for kind in sorted(trials["kind"].unique()):
        some = trials.filter(pl.col("kind") == kind)
        for who in [ALL, *everyone] if len(everyone) > 1 else everyone:
            mine = some if who == ALL else some.filter(pl.col("who") == who)
            if mine.height:
                rows.append(_group(mine, dimension, kind, who))
    return rows


def _by_effort(trials: pl.DataFrame) -> list[GroupRow]:
    """Pools only models that have every level of the pooled rows; the others have rows of their own alone."""
    levelled = with_level(trials)
    pool = shared(trials)
    rows = []
    for level in sorted(levelled["level"].unique(), key=rank):
        some = levelled.filter(pl.col("level") == level)
        if pool.models and level in pool.levels:
            pooled = some.filter(pl.col("who").is_in(pool.models))
            rows.append(_group(pooled, "effort", level, ALL, ", ".join(pool.models)))
        for who in models(trials):
            mine = some.filter(pl.col("who") == who)
            if mine.height:
                rows.append(_group(mine, "effort", level, who))
    return rows


def _group(mine: pl.DataFrame, dimension: str, kind: str, who: str, pooled: str = "") -> GroupRow:
    tasks = per_task(mine)
    return GroupRow.model_validate(
        {
            "dimension": dimension,
            "value": kind,
            "who": who,
            "trials": mine.height,
            "tasks": tasks.height,
            "pass_at_1": pass_at_1(tasks["c"], tasks["n"]),
            "interval": span_row(pass_at_1_interval(tasks["c"], tasks["n"])),
            "completion": mean(mine, "completion"),
            "cost_mean": mean(mine, "cost"),
            "pooled": pooled,
        }
    )


def task_rows(trials: pl.DataFrame, facts: Facts) -> list[TaskRow]:
    """Table 6 of the paper."""
    rows = []
    for task in sorted(trials["task"].unique()):
        mine = trials.filter(pl.col("task") == task)
        spec = facts.get(task)
        rows.append(
            TaskRow(
                task=task,
                layer=spec.layer if spec else UNKNOWN,
                surface=spec.surface if spec else UNKNOWN,
                onset=spec.onset if spec else UNKNOWN,
                causes=len(spec.faults) if spec else _causes(mine),
                faults=" ".join(fault.name for fault in spec.faults) if spec else UNKNOWN,
                trials=mine.height,
                pass_at_1=mean(mine, "reward") or 0.0,
                completion=mean(mine, "completion"),
            )
        )
    return rows


def _causes(trials: pl.DataFrame) -> int | None:
    value = trials["faults"].max()
    return value if isinstance(value, int) else None


def task_model_rows(trials: pl.DataFrame) -> list[TaskModelRow]:
    """Table 12 of the paper, one row a cell: tasks by name, models best first."""
    counts = trials.group_by("task", "who").agg(pl.col("reward").sum().cast(pl.Int64).alias("c"), pl.len().alias("n"))
    order = {who: place for place, who in enumerate(models(trials))}
    cells = sorted(counts.iter_rows(named=True), key=lambda cell: (cell["task"], order[cell["who"]]))
    return [
        TaskModelRow(task=cell["task"], who=cell["who"], trials=cell["n"], passed=cell["c"], rate=cell["c"] / cell["n"])
        for cell in cells
    ]


def gate_rows(trials: pl.DataFrame) -> list[GateRow]:
    """Table 8 of the paper, under our mapping of checks to gates, then under the paper's where verdicts hold it."""
    rows = _gates(trials, "ours", "outcome", "safety")
    known = trials.filter(pl.col("paper_outcome").is_not_null())
    return rows + _gates(known, "paper", "paper_outcome", "paper_safety")


def _gates(trials: pl.DataFrame, mapping: Literal["ours", "paper"], outcome: str, safety: str) -> list[GateRow]:
    rows = []
    for task in sorted(trials["task"].unique()):
        mine = trials.filter(pl.col("task") == task)
        counts = {(o, s): n for o, s, n in mine.group_by(outcome, safety).len().iter_rows()}
        four = {(o, s): counts.pop((o, s), 0) for o in ("pass", "fail") for s in ("pass", "fail")}
        rows.append(
            GateRow(
                mapping=mapping,
                task=task,
                pass_pass=four["pass", "pass"],
                pass_fail=four["pass", "fail"],
                fail_pass=four["fail", "pass"],
                fail_fail=four["fail", "fail"],
                undecided=sum(counts.values()),
            )
        )
    return rows


def left_out_rows(trials: pl.DataFrame) -> list[LeftOutRow]:
    """Each model's Pass@1 without each task."""
    rows = []
    for who in models(trials):
        tasks = per_task(trials.filter(pl.col("who") == who))
        names = tasks["task"].to_list()
        rows += [
            LeftOutRow(task=names[one.task], who=who, pass_at_1=one.value, change=one.change)
            for one in leave_one_task_out(tasks["c"], tasks["n"])
        ]
    return rows


def separation_rows(trials: pl.DataFrame) -> list[SeparationRow]:
    """How far each task separates models; none with a single model."""
    everyone = models(trials)
    if len(everyone) < 2:  # noqa: PLR2004 - a pair
        return []
    counts = trials.group_by("task", "who").agg(pl.col("reward").sum().cast(pl.Int64).alias("c"), pl.len().alias("n"))
    wide = [
        counts.pivot(on="who", index="task", values=value).sort("task").fill_null(0).select("task", *everyone)
        for value in ("c", "n")
    ]
    found = separation(wide[0].drop("task").to_numpy(), wide[1].drop("task").to_numpy())
    return [
        SeparationRow(
            task=task,
            spread=one.spread,
            true_spread=one.true_spread,
            p_same=one.p_same,
            rest_correlation=one.rest_correlation,
        )
        for task, one in zip(wide[0]["task"], found, strict=True)
    ]


def mean(trials: pl.DataFrame, column: str) -> float | None:
    """Mean of a column where it is known; None where it never is."""
    value = trials[column].mean()
    return None if value is None else float(value)  # type: ignore[arg-type]
