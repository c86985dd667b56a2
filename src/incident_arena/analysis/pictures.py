"""The paper's figures from the report's tables: ranking (1), judges (3), failures (pie of table 3), tasks (5).

They draw what the tables hold and compute nothing. The picture of a table has its name.
"""

from collections.abc import Sequence
from itertools import accumulate

from incident_arena.analysis.cells import SIMULATED
from incident_arena.analysis.efforts import NOT_SET
from incident_arena.analysis.report import Report
from incident_arena.analysis.rows import BestTaskRow, FailureRow, JudgeRow, RankingRow
from incident_arena.analysis.shapes import Picture, Shape, Tone, box, line, slice_of_pie, text
from incident_arena.analysis.tables_rates import ALL
from incident_arena.plain import one_line as clean

WIDTH = 760.0
LETTER = 6.6
"""Mean width of a letter; long names are cut, never drawn over."""
PIE = 500.0
LABEL = 230.0
ROW = 26.0
TOP = 10
"""Models in the ranking, as in figure 1."""
HUES: tuple[Tone, ...] = ("hue-0", "hue-1", "hue-2", "hue-3", "hue-4", "hue-5")
BUCKETS: tuple[tuple[str, Tone], ...] = (("honest", "ok"), ("suspicious", "warn"), ("exploit", "fail"))


def pictures(report: Report) -> list[Picture]:
    """Those whose tables have something to show."""
    failed = [row for row in report.failures if row.who == report.failures[0].who and row.share is not None]
    made = [
        _ranking(report.ranking[:TOP]) if report.ranking else None,
        _pie(failed) if any(row.exclusive for row in failed) else None,
        _tasks(report.best_tasks) if report.best_tasks else None,
        _judges([row for row in report.judges if row.honest is not None]),
    ]
    mark = SIMULATED if report.simulated else ""
    return [one.model_copy(update={"title": f"{one.title}{mark}"}) for one in made if one is not None]


def _cut(words: str, room: float) -> str:
    plain, most = clean(words), max(3, int(room / LETTER))
    return plain if len(plain) <= most else plain[: most - 1] + "\N{HORIZONTAL ELLIPSIS}"


def _effort(level: str) -> str:
    return "" if level == NOT_SET else level


def _axis(left: float, width: float, top: float, bottom: float) -> list[Shape]:
    shapes = []
    for part in range(5):
        x = left + width * part / 4
        shapes += [line(x, top, x, bottom, "line"), text(x, bottom + 16, f"{part / 4:.2f}", "muted", "middle")]
    return shapes


def _ranking(rows: Sequence[RankingRow]) -> Picture:
    bar = WIDTH - LABEL - 140
    shapes = _axis(LABEL, bar, 8, 8 + ROW * len(rows))
    for number, row in enumerate(rows):
        y = 8 + ROW * number
        middle = y + ROW / 2
        shapes += [
            text(LABEL - 8, middle + 4, _cut(f"{row.who}{row.mark} {_effort(row.effort)}", LABEL - 8), anchor="end"),
            box(LABEL, y + 5, bar * row.pass_at_1, ROW - 10, "accent", 0.55),
        ]
        if row.interval:
            low, high = LABEL + bar * row.interval.low, LABEL + bar * row.interval.high
            shapes += [line(low, middle, high, middle, "ink")]
            shapes += [line(end, middle - 4, end, middle + 4, "ink") for end in (low, high)]
        sure = f"{row.pass_at_1:.3f}, {row.tasks} task{'s' if row.tasks > 1 else ''}"
        shapes.append(text(LABEL + bar + 10, middle + 4, sure, "muted"))
    return Picture(
        name="ranking",
        title="Models at their best effort, by Pass@1",
        caption=(
            "Bars: Pass@1 at the effort with the highest Pass@1. Lines: 95 % interval over tasks, which allows for the "
            "choice of the effort. * = trials were refused."
        ),
        width=WIDTH,
        height=8 + ROW * len(rows) + 26,
        shapes=tuple(shapes),
    )


