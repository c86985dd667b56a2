"""`arena run --experiment` and `--dry-run`: many trials, told before and after as tables."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer
from rich.table import Table

from incident_arena.analysis.cost import load_prices
from incident_arena.catalogue.finding import Catalogue, find
from incident_arena.cli import setup
from incident_arena.cli.say import console, output, print_json, say
from incident_arena.harbor import agent_images, campaign, contestants, estimate, plan, playing, readiness
from incident_arena.harbor.agent import no_script
from incident_arena.harbor.environment import EPISODE
from incident_arena.harbor.experiment import AgentEntry, Experiment, load
from incident_arena.harbor.job import Request
from incident_arena.images.agents import PLAIN
from incident_arena.node.up import require_root
from incident_arena.settings import Settings

NO_VERDICT = 3


@dataclass(frozen=True, kw_only=True)
class Where:
    """Where and how an experiment is played: the options of `arena run` that its file does not tell."""

    jobs: Path
    name: str | None
    episode: str
    yes: bool
    json: bool


def run(file: Path, where: Where, parallel: int | None, like: list[Path], *, dry_run: bool) -> None:
    """Play an experiment, or go on with one.

    Args:
        file: the experiment.
        where: the rest.
        parallel: trials at once, instead of what the file says.
        like: earlier jobs that the dry run goes by.
        dry_run: only tell what would be played.

    Raises:
        UserError: the file is wrong, or it can't be played here.
        typer.Exit: status 3, a trial has no verdict or a control is wrong.
    """
    settings = Settings.from_environment()
    catalogue = find(settings)
    experiment = load(file, catalogue)
    at_once = parallel or experiment.parallel
    if dry_run:
        done = plan.played(where.jobs / where.name) if where.name else plan.Played()
        _tell(catalogue, experiment, plan.rows(experiment, done), at_once, like, json=where.json)
        return
    if not where.episode:
        require_root()
    for entry in experiment.agents:  # what is lacking is said before anything is built or made
        for contestant in _contestants(entry):
            readiness.require(contestant)
    if not where.episode:
        tasks = playing.prepare(settings, catalogue, experiment.tasks)
        images = [PLAIN, *(agent_images.image_name(entry.agent) for entry in experiment.agents)]
        setup.prepare(settings, lambda: playing.image_names(settings, tasks, images), yes=where.yes)
    folder = (where.jobs / where.name if where.name else campaign.new_folder(where.jobs)).resolve()
    asked = campaign.Campaign(
        file=file, experiment=experiment, folder=folder, parallel=at_once, episode=where.episode or EPISODE
    )
    try:
        ended = campaign.play(settings, catalogue, asked, console)
    except KeyboardInterrupt:
        say(f"stopped; to go on: arena run --experiment {file} --jobs {where.jobs} --job {folder.name}")
        raise
    _report(folder, ended, json=where.json)
    if not ended.whole:
        raise typer.Exit(NO_VERDICT)


def tell_one(request: Request, tasks: list[str], like: list[Path], *, json: bool) -> None:
    """The dry run of a job without an experiment.

    Raises:
        UserError: what is asked for is wrong.
    """
    for script in request.scripts:
        if not script.is_file():
            raise no_script(script)
    if not request.scripts:
        asked = contestants.Contestant(
            agent=request.agent, model=request.model, effort=request.effort, kwargs=request.kwargs
        )
        contestants.check(asked)
    entry = AgentEntry.model_construct(
        agent="script" if request.scripts else request.agent,
        models=(request.model,) if request.model else (),
        efforts=(request.effort,) if request.effort else (),
    )
    experiment = Experiment.model_construct(
        version=1, tasks=tuple(dict.fromkeys(tasks)), trials=request.trials, prices=load_prices(), agents=(entry,)
    )
    rows = plan.rows(experiment, plan.Played(), controls=False)
    _tell(find(Settings.from_environment()), experiment, rows, request.parallel, like, json=json)


def _contestants(entry: AgentEntry) -> list[contestants.Contestant]:
    env = {name: f"${{{name}}}" for name in entry.env}
    return [
        contestants.Contestant(
            agent=entry.agent, model=model, effort=effort, kwargs=entry.kwargs, env=env, model_url=entry.model_url
        )
        for model, effort in entry.variants
    ]


def _tell(
    catalogue: Catalogue,
    experiment: Experiment,
    rows: Sequence[plan.Row],
    parallel: int,
    like: list[Path],
    *,
    json: bool,
) -> None:
    known = {task: estimate.times(catalogue, task) for task in experiment.tasks}
    tokens = estimate.measured_tokens(like) if like else {}
    expected = estimate.estimate(rows, parallel, known, experiment.prices, tokens)
    missing, wanted = plan.summary(rows)
    if json:
        print_json(
            {
                "rows": [_row(row) | {"dollars": cost} for row, cost in zip(rows, expected.dollars, strict=True)],
                "trials": {"wanted": wanted, "played": wanted - missing, "to_play": missing},
                "hours": {"at_most": expected.hours_at_most, "at_least": expected.hours_at_least},
                "dollars": expected.total,
                "notes": list(expected.notes),
            }
        )
        return
    table = Table("agent", "model", "effort", "task", "n", "played", "$", box=None)
    for row, cost in zip(rows, expected.dollars, strict=True):
        cell, shown = row.cell, "" if cost is None else f"{cost:.2f}"
        table.add_row(cell.agent, cell.model, cell.effort, cell.task, str(row.wanted), str(row.played), shown)
    output.print(table)
    least = "" if expected.hours_at_least is None else f"{expected.hours_at_least:.1f} to "
    for line in (
        f"trials: {missing} to play of {wanted}",
        f"hours: {least}{expected.hours_at_most:.1f}, {parallel} at once; the most is when agents take all their time",
        f"models: ${expected.total:.2f}",
        *expected.notes,
    ):
        output.print(line, highlight=False, markup=False, soft_wrap=True)


def _row(row: plan.Row) -> dict[str, Any]:
    cell = row.cell
    return {"agent": cell.agent, "model": cell.model or None, "effort": cell.effort or None, "task": cell.task,
            "wanted": row.wanted, "played": row.played}  # fmt: skip


def _report(folder: Path, ended: campaign.Ended, *, json: bool) -> None:
    if json:
        trials = [one.model_dump(mode="json") for one in ended.outcomes]
        rows = [_row(row) for row in ended.plan]
        print_json({"job": str(folder), "rows": rows, "failed_controls": ended.failed, "trials": trials})
    else:
        table = Table("agent", "model", "effort", "task", "played", box=None)
        for row in ended.plan:
            cell = row.cell
            table.add_row(cell.agent, cell.model, cell.effort, cell.task, f"{row.played} of {row.wanted}")
        output.print(table)
        output.print(f"job: {folder}", highlight=False, soft_wrap=True)
    for one in ended.outcomes:
        if one.reward is None:
            say(f"no verdict: {one.task} {one.agent} {one.trial}: {one.reason}")
    if missing := plan.summary(ended.plan)[0]:
        say(f"{missing} trials have no verdict; the same command with --job {folder.name} plays them again")
    if ended.failed:
        console.print("THE CONTROLS FAILED: this experiment's figures mean nothing", style="bold red")
        for line in ended.failed:
            console.print(f"  {line}", style="red", highlight=False, markup=False, soft_wrap=True)
