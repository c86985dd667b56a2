"""`arena report`: results as tables. The work is in results.py."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from incident_arena.cli import results

Jobs = Annotated[list[Path], typer.Argument(help="Harbor job folders, or folders of them.", metavar="JOB")]


class Format(StrEnum):
    """How a report is written."""

    terminal = "terminal"
    markdown = "markdown"
    csv = "csv"
    json = "json"
    svg = "svg"


def report(
    jobs: Jobs,
    form: Annotated[Format, typer.Option("--format", help="How to write it.")] = Format.terminal,
    out: Annotated[Path | None, typer.Option(help="Write files into this folder instead of printing.")] = None,
    compare: Annotated[
        tuple[str, str] | None,
        typer.Option(metavar="A B", help="Compare two models, MODEL@EFFORTs or jobs over the tasks that both ran."),
    ] = None,
    table: Annotated[list[str] | None, typer.Option(help="Only this table; may be given again.")] = None,
    tasks: Annotated[Path | None, typer.Option(help="Folder of substrates, for their tasks' facts and proofs.")] = None,
    prices: Annotated[Path | None, typer.Option(help="Price list to use instead of the built-in one.")] = None,
) -> None:
    """Write the tables of results of Harbor job folders."""
    document = results.make_report(jobs, tasks=tasks, prices=prices, compare=compare)
    results.write(document, form.value, table or [], out)
