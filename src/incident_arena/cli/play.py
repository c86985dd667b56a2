"""`arena play`: a person repairs an incident, in a shell in the agent's pod."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from incident_arena.cli import setup
from incident_arena.cli.run import NO_VERDICT
from incident_arena.cli.say import console, output, say
from incident_arena.images.agents import PLAIN
from incident_arena.node.up import require_root
from incident_arena.settings import Settings

if TYPE_CHECKING:
    from incident_arena.harbor.outcome import Outcome


def play(
    task: Annotated[str, typer.Argument(metavar="TASK", help="Name of a task, or folder of an exported one.")],
    yes: Annotated[bool, typer.Option("--yes", help="Install and build what is missing first.")] = False,  # noqa: FBT002 - a flag
    jobs: Annotated[Path, typer.Option("--jobs", help="Folder for the job's folder.")] = Path("jobs"),
    episode: Annotated[str, typer.Option("--episode", hidden=True, help="Class that plays an episode.")] = "",
) -> None:
    """Repair an incident yourself: the page, a shell, and the verdict explained.

    The episode is the one that agents get, with the same records and the same judge. When it is ready, you get a shell
    in the agent's pod. `declare_repair_complete` ends your part; so does leaving the shell and saying so. Ctrl-C
    outside of the shell, or closing the terminal, ends the trial and takes the cluster down.

    Exit status: 0 when there is a verdict, whatever it is; 2 for a user's error; 3 when there is none; 130 when it was
    interrupted.
    """
    # Harbor takes a second to import, which the other verbs do not need.
    from incident_arena.catalogue import finding as catalogue  # noqa: PLC0415
    from incident_arena.harbor import job, playing  # noqa: PLC0415
    from incident_arena.harbor.environment import EPISODE  # noqa: PLC0415
    from incident_arena.harbor.terminal import Terminal  # noqa: PLC0415

    settings = Settings.from_environment()
    if not episode:
        require_root()
    with Terminal():
        pass  # said before anything is built, and not after minutes
    tasks = catalogue.find(settings)
    request = job.Request(
        tasks=playing.prepare(settings, tasks, [task]),
        agent=job.PERSON_AGENT,
        scripts=(),
        model=None,
        trials=1,
        parallel=1,
        max_retries=1,
        keep=False,
        jobs=jobs,
        name=playing.job_name(),
        episode=episode or EPISODE,
    )
    if not episode:
        setup.prepare(settings, lambda: playing.image_names(settings, request.tasks, [PLAIN]), yes=yes)
    say("The cluster starts and the fault is planted; that takes some two minutes. Then you get the page.")
    [one] = playing.play(settings, request, console)
    known = tasks.tasks()
    solution = known[one.task] / "solution" / "solve.sh" if one.task in known else None
    _explain(one, solution if solution and solution.is_file() else None)
    if one.reward is None:
        raise typer.Exit(NO_VERDICT)


def _explain(one: "Outcome", solution: Path | None) -> None:
    from incident_arena.harbor.explain import explain  # noqa: PLC0415 - as above

    told = explain(Path(one.job_dir) / one.trial, solution)
    if told is not None:
        output.print(told, highlight=False, width=min(output.width, 110))
    if one.reward is None:
        output.print(f"no verdict: {one.reason}", style="bold", highlight=False, markup=False, soft_wrap=True)
    output.print(f"job: {one.job_dir}", highlight=False, soft_wrap=True)
