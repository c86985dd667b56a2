"""A report as terminal text, Markdown, CSV or JSON."""

import csv
import io
import re
from collections.abc import Collection, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from incident_arena.analysis.cells import Grid, grids
from incident_arena.analysis.layout import Part, fit
from incident_arena.analysis.report import Report
from incident_arena.analysis.rows import Row, Span
from incident_arena.plain import json_safe
from incident_arena.plain import one_line as clean

WIDE = 200
"""Columns of a terminal that is none (a file, a pipe)."""
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>|#~&])")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def terminal(report: Report, only: Sequence[str] = (), *, width: int | None = None, colour: bool = False) -> str:
    """Tables drawn with lines; `width` in characters."""
    buffer = io.StringIO()
    console = Console(file=buffer, width=width or WIDE, force_terminal=colour, highlight=False)
    for grid in grids(report, only):
        parts = fit(grid, console.width)
        for number, part in enumerate(parts, start=1):
            title = grid.title if len(parts) == 1 else f"{grid.title} ({number} of {len(parts)})"
            console.print(_drawn(part, title))
        console.print(Text(grid.legend, style="dim italic"))
        console.print()
    for note in _notes(report):
        console.print(Text(f"note: {note}"), soft_wrap=True)
    return buffer.getvalue()


def _drawn(part: Part, title: str) -> Table:
    table = Table(title=Text(title), title_justify="left")
    for place, column in enumerate(part.grid.columns):
        words = place in part.grid.text_columns
        width = part.widths[place]
        table.add_column(Text(column), justify="left" if words else "right", overflow="fold", width=width)
    for row in part.grid.rows:
        table.add_row(*(Text(one) for one in row))
    return table


def markdown(report: Report, only: Sequence[str] = (), *, pictures: Collection[str] = ()) -> str:
    """A document with one section a table. Text of others is escaped: it can't become markup.

    Args:
        report: the report.
        only: tables to write; none: all.
        pictures: files beside the document, each shown with the table that it is named for.
    """
    parts = ["# Results", "", f"Incident-Arena {_escape(report.product)}; jobs: {_escape(', '.join(report.jobs))}.", ""]
    parts += [f"- {_escape(note)}" for note in _notes(report)]
    for grid in grids(report, only):
        shown = ["", f"![{_escape(grid.title)}]({grid.name}.svg)"] if f"{grid.name}.svg" in pictures else []
        parts += ["", f"## {_escape(grid.title)}", *shown, "", *_markdown_table(grid), "", _escape(grid.legend)]
    return "\n".join(parts) + "\n"


def _markdown_table(grid: Grid) -> list[str]:
    rule = ("---" if place in grid.text_columns else "---:" for place in range(len(grid.columns)))
    lines = (grid.columns, *grid.rows)
    rows = ["| " + " | ".join(_escape(one) for one in line) + " |" for line in lines]
    return [rows[0], "| " + " | ".join(rule) + " |", *rows[1:]]


def _escape(text: str) -> str:
    return _MARKDOWN.sub(r"\\\1", clean(text))


def csv_tables(report: Report, only: Sequence[str] = ()) -> dict[str, str]:
    """Each table with rows as CSV, by name: one column a field, an interval as two. The notes too, as `notes`.

    Text that a spreadsheet would take for a formula gets an apostrophe in front. Where simulated trials were read, each
    table has a last column that says so, because a file may go on alone.
    """
    tables: dict[str, Sequence[Row]] = {}
    for name in Report.model_fields:
        rows = getattr(report, name)
        if isinstance(rows, list) and rows and isinstance(rows[0], Row):
            tables[name] = rows
    if report.comparison:
        tables["comparison"] = [report.comparison.result]
        tables["comparison_tasks"] = report.comparison.tasks
    mark = bool(report.simulated)
    texts = {name: _csv(rows, mark) for name, rows in tables.items() if not only or name.removesuffix("_tasks") in only}
    if not only:
        texts["notes"] = _csv_lines([["note"], *([_guard(note)] for note in _notes(report))])
    return texts


def _csv(rows: Sequence[Row], simulated: bool) -> str:  # noqa: FBT001 - a fact of the report
    fields = type(rows[0]).model_fields
    mark = {"simulated": True} if simulated and "simulated" not in fields else {}
    heads: list[str] = []
    for key, field in fields.items():
        heads += [f"{key}_low", f"{key}_high"] if _holds_span(field.annotation) else [key]
    lines: list[list[object]] = [[*heads, *mark]]
    for row in rows:
        line: list[object] = []
        for key, field in fields.items():
            value = getattr(row, key)
            if _holds_span(field.annotation):
                line += [value.low, value.high] if value else [None, None]
            else:
                line.append(_guard(value) if isinstance(value, str) else value)
        lines.append([*line, *mark.values()])
    return _csv_lines(lines)


def _csv_lines(lines: Sequence[Sequence[object]]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows(lines)
    return buffer.getvalue()


def _holds_span(annotation: object) -> bool:
    return annotation is Span or Span in getattr(annotation, "__args__", ())


def _guard(text: str) -> str:
    plain = clean(text)
    return f"'{plain}" if plain.startswith(_FORMULA) else plain


def json_document(report: Report, only: Sequence[str] = ()) -> str:
    """The whole report (docs/reference/schemas/report.json describes it), or the tables that are asked for."""
    keep = {"version", "product", "simulated", "jobs", "notes", *only} if only else None
    return json_safe(report.model_dump_json(indent=1, include=keep)) + "\n"


def _notes(report: Report) -> list[str]:
    compared = report.comparison.notes if report.comparison else []
    return [clean(note) for note in [*report.notes, *compared]]
