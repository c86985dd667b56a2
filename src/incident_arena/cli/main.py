"""`arena`: the verbs, and what becomes of an error."""

import sys

import typer

from incident_arena.cli import clean, doctor, images, node, report, setup, view
from incident_arena.cli.say import console
from incident_arena.errors import ArenaError

INTERRUPTED = 130

app = typer.Typer(
    name="arena",
    help="Live incidents on real Kubernetes clusters, repaired by agents and judged by code.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
app.command("doctor")(doctor.doctor)
app.command("setup")(setup.setup)
app.add_typer(node.app, name="node")
app.add_typer(images.app, name="images")
app.command("clean")(clean.clean)
app.command("report")(report.report)
app.command("judge")(report.judge)
app.command("view")(view.view)


def main() -> None:
    """Run the command line; ends the process."""
    try:
        app()
    except ArenaError as error:
        console.print(f"[bold red]error[/] {error.thing}: {error.reason}", highlight=False, soft_wrap=True)
        if error.remedy:
            console.print(f"[bold]remedy[/] {error.remedy}", highlight=False, soft_wrap=True)
        sys.exit(error.exit_status)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
