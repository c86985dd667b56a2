"""`arena report` and `arena judge`: results as tables, and judges of trajectories. The work is in results.py."""

import os
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


class Api(StrEnum):
    """What an endpoint speaks."""

    openai = "openai"
    anthropic = "anthropic"


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


def judge(
    jobs: Jobs,
    model: Annotated[str, typer.Option(help="Model that judges.")],
    endpoint: Annotated[str, typer.Option(help="Base URL of the endpoint, up to and with its /v1.")],
    api: Annotated[Api, typer.Option(help="What the endpoint speaks.")] = Api.openai,
    key_env: Annotated[str, typer.Option(help="Environment variable that holds the key.")] = "ARENA_JUDGE_KEY",
    name: Annotated[str | None, typer.Option(help="The judge's label; the model's name if not given.")] = None,
    parallel: Annotated[int, typer.Option(min=1, help="Trials judged at once.")] = 4,
    timeout: Annotated[float, typer.Option(min=1, help="Seconds for one request.")] = 300,
    patience: Annotated[float, typer.Option(min=1, help="Seconds for which a busy endpoint is asked again.")] = 300,
) -> None:
    """Let a model judge the trajectories of job folders. Never part of a reward; a later run goes on where it ended."""
    where = results.Endpoint(
        api=api.value, url=endpoint, model=model, key=os.environ.get(key_env, ""), timeout_s=timeout
    )
    results.run_judge(jobs, results.Judge(endpoint=where, name=name or model, parallel=parallel, patience_s=patience))
