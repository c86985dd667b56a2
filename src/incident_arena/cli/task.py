"""`arena task list|show|validate|export|prove`."""

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from incident_arena.catalogue import export as exports
from incident_arena.catalogue import finding as catalogues
from incident_arena.catalogue import validate as validation
from incident_arena.catalogue.scripts import right_fixes, wrong_fixes
from incident_arena.cli.say import console, output, print_json, say
from incident_arena.errors import UserError
from incident_arena.settings import Settings

app = typer.Typer(help="The tasks: look at them, check, export and prove them.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(metavar="TASK", help="<substrate>/<name>")]
Names = Annotated[list[str] | None, typer.Argument(metavar="[TASK…]", help="All when none is given.")]
Json = Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")]


@app.command("list")
def list_(json: Json = False) -> None:  # noqa: FBT002 - a flag
    """All tasks, with what they are made of."""
    tasks = catalogues.find(Settings.from_environment())
    specs = [tasks.load(name) for name in tasks.names()]
    if json:
        print_json([spec.model_dump(mode="json") for spec in specs])
        return
    table = Table("task", "surface", "layer", "onset", "causes", "title", box=None)
    for spec in specs:
        causes = ", ".join(planted.name for planted in spec.faults) or "none"
        table.add_row(spec.name, spec.surface, spec.layer, spec.onset, causes, spec.title)
    output.print(table)


@app.command()
def show(name: Name, json: Json = False) -> None:  # noqa: FBT002 - a flag
    """One task: what its agent is told, and what a person may know."""
    tasks = catalogues.find(Settings.from_environment())
    spec, folder = tasks.load(name), tasks.folder(name)
    if json:
        print_json(spec.model_dump(mode="json"))
        return
    output.print(Text.assemble((spec.name, "bold"), f"  {spec.title}"))
    output.print(exports.instruction(tasks, spec), markup=False, highlight=False)
    table = Table(show_header=False, box=None)
    table.add_row("surface", spec.surface)
    table.add_row("layer, onset", f"{spec.layer}, {spec.onset}")
    for planted in spec.faults:
        drawn = ", ".join(f"{name} one of {values}" for name, values in planted.draws.items())
        table.add_row("planted", f"{planted.name} {planted.parameters or ''} {drawn}".rstrip())
    for scene in spec.scenes:
        table.add_row("scene", f"{scene.stage} {scene.parameters or ''}".rstrip())
    for kind, load in sorted(spec.load.kinds.items()):
        table.add_row("load", f"{kind} {load.rate:g}/s{', judged' if load.judged else ''}")
    table.add_row("challenges", ", ".join(challenge.stage for challenge in spec.challenges))
    table.add_row("right fixes", ", ".join(path.stem for path in right_fixes(folder)))
    for wrong in wrong_fixes(folder):
        table.add_row("wrong fix", f"{wrong.path.stem}: {wrong.failure_class}")
    output.print(table)


@app.command()
def validate(names: Names = None, json: Json = False) -> None:  # noqa: FBT002 - a flag
    """Check tasks; every mistake of each is told at once.

    Raises:
        UserError: one is wrong.
    """
    tasks = catalogues.find(Settings.from_environment())
    found = {name: validation.problems(tasks, name) for name in names or tasks.names()}
    if json:
        print_json(found)
    else:
        for name, wrong in found.items():
            say(f"{name}: {'right' if not wrong else f'{len(wrong)} mistakes'}")
            for line in wrong:
                console.print(f"  {line}", markup=False, highlight=False, soft_wrap=True)
    if wrong := [name for name, problems in found.items() if problems]:
        raise UserError("tasks", f"{len(wrong)} of {len(found)} are wrong: {', '.join(wrong)}", "mend what is listed")


@app.command()
def export(
    name: Name,
    out: Annotated[Path | None, typer.Option("--out", help="The folder to make; exported/TASK when not given.")] = None,
) -> None:
    """Write a task as a complete Harbor task folder.

    Raises:
        UserError: the task is wrong, or the folder holds something else.
    """
    tasks = catalogues.find(Settings.from_environment())
    validation.require_valid(tasks, name)
    folder = out or Path("exported") / name
    exports.export(tasks, name, folder)
    output.print(str(folder), highlight=False, soft_wrap=True)


@app.command()
def prove(
    names: Names = None,
    every: Annotated[bool, typer.Option("--all", help="All tasks.")] = False,  # noqa: FBT002
    again: Annotated[bool, typer.Option("--again", help="Also what has not changed since it was proven.")] = False,  # noqa: FBT002
    only: Annotated[list[str] | None, typer.Option("--only", help="Only these: solve, nop, a script's name.")] = None,
    parallel: Annotated[int, typer.Option("-n", "--parallel", min=1, help="Trials at once.")] = 1,
    merge: Annotated[
        Path | None, typer.Option("--merge", help="First take over another checkout's proof.json.")
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Only say which proofs are stale.")] = False,  # noqa: FBT002
    json: Json = False,  # noqa: FBT002 - a flag
) -> None:
    """Prove tasks: right fixes score 1, doing nothing and each wrong fix 0 for its class.

    What is stale of all tasks is one queue. Ctrl-C keeps what has ended, and the next call goes on from there. With
    --check nothing is played, what is stale is no error, and without a name all tasks are meant.

    Raises:
        UserError: no task is named, or a proof fails.
    """
    if not names and not every and not check:
        raise UserError("tasks", "none is named", "name some, or give --all")
    from incident_arena.proving import proofs as proving  # noqa: PLC0415 - imports Harbor

    settings = Settings.from_environment()
    tasks = catalogues.find(settings)
    meant = names if names and not every else tasks.names()
    if merge:
        for name in meant:
            proving.merge(settings, tasks, name, merge)
    choice = proving.Choice(again=again, only=tuple(only or ()), check=check, parallel=parallel)
    proofs = proving.prove(settings, tasks, meant, console, choice)
    if json:
        print_json([proof.model_dump(mode="json") for proof in proofs])
    else:
        for proof in proofs:
            output.print(proving.table(proof))
    if check:
        stale = [f"{proof.task}: {run.name}" for proof in proofs for run in proof.runs if run.missing]
        say(f"stale: {', '.join(stale) or 'none'}")
        return
    asked = [(proof.task, run) for proof in proofs for run in proof.runs if choice.wants(run.name)]
    failed = [f"{task}: {run.name}" for task, run in asked if not run.holds]
    if failed:
        raise UserError("proof", f"does not hold: {', '.join(failed)}", "look at the job folders named in the table")
