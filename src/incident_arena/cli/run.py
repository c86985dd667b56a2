"""`arena run`: play tasks and tell what came of each trial."""

import contextlib
import os
import signal
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from incident_arena.cli import setup
from incident_arena.cli.say import console, output, print_json, say
from incident_arena.errors import UserError
from incident_arena.node import allocate
from incident_arena.node.up import require_root
from incident_arena.settings import Settings

if TYPE_CHECKING:
    from incident_arena.harbor.job import Request
    from incident_arena.harbor.outcome import Outcome

NO_VERDICT = 3


def run(
    context: typer.Context,
    tasks: Annotated[
        list[str] | None, typer.Argument(metavar="[TASK…]", help="Names of tasks, or folders of exported ones.")
    ] = None,
    agent: Annotated[
        str, typer.Option("--agent", "-a", help="NAME[@VERSION] (arena agents list), or module:Class.")
    ] = "oracle",
    script: Annotated[Path | None, typer.Option("--script", help="Run this script instead of an agent.")] = None,
    model: Annotated[str | None, typer.Option("--model", "-m", help="Model for the agent: provider/name.")] = None,
    effort: Annotated[str | None, typer.Option("--effort", help="How hard the model reasons; the agent's own.")] = None,
    model_url: Annotated[
        str | None, typer.Option("--model-url", help="Base URL of the model's server, as seen from this machine.")
    ] = None,
    agent_kwarg: Annotated[
        list[str] | None, typer.Option("--agent-kwarg", metavar="KEY=VALUE", help="Harbor's option of the agent.")
    ] = None,
    agent_env: Annotated[
        list[str] | None,
        typer.Option("--agent-env", metavar="NAME[=VALUE]", help="Variable for the agent; this process's own value."),
    ] = None,
    trials: Annotated[int, typer.Option("-k", "--trials", min=1, help="Trials of each task.")] = 1,
    parallel: Annotated[int, typer.Option("-n", "--parallel", min=1, help="Trials at once.")] = 1,
    max_retries: Annotated[
        int, typer.Option("--max-retries", min=0, help="When the start or the model's way fails.")
    ] = 1,
    experiment: Annotated[
        Path | None, typer.Option("--experiment", metavar="FILE", help="Play what this file says; see docs.")
    ] = None,
    keep: Annotated[bool, typer.Option("--keep", help="Keep the clusters until Ctrl-C.")] = False,  # noqa: FBT002 - a flag
    yes: Annotated[bool, typer.Option("--yes", help="Install and build what is missing first.")] = False,  # noqa: FBT002
    json: Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")] = False,  # noqa: FBT002
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Tell trials, hours and cost; play nothing.")] = False,  # noqa: FBT002
    like: Annotated[
        list[Path] | None, typer.Option("--like", metavar="JOB", help="Earlier job whose tokens --dry-run goes by.")
    ] = None,
    jobs: Annotated[Path, typer.Option("--jobs", help="Folder for the job's folder.")] = Path("jobs"),
    name: Annotated[
        str | None, typer.Option("--job", metavar="NAME", help="Name of the job's folder; an experiment goes on in it.")
    ] = None,
    episode: Annotated[str, typer.Option("--episode", hidden=True, help="Class that plays an episode.")] = "",
) -> None:
    """Play tasks through Harbor.

    Exit status: 0 when every trial has a verdict, whatever it is; 2 for a user's error; 3 when one has none (its
    episode did not start, its model could not be reached, or the judge could not decide), or when an experiment's nop
    or oracle did not score what it must.
    """
    # Harbor takes a second to import, which the other verbs do not need.
    from incident_arena.cli import experiments  # noqa: PLC0415
    from incident_arena.harbor import contestants, job, playing  # noqa: PLC0415
    from incident_arena.harbor.environment import EPISODE  # noqa: PLC0415

    _refuse(context, like=bool(like), dry_run=dry_run)
    if experiment is not None:
        at_once = parallel if _given(context, "parallel") else None
        where = experiments.Where(jobs=jobs, name=name, episode=episode, yes=yes, json=json)
        experiments.run(experiment, where, at_once, like or [], dry_run=dry_run)
        return
    request = job.Request(
        tasks=(),
        agent=agent,
        scripts=(script,) if script else (),
        model=model,
        effort=effort,
        kwargs=contestants.options(agent_kwarg or []),
        env=contestants.variables(agent_env or []),
        model_url=model_url,
        trials=trials,
        parallel=parallel,
        max_retries=max_retries,
        keep=keep,
        jobs=jobs,
        name=name or playing.job_name(),
        exact=name is not None,
        episode=episode or EPISODE,
    )
    if dry_run:
        experiments.tell_one(request, tasks or [], like or [], json=json)
    else:
        _play(request, tasks or [], yes=yes, json=json)


