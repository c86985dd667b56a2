"""The report's tables as the page shows them: the same figures, as numbers that sort, with their intervals."""

from collections.abc import Callable, Sequence

from incident_arena.analysis.cells import SIMULATED
from incident_arena.analysis.report import Report
from incident_arena.analysis.rows import (
    BestTaskRow,
    FailureRow,
    GroupRow,
    LeftOutRow,
    PassHatKRow,
    Row,
    Span,
    TaskModelRow,
)
from incident_arena.formats.records import Scalar
from incident_arena.viewer.model import Cell, Column, Table

FIRST = ("main", "pass_hat_k", "failures", "task_models")
"""Shown at once; the others open on demand."""
LEFT_OUT = frozenset({"interval", "interval_bootstrap"})
"""The first stands with its figure; the second is for comparison with published figures, in the report alone."""
ELSEWHERE = frozenset({"statuses", "comparison", "trials"})
"""Statuses are among the notes; a comparison is not made for a page."""


def tables(report: Report) -> list[Table]:
    """The tables that have rows, the leaderboard first."""
    made = {}
    mark = SIMULATED if report.simulated else ""
    for name, field in Report.model_fields.items():
        rows = getattr(report, name)
        if name in ELSEWHERE or not isinstance(rows, list) or not rows or not isinstance(rows[0], Row):
            continue
        if name == "failures" and not any(row.inclusive for row in report.failures):
            continue
        if name == "pass_hat_k" and not any(row.k > 1 for row in report.pass_hat_k):
            continue  # with one trial a task it is Pass@1 again
        if name == "groups":
            efforts = [row for row in report.groups if row.dimension == "effort"]
            rows = [row for row in report.groups if row.dimension != "effort"]
            if efforts:
                made["efforts"] = _plain("efforts", f"By effort{mark}", efforts)
        if not rows:
            continue
        turn = _TURNED.get(name)
        title = f"{field.title or name}{mark}"
        made[name] = turn(name, title, rows) if turn else _plain(name, title, rows)
    return [made[name] for name in (*FIRST, *(other for other in made if other not in FIRST)) if name in made]


def _plain(name: str, title: str, rows: Sequence[Row]) -> Table:
    """A line for each row; an interval goes into the cell of the figure before it."""
    estimate = _estimate(list(type(rows[0]).model_fields))
    keys = _ordered([key for key in type(rows[0]).model_fields if key not in LEFT_OUT], rows, estimate)
    fields = {key: type(rows[0]).model_fields[key] for key in keys}
    columns = [
        Column(
            name=f"{field.title or key}{', 95 %' if key == estimate else ''}",
            kind=_kind(key, rows, str(field.annotation)),
            help=field.description or "",
        )
        for key, field in fields.items()
    ]
    lines = [
        [_cell(getattr(row, key), getattr(row, "interval", None) if key == estimate else None) for key in fields]
        for row in rows
    ]
    links = next(iter(fields))
    return Table(
        key=name,
        title=title,
        caption=" ".join((type(rows[0]).__doc__ or "").split()),
        links=links if links in {"who", "task"} else "",
        first=name in FIRST,
        columns=columns,
        rows=lines,
    )


def _ordered(keys: list[str], rows: Sequence[Row], estimate: str) -> list[str]:
    """The figure that has an interval comes right after what names the row: a phone shows no more than that at once."""
    if not estimate:
        return keys
    names = next(place for place, key in enumerate(keys) if not isinstance(getattr(rows[0], key), str))
    others = [key for key in keys[names:] if key != estimate]
    return [*keys[:names], estimate, *others]


def _estimate(keys: list[str]) -> str:
    return keys[keys.index("interval") - 1] if "interval" in keys else ""


def _cell(value: object, interval: Span | None = None, note: str = "") -> Cell:
    if isinstance(value, bool):
        return Cell(value="yes" if value else "no", note=note)
    plain: Scalar = value if isinstance(value, (str, int, float)) or value is None else str(value)
    return Cell(
        value=plain, low=interval.low if interval else None, high=interval.high if interval else None, note=note
    )


def _kind(key: str, rows: Sequence[Row], annotation: str) -> str:
    """What a column holds, by the name and the type of its field."""
    if key.startswith(("cost_", "price_")):
        return "money"
    if key.endswith("_tokens"):
        return "tokens"
    if key.endswith("_seconds"):
        return "duration"
    if "Share" in annotation and not key.startswith("p_"):
        return "share"
    values = [getattr(row, key) for row in rows]
    if any(isinstance(value, (str, bool)) for value in values):
        return "text"
    return "number" if any(isinstance(value, float) for value in values) else "count"


def _turned(
    index: tuple[str, ...], across: str, kind: str, caption: str, cell: Callable[[Row], Cell]
) -> Callable[[str, str, Sequence[Row]], Table]:
    """A long table turned: a line for each `index`, a column for each value of `across`."""

    def turn(name: str, title: str, rows: Sequence[Row]) -> Table:
        fields = type(rows[0]).model_fields
        heads = list(dict.fromkeys(str(getattr(row, across)) for row in rows))
        lines: dict[tuple[str, ...], dict[str, Cell]] = {}
        for row in rows:
            line = lines.setdefault(tuple(str(getattr(row, key)) for key in index), {})
            line[str(getattr(row, across))] = cell(row)
        none = Cell(value=None)
        return Table(
            key=name,
            title=title,
            caption=caption,
            links=index[0] if index[0] in {"who", "task"} else "",
            first=name in FIRST,
            columns=[
                *(Column(name=fields[key].title or key, kind="text") for key in index),
                *(Column(name=head, kind=kind) for head in heads),
            ],
            rows=[
                [*(Cell(value=part) for part in parts), *(line.get(head, none) for head in heads)]
                for parts, line in lines.items()
            ],
        )

    return turn


def _failure(row: Row) -> Cell:
    assert isinstance(row, FailureRow)
    return _cell(row.exclusive, note=f"/ {row.inclusive}")


def _rate(row: Row) -> Cell:
    assert isinstance(row, TaskModelRow)
    return _cell(row.rate, note=f"{row.passed}/{row.trials}")


def _group(row: Row) -> Cell:
    assert isinstance(row, GroupRow)
    return _cell(row.pass_at_1, note=f"n {row.trials}")


def _best(row: Row) -> Cell:
    assert isinstance(row, BestTaskRow)
    return _cell(row.passed / row.trials, note=f"{row.passed}/{row.trials} {row.effort}")


def _curve(row: Row) -> Cell:
    assert isinstance(row, PassHatKRow)
    return _cell(row.value, row.interval, note="1 task" if row.tasks == 1 else f"{row.tasks} tasks")


def _change(row: Row) -> Cell:
    assert isinstance(row, LeftOutRow)
    return _cell(row.change)


_TURNED: dict[str, Callable[[str, str, Sequence[Row]], Table]] = {
    "failures": _turned(
        ("who",), "failure_class", "count", "Failed trials by class: the first that applies / all that apply.", _failure
    ),
    "task_models": _turned(("task",), "who", "heat", "Pass rate of each model on each task.", _rate),
    "groups": _turned(
        ("dimension", "value"), "who", "share", "Pass@1 by kind of task and by effort; n trials.", _group
    ),
    "pass_hat_k": _turned(("who",), "k", "share", "Share of tasks of which k trials in a row all pass.", _curve),
    "best_tasks": _turned(
        ("task",), "who", "heat", "Passing of admitted trials, each model at the effort of its best Pass@1.", _best
    ),
    "left_out": _turned(("task",), "who", "number", "Change of Pass@1 when the task is left out.", _change),
}
