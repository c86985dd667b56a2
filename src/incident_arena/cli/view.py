"""`arena view`: results as one web page."""

from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress

from incident_arena.analysis.cost import load_prices
from incident_arena.analysis.read import read_some
from incident_arena.analysis.report import build as build_report
from incident_arena.cli.results import task_folders
from incident_arena.cli.say import console, output, say
from incident_arena.viewer.build import Built, build


def view(
    jobs: Annotated[
        list[Path], typer.Argument(help="Harbor job folders, or folders of them.", metavar="JOB...", show_default=False)
    ],
    out: Annotated[
        Path, typer.Option(help="The page; what it has no room for goes into <name>.data/ beside it.")
    ] = Path("arena-results.html"),
    tasks: Annotated[Path | None, typer.Option(help="Folder of substrates, for their tasks' facts and proofs.")] = None,
    prices: Annotated[Path | None, typer.Option(help="Price list to use instead of the built-in one.")] = None,
) -> None:
    """Make one self-contained page of the results of Harbor job folders. It opens from the file, offline."""
    built = make_page(jobs, out, tasks=tasks, prices=prices)
    beside = (
        f", and {built.files_beside} files of {_size(built.bytes_beside)} in {built.folder}"
        if built.files_beside
        else ""
    )
    say(f"{built.trials} trials, {_size(built.page_bytes)}{beside}")
    output.print(str(built.page), soft_wrap=True, highlight=False, markup=False)


def make_page(jobs: list[Path], out: Path, *, tasks: Path | None = None, prices: Path | None = None) -> Built:
    """Read job folders and write their page; `tasks` as for a report.

    Raises:
        UserError: a folder holds no job, or a price list or a folder of tasks is wrong.
        InfrastructureError: the page can't be written, or the folders hold not one trial.
    """
    folders = task_folders(tasks)
    reading = read_some(jobs)
    listed = load_prices(prices)
    report = build_report(reading, listed, tasks=folders)
    with Progress(console=console, transient=True) as progress:
        bar = progress.add_task("reading trials", total=None)
        return build(
            reading,
            report,
            listed,
            out,
            progress=lambda done, every: progress.update(bar, completed=done, total=every),
        )


def _size(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{count / 1e3:.0f} kB"  # noqa: PLR2004 - a megabyte
