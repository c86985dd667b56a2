"""Tables of a report as text cells, the same for every format that a person reads."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

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
from incident_arena.plain import one_line as clean

MISSING = "-"
SMALL_P = 0.001
MILLION = 1_000_000
USAGE = frozenset({"input_tokens", "cached_tokens", "cache_write_tokens", "output_tokens", "turns", "agent_seconds"})
PRICES = frozenset(
    {"price_input", "price_output", "cost_mean", "cost_median", "cost_passing", "cost_failing", "costed"}
    | {"cost_reported", "pass_at_1", "developer", "per_task", "tasks"}
)
"""The configurations' columns fill two tables."""
FILES_ALONE = frozenset({"trials"})
"""Tables of one row a trial: in CSV and JSON, and elsewhere only where they are asked for."""
SIMULATED = " (simulated)"
KEYS: dict[str, tuple[str, ...]] = {
    "unusable": ("job", "trial"),
    "trials": ("job", "trial"),
    "configurations": ("agent", "model"),
    "groups": ("value", "who"),
    "gates": ("mapping", "task"),
    "errored": ("who", "cause"),
    "failures": ("failure_class",),
    "judges": ("judge", "who"),
    "agreement": ("first", "second"),
    "both_ways": ("task", "run"),
    "comparison": ("a", "b"),
}
"""What names a row, where that is not the first column."""


@dataclass(frozen=True)
class Grid:
    """One table: `name` is the report's field, `legend` explains it. All text is plain, without control characters."""

    name: str
    title: str
    legend: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    text_columns: frozenset[int]
    """Columns that hold words, set to the left."""
    keys: tuple[int, ...] = (0,)
    """Columns that name a row, repeated where the table is broken."""


def grids(report: Report, only: Sequence[str] = ()) -> Iterator[Grid]:
    """The tables that have rows, in the report's order; wide ones turned so that models are columns."""
    mark = SIMULATED if report.simulated else ""
    for name, field in Report.model_fields.items():
        rows = getattr(report, name)
        if name not in only if only else name in FILES_ALONE:
            continue
        if name == "comparison" and report.comparison:
            yield _plain("comparison", f"Comparison{mark}", [report.comparison.result])
            yield _plain("comparison_tasks", f"Comparison by task{mark}", report.comparison.tasks)
        elif isinstance(rows, list) and rows and isinstance(rows[0], Row):
            title = f"{field.title or name}{mark}"
            if name == "configurations":
                yield _plain(name, title, rows, leave_out=USAGE)
                yield _plain(name, f"Tokens and time of a trial{mark}", rows, leave_out=PRICES)
            elif name == "groups":
                yield from _groups(name, title, f"By effort{mark}", rows)
            else:
                yield _pivot(name, title, rows) if name in _PIVOTS else _plain(name, title, rows)


def table_names() -> list[str]:
    """The names of all tables."""
    others = {"version", "product", "simulated", "jobs", "notes"}
    return [name for name in Report.model_fields if name not in others]


def _groups(name: str, title: str, effort_title: str, rows: Sequence[Row]) -> Iterator[Grid]:
    """Kinds of tasks turned; efforts as rows, with what they cost."""
    kinds = [row for row in rows if isinstance(row, GroupRow) and row.dimension != "effort"]
    efforts = [row for row in rows if isinstance(row, GroupRow) and row.dimension == "effort"]
    if kinds:
        yield _pivot(name, title, kinds)
    if efforts:
        grid = _plain(name, effort_title, efforts, leave_out=frozenset({"dimension", "pooled"}))
        pooled = next((row.pooled for row in efforts if row.pooled), "")
        legend = f"{grid.legend} `all` pools only: {clean(pooled)}." if pooled else grid.legend
        yield replace(grid, legend=legend)


def _plain(name: str, title: str, rows: Sequence[Row], leave_out: frozenset[str] = frozenset()) -> Grid:
    fields = {key: field for key, field in type(rows[0]).model_fields.items() if key not in leave_out}
    legend = [f"{field.title}: {field.description}" for field in fields.values() if field.description]
    words = {place for place, key in enumerate(fields) if isinstance(getattr(rows[0], key), str)}
    return Grid(
        name=name,
        title=title,
        legend=" ".join(" ".join([type(rows[0]).__doc__ or "", *legend]).split()),
        columns=tuple(field.title or key for key, field in fields.items()),
        rows=tuple(tuple(cell(key, getattr(row, key)) for key in fields) for row in rows),
        text_columns=frozenset(words),
        keys=tuple(place for place, key in enumerate(fields) if key in KEYS.get(name, ())) or (0,),
    )


