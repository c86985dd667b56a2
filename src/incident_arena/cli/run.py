"""`arena run`: play tasks and tell what came of each trial."""

import contextlib
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table

from incident_arena.cli import setup
from incident_arena.cli.say import console, output, print_json, say
from incident_arena.errors import UserError
from incident_arena.node import allocate
from incident_arena.node.up import require_root
from incident_arena.settings import Settings

if TYPE_CHECKING:
    from incident_arena.harbor.outcome import Outcome

NO_VERDICT = 3


def run(
    tasks: Annotated[list[str], typer.Argument(metavar="TASK…", help="Names of tasks, or folders of exported ones.")],
    agent: Annotated[
        str, typer.Option("--agent", "-a", help="NAME[@VERSION] (arena agents list), or module:Class.")
    ] = "oracle",
    script: Annotated[Path | None, typer.Option("--script", help="Run this script instead of an agent.")] = None,
    model: Annotated[str | None, typer.Option("--model", "-m", help="Model for the agent.")] = None,
    trials: Annotated[int, typer.Option("-k", "--trials", min=1, help="Trials of each task.")] = 1,
    parallel: Annotated[int, typer.Option("-n", "--parallel", min=1, help="Trials at once.")] = 1,
    max_retries: Annotated[
        int, typer.Option("--max-retries", min=0, help="When the start or the model's way fails.")
    ] = 1,
    keep: Annotated[bool, typer.Option("--keep", help="Keep the clusters until Ctrl-C.")] = False,  # noqa: FBT002 - a flag
    yes: Annotated[bool, typer.Option("--yes", help="Install and build what is missing first.")] = False,  # noqa: FBT002
    json: Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")] = False,  # noqa: FBT002
    jobs: Annotated[Path, typer.Option("--jobs", help="Folder for the job's folder.")] = Path("jobs"),
    episode: Annotated[str, typer.Option("--episode", hidden=True, help="Class that plays an episode.")] = "",
) -> None:
    """Play tasks through Harbor.

    Exit status: 0 when every trial has a verdict, whatever it is; 2 for a user's error; 3 when one has none: its
    episode did not start, its model could not be reached, or the judge could not decide.
    """
    # Harbor takes a second to import, which the other verbs do not need.
    from incident_arena.harbor import catalogue, job, playing  # noqa: PLC0415
    from incident_arena.harbor.environment import EPISODE  # noqa: PLC0415

    settings = Settings.from_environment()
    if not episode:
        require_root()
    if script is not None and agent not in {"oracle", "script"}:
        raise UserError("options", "--agent and --script exclude each other", "give one of them")
    request = job.Request(
        tasks=playing.prepare(settings, catalogue.find(), tasks),
        agent=agent,
        scripts=(script,) if script else (),
        model=model,
        trials=trials,
        parallel=parallel,
        max_retries=max_retries,
        keep=keep,
        jobs=jobs,
        name=playing.job_name(),
        episode=episode or EPISODE,
    )
    job.compose(request)  # what is asked for wrongly is said before anything is built
    if not episode:
        setup.prepare(settings, lambda: playing.image_names(settings, request), yes=yes)
    outcomes = playing.play(settings, request, console)
    if json:
        print_json([one.model_dump(mode="json") for one in outcomes])
    else:
        for one in outcomes:
            _show(one)
        output.print(f"job: {request.folder}", highlight=False, soft_wrap=True)
    if keep:
        _hold(settings)
    if any(one.reward is None for one in outcomes):
        raise typer.Exit(NO_VERDICT)


def _show(one: "Outcome") -> None:
    output.print(f"[bold]{one.task}[/] {one.agent} {escape(one.script)}", highlight=False, soft_wrap=True)
    output.print(summary(one))
    output.print(f"gates: {_gates(one.gates)}", highlight=False)
    if one.failure_class:
        output.print(f"class: {one.failure_class}", highlight=False)
    if one.refused:
        output.print("refused: the provider declined on grounds of safety", highlight=False)
    none = f"no verdict: {'errored: ' if one.errored else ''}{one.reason}"
    reward = f"reward: {one.reward:g}" if one.reward is not None else none
    output.print(reward, style="bold", highlight=False, markup=False, soft_wrap=True)


def _hold(settings: Settings) -> None:
    """Wait for Ctrl-C: a node ends with the process that owns it, so that none is ever forgotten."""
    mine = [spec for spec in allocate.existing(settings) if spec.owner and spec.owner.pid == os.getpid()]
    if not mine:
        return
    for spec in mine:
        say(f"kept: export KUBECONFIG={spec.kubeconfig}")
    say("the clusters are there until this process ends; press Ctrl-C")
    with contextlib.suppress(KeyboardInterrupt):
        signal.pause()


def summary(one: "Outcome") -> Table:
    """A trial's checks."""
    table = Table("check", "verdict", "reason", box=None)
    for check in one.checks:
        table.add_row(check.name, check.verdict, escape(check.reason))
    return table


def _gates(gates: dict[str, str]) -> str:
    return ", ".join(f"{name} {answer}" for name, answer in gates.items()) or "none"
