"""What `arena report` does."""

import gc
import os
import shutil
import sys
from pathlib import Path

import polars as pl

from incident_arena.analysis import job_files
from incident_arena.analysis.cells import table_names
from incident_arena.analysis.compare import compare_sides
from incident_arena.analysis.cost import load_prices
from incident_arena.analysis.pictures import pictures
from incident_arena.analysis.read import read_some
from incident_arena.analysis.render import WIDE, csv_tables, json_document, markdown, terminal
from incident_arena.analysis.report import Report, build, labelled
from incident_arena.analysis.shapes import svg
from incident_arena.catalogue.finding import SPEC, TASKS, find
from incident_arena.cli.say import say
from incident_arena.errors import UserError
from incident_arena.settings import Settings

NARROW = 80


def make_report(
    jobs: list[Path], *, tasks: Path | None = None, prices: Path | None = None, compare: tuple[str, str] | None = None
) -> Report:
    """Read job folders and make their report.

    Facts and proofs of tasks are this product's, or those of the substrates in the folder `tasks`.

    Raises:
        UserError: a folder holds no job, a file of prices or tasks is wrong, or a side of the comparison is unknown.
        InfrastructureError: the folders hold not one trial.
    """
    folders = task_folders(tasks)
    # What is read lives to the end: looking for garbage in it again and again took a fifth of the time.
    gc.disable()
    try:
        reading = read_some(jobs)
        document = build(reading, load_prices(prices), tasks=folders)
    finally:
        gc.enable()
    if compare is None:
        return document
    trials = labelled(reading.trials, []).filter((pl.col("status") == "judged") & ~pl.col("no_fault"))
    return document.model_copy(update={"comparison": compare_sides(trials, *compare)})


def task_folders(given: Path | None) -> dict[str, Path]:
    """Folders of tasks by name: this product's, or those of the substrates in the folder that is given.

    Raises:
        UserError: the one that is given is no folder of substrates with tasks.
    """
    if given is None:
        return find(Settings.from_environment()).tasks()
    remedy = f"name the folder that holds <substrate>/{TASKS}/<task>"
    if not given.is_dir():
        raise UserError(f"tasks '{given}'", "there is no such folder", remedy)
    found = {f"{path.parents[2].name}/{path.parent.name}": path.parent for path in given.glob(f"*/{TASKS}/*/{SPEC}")}
    if not found:
        raise UserError(f"tasks '{given}'", "there are no tasks in it", remedy)
    return found


def write(document: Report, form: str, only: list[str], out: Path | None) -> None:
    """Print the report, or write its files into `out`.

    Args:
        document: the report.
        form: terminal, markdown, csv, json or svg.
        only: tables to write; none: all.
        out: folder, made if need be; None: standard output.

    Raises:
        UserError: a table that does not exist, CSV of several tables on standard output, or `out` can't be written.
    """
    unknown = sorted(set(only) - set(table_names()))
    only = [*only, "comparison"] if only and document.comparison else only
    if unknown:
        raise UserError(f"table {unknown[0]!r}", "there is no such table", f"one of: {', '.join(table_names())}")
    if form == "csv" and out is None and len(only) != 1:
        raise UserError("--format csv", "it is one file a table", "give --out DIR, or one --table NAME")
    if form == "svg" and out is None:
        raise UserError("--format svg", "it is one file a picture", "give --out DIR")
    files = _files(document, form, only, to_file=out is not None)
    if out is None:
        sys.stdout.write("".join(files.values()))
        return
    try:
        out.mkdir(parents=True, exist_ok=True)
        for old in _written(form) - set(files):
            (out / old).unlink(missing_ok=True)
        for name, text in files.items():
            job_files.replace(out.resolve(), name, text)
            say(f"wrote {out / name}")
    except OSError as error:
        reason = "it is a file" if out.is_file() else error.strerror or str(error)
        raise UserError(f"--out '{out}'", reason, "name a folder; it is made if need be") from error


def _written(form: str) -> set[str]:
    """Names of all files that a report in this format may have: an earlier one's must not stand beside this one's."""
    if form in {"markdown", "svg"}:
        return {f"{name}.svg" for name in table_names()}
    if form != "csv":
        return set()
    return {f"{name}.csv" for name in (*table_names(), "comparison_tasks", "notes")}


def _files(document: Report, form: str, only: list[str], *, to_file: bool) -> dict[str, str]:
    if form == "csv":
        return {f"{name}.csv": text for name, text in csv_tables(document, only).items()}
    if form == "markdown":
        drawn = _drawn(document, only) if to_file else {}
        return {"report.md": markdown(document, only, pictures=frozenset(drawn)), **drawn}
    if form == "svg":
        return _drawn(document, only)
    if form == "json":
        return {"report.json": json_document(document, only)}
    tty = sys.stdout.isatty() and not to_file
    width = max(NARROW, shutil.get_terminal_size().columns) if tty else WIDE
    return {"report.txt": terminal(document, only, width=width, colour=tty and "NO_COLOR" not in os.environ)}


def _drawn(document: Report, only: list[str]) -> dict[str, str]:
    """SVG files by name; a picture is named for its table."""
    return {f"{one.name}.svg": svg(one) for one in pictures(document) if not only or one.name in only}