@dataclass(frozen=True)
class _Turn:
    """How a long table is turned: one line for each `index`, one column for each `column`."""

    index: tuple[str, ...]
    column: str
    cell: Callable[[Row], str]
    legend: str


def _group(row: Row) -> str:
    assert isinstance(row, GroupRow)
    completion = f" ({row.completion:.3f})" if row.completion is not None else ""
    return f"{row.pass_at_1:.3f}{completion} n={row.trials}"


def _failure(row: Row) -> str:
    assert isinstance(row, FailureRow)
    share = f" {row.share:.1%}" if row.share is not None else ""
    return f"{row.exclusive}{share} / {row.inclusive}"


def _best(row: Row) -> str:
    assert isinstance(row, BestTaskRow)
    return f"{row.passed}/{row.trials} {row.effort}"


def _curve(row: Row) -> str:
    assert isinstance(row, PassHatKRow)
    span = f" {cell('interval', row.interval)}" if row.interval else ""
    return f"{row.value:.3f}{span} T={row.tasks}"


def _rate(row: Row) -> str:
    assert isinstance(row, TaskModelRow)
    return f"{row.rate:.2f} n={row.trials}"


def _change(row: Row) -> str:
    assert isinstance(row, LeftOutRow)
    return f"{row.change:+.3f}"


_PIVOTS: dict[str, _Turn] = {
    "groups": _Turn(("dimension", "value"), "who", _group, "Pass@1 (action completion), n trials."),
    "failures": _Turn(("failure_class",), "who", _failure, "Exclusive count and share / inclusive count."),
    "pass_hat_k": _Turn(("who",), "k", _curve, "Pass^k with its 95 % interval over T tasks, for each k."),
    "task_models": _Turn(("task",), "who", _rate, "Pass rate, n trials."),
    "best_tasks": _Turn(
        ("task",), "who", _best, "Passed of admitted trials, at the effort of the model's best Pass@1."
    ),
    "left_out": _Turn(("task",), "who", _change, "Change of Pass@1 when the task is left out."),
}


def _pivot(name: str, title: str, rows: Sequence[Row]) -> Grid:
    turn = _PIVOTS[name]
    fields = type(rows[0]).model_fields
    heads = list(dict.fromkeys(str(getattr(row, turn.column)) for row in rows))
    lines: dict[tuple[str, ...], dict[str, str]] = {}
    for row in rows:
        index = tuple(clean(str(getattr(row, key))) for key in turn.index)
        lines.setdefault(index, {})[str(getattr(row, turn.column))] = turn.cell(row)
    return Grid(
        name=name,
        title=title,
        legend=turn.legend,
        columns=(*(fields[key].title or key for key in turn.index), *(clean(head) for head in heads)),
        rows=tuple((*index, *(cells.get(head, MISSING) for head in heads)) for index, cells in lines.items()),
        text_columns=frozenset(range(len(turn.index))),
        keys=tuple(range(len(turn.index))),
    )


def cell(key: str, value: object) -> str:
    """A value as text: money with cents, seconds whole, shares with three places, intervals in brackets."""
    if value is None:
        return MISSING
    if isinstance(value, Span):
        return f"[{value.low:.3f}, {value.high:.3f}]"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return _number(key, value)
    if isinstance(value, int):
        return _number(key, value) if key.endswith("_tokens") else f"{value:,}"
    return clean(str(value))


def _number(key: str, value: float) -> str:
    if key.startswith(("cost", "price")):
        return f"{value:.2f}"
    if key.endswith("_tokens"):
        return f"{value / MILLION:.2f}M" if value >= MILLION else f"{value:,.0f}"
    if key.endswith("_seconds") or key == "turns":
        return f"{value:,.0f}"
    if key.startswith("p_") and value < SMALL_P:
        return "<0.001"
    return f"{value:+.3f}" if key in {"change", "difference", "without"} else f"{value:.3f}"