def _play(request: "Request", tasks: list[str], *, yes: bool, json: bool) -> None:
    from incident_arena.catalogue import finding as catalogue  # noqa: PLC0415
    from incident_arena.harbor import job, playing, readiness  # noqa: PLC0415
    from incident_arena.harbor.environment import EPISODE  # noqa: PLC0415

    settings = Settings.from_environment()
    real = request.episode == EPISODE
    if real:
        require_root()
    request = replace(request, tasks=playing.prepare(settings, catalogue.find(settings), tasks))
    job.compose(request)  # what is asked for wrongly is said before anything is built
    for contestant in job.contestants(request):
        readiness.require(contestant)
    if real:
        setup.prepare(
            settings, lambda: playing.image_names(settings, request.tasks, [job.agent_image(request)]), yes=yes
        )
    outcomes = playing.play(settings, request, console)
    if json:
        print_json([one.model_dump(mode="json") for one in outcomes])
    else:
        for one in outcomes:
            show(one)
        for folder in dict.fromkeys(one.job_dir for one in outcomes):
            output.print(f"job: {folder}", highlight=False, soft_wrap=True)
    if request.keep:
        _hold(settings)
    if any(one.reward is None for one in outcomes):
        raise typer.Exit(NO_VERDICT)


WHAT = ("tasks", "agent", "script", "model", "effort", "model_url", "agent_kwarg", "agent_env", "trials", "max_retries",
        "keep")  # fmt: skip
"""What an experiment's file says, so that options must not."""


def _given(context: typer.Context, parameter: str) -> bool:
    source = context.get_parameter_source(parameter)
    return source is not None and source.name == "COMMANDLINE"


def _refuse(context: typer.Context, *, like: bool, dry_run: bool) -> None:
    """Options that exclude each other.

    Raises:
        UserError: such ones are given, or nothing that could be played.
    """
    given = [parameter for parameter in WHAT if _given(context, parameter)]
    if like and not dry_run:
        raise UserError("--like", "says what --dry-run goes by", "give both, or none")
    if context.params["experiment"] is not None:
        if given:
            named = ", ".join("TASK" if one == "tasks" else f"--{one.replace('_', '-')}" for one in given)
            raise UserError("options", f"the experiment's file says what is played, not {named}", "leave them out")
    elif not context.params["tasks"]:
        raise UserError("tasks", "none is named", "name some (`arena task list` shows all), or give --experiment FILE")
    if context.params["script"] is not None and context.params["agent"] not in {"oracle", "script"}:
        raise UserError("options", "--agent and --script exclude each other", "give one of them")


def show(one: "Outcome") -> None:
    """Tell what came of a trial."""
    output.print(Text.assemble((one.task, "bold"), f" {one.agent} {one.script}"), highlight=False, soft_wrap=True)
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
        table.add_row(check.name, check.verdict, check.reason)
    return table


def _gates(gates: dict[str, str]) -> str:
    return ", ".join(f"{name} {answer}" for name, answer in gates.items()) or "none"
