"""`arena judge`: judges of trajectories. Apart from `arena report`, which need not wait for a client of endpoints."""

import asyncio
import os
from collections import Counter
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from incident_arena.analysis.endpoints import Endpoint, check_address
from incident_arena.analysis.judge import Judge, judge_trials
from incident_arena.analysis.judgements import Judgement, read_judgements
from incident_arena.analysis.read import read_some
from incident_arena.cli.report import Jobs
from incident_arena.cli.say import say
from incident_arena.errors import InfrastructureError


class Api(StrEnum):
    """What an endpoint speaks."""

    openai = "openai"
    anthropic = "anthropic"


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
    where = Endpoint(api=api.value, url=endpoint, model=model, key=os.environ.get(key_env, ""), timeout_s=timeout)
    run_judge(jobs, Judge(endpoint=where, name=name or model, parallel=parallel, patience_s=patience))


def run_judge(jobs: list[Path], judge: Judge) -> list[Judgement]:
    """Judge what has not been judged yet, and say what came of it.

    Raises:
        UserError: a folder holds no job, or the endpoint is no address or does not know the key, the model or the path.
        InfrastructureError: no trial that was asked about was answered.
    """
    check_address(judge.endpoint.url)
    trials = read_some(jobs).trials
    notes: list[str] = []
    known = read_judgements(sorted({trial.folder.parent for trial in trials}), notes)
    for note in notes:
        say(note)
    new = asyncio.run(judge_trials(trials, known, judge, _told))
    counts = Counter(one.status for one in new)
    say(f"judge {judge.name}: " + (", ".join(f"{count} {status}" for status, count in counts.items()) or "nothing new"))
    if new and counts["failed"] == len(new):
        raise InfrastructureError(
            f"judge {judge.name}",
            f"all {len(new)} trials that it was asked about failed; the last: {new[-1].detail}",
            "see --endpoint, --model and --api; a later run asks about them again",
        )
    return new


def _told(one: Judgement) -> None:
    say(f"{one.name}: {one.category or one.status}" + (f" ({one.detail})" if one.detail else ""))
