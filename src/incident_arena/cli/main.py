"""`arena`: the verbs, and what becomes of an error."""

import importlib
import os
import sys

import typer
from rich.text import Text

from incident_arena.cli.say import console
from incident_arena.errors import ArenaError
from incident_arena.harbor import OFFLINE_PRICES

INTERRUPTED = 130

VERBS = {
    # verb: module of cli/ and its command function, or `app` for a group of commands
    "doctor": "doctor:doctor",
    "setup": "setup:setup",
    "node": "node:app",
    "images": "images:app",
    "agents": "agents:app",
    "task": "task:app",
    "run": "run:run",
    "play": "play:play",
    "watch": "watch:watch",
    "report": "report:report",
    "judge": "judge:judge",
    "view": "view:view",
    "endpoint": "endpoint:endpoint",
    "clean": "clean:clean",
}


def command_line(arguments: list[str]) -> typer.Typer:
    """The command line with the verb that is asked for, or with all of them.

    Some verbs import for seconds (Harbor, statistics); the others must not wait for that.
    """
    app = typer.Typer(
        name="arena",
        help="Live incidents on real Kubernetes clusters, repaired by agents and judged by code.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        add_completion=False,
    )
    app.callback()(_group)
    asked = arguments[0] if arguments and arguments[0] in VERBS else None
    for verb in [asked] if asked else VERBS:
        module, _, attribute = VERBS[verb].partition(":")
        command = getattr(importlib.import_module(f"incident_arena.cli.{module}"), attribute)
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=verb)
        else:
            app.command(verb)(command)
    return app


def _group() -> None:
    """Keep one verb alone a verb; typer would make it the whole command line."""


def main() -> None:
    """Run the command line; ends the process."""
    os.environ.setdefault(OFFLINE_PRICES, "True")
    try:
        command_line(sys.argv[1:])()
    except ArenaError as error:
        said = Text.assemble(("error", "bold red"), f" {error.thing}: {error.reason}")
        console.print(said, highlight=False, soft_wrap=True)
        if error.remedy:
            console.print(Text.assemble(("remedy", "bold"), f" {error.remedy}"), highlight=False, soft_wrap=True)
        sys.exit(error.exit_status)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