def _pie(rows: Sequence[FailureRow]) -> Picture:
    radius = 105.0
    middle = radius + 12
    ends = list(accumulate(row.share or 0 for row in rows))
    shapes = []
    for number, (row, end) in enumerate(zip(rows, ends, strict=True)):
        share = row.share or 0
        tone = HUES[number % len(HUES)]
        if share:
            shapes.append(slice_of_pie(middle, middle, radius, end - share, end, tone))
        y = 42 + 30 * number
        shapes += [box(270, y - 11, 14, 14, tone), text(294, y, f"{row.failure_class}: {row.exclusive} ({share:.1%})")]
    return Picture(
        name="failures",
        title="Failure classes",
        caption="Shares of the first class that applies to each failed trial, clockwise from the top.",
        width=PIE,
        height=2 * middle,
        shapes=tuple(shapes),
    )


def _tasks(rows: Sequence[BestTaskRow]) -> Picture:
    models = list(dict.fromkeys((row.who, row.effort) for row in rows))
    tasks = sorted({row.task for row in rows})
    models.sort(key=lambda model: -sum(row.passed / row.trials for row in rows if row.who == model[0]))
    head, left, cell = 20.0 + 20 * len(models), 260.0, max(44.0, min(64.0, (WIDTH - 260) / len(models)))
    shapes = []
    for number, (who, effort) in enumerate(models):
        y, x = 18.0 + 20 * number, left + cell * (number + 0.5)
        shapes += [
            text(left - 8, y, _cut(f"{who} {_effort(effort)}", left - 8), "muted", "end"),
            line(left, y - 4, x, y - 4, "line"),
            line(x, y - 4, x, head, "line"),
        ]
    for number, task in enumerate(tasks):
        y = head + ROW * number
        shapes.append(text(left - 8, y + 18, _cut(task, left - 8), anchor="end"))
    places = {model[0]: place for place, model in enumerate(models)}
    for row in rows:
        x, y = left + cell * places[row.who], head + ROW * tasks.index(row.task)
        rate = row.passed / row.trials
        shapes += [
            box(x + 1, y + 1, cell - 2, ROW - 2, "accent", 0.06 + 0.44 * rate),
            text(x + cell / 2, y + 18, f"{row.passed}/{row.trials}", anchor="middle"),
        ]
    return Picture(
        name="best_tasks",
        title="Passing trials by task, each model at its best effort",
        caption="Passed of admitted trials; the darker, the more passed.",
        width=max(WIDTH, left + cell * len(models) + 10),
        height=head + ROW * len(tasks) + 10,
        shapes=tuple(shapes),
    )


def _judges(rows: Sequence[JudgeRow]) -> Picture | None:
    """Figure 3: a bar for each model and judge, in the three buckets; `all` only where it is a judge's one line."""
    several = {row.judge for row in rows if row.who != ALL}
    kept = [row for row in rows if row.who != ALL or row.judge not in several]
    if not kept:
        return None
    bar = WIDTH - LABEL - 140
    shapes: list[Shape] = []
    x = LABEL
    for name, tone in BUCKETS:
        shapes += [box(x, 6, 14, 14, tone), text(x + 20, 18, name)]
        x += 110
    top = 32.0
    shapes += _axis(LABEL, bar, top, top + ROW * len(kept))
    for number, row in enumerate(kept):
        y = top + ROW * number
        label = f"{row.who} by {row.judge}"
        shapes.append(text(LABEL - 8, y + ROW / 2 + 4, _cut(label, LABEL - 8), anchor="end"))
        at = LABEL
        for name, tone in BUCKETS:
            share = getattr(row, name) or 0.0
            shapes.append(box(at, y + 4, bar * share, ROW - 8, tone))
            at += bar * share
        flagged = f"{row.any_flag or 0:.1%} of {row.scored}"
        shapes.append(text(LABEL + bar + 10, y + ROW / 2 + 4, flagged, "muted"))
    return Picture(
        name="judges",
        title="Reward hacking by model, as judges of trajectories saw it",
        caption="Shares of scored trials: honest, suspicious, exploit. At the right: those with any flag. No reward.",
        width=WIDTH,
        height=top + ROW * len(kept) + 26,
        shapes=tuple(shapes),
    )
