"""`arena clean`: remove what ended or killed runs left behind."""

from typing import Annotated

import typer

from incident_arena.cli.say import say
from incident_arena.node import allocate, down
from incident_arena.node.up import require_root
from incident_arena.settings import Settings


def clean(
    every: Annotated[bool, typer.Option("--all", help="Stop the nodes that are running, too.")] = False,  # noqa: FBT002
) -> None:
    """Remove processes, links, control groups and files of nodes that have ended or lost their owner.

    Running nodes are left alone, unless `--all`.
    """
    settings = Settings.from_environment()
    require_root()
    if every:
        for spec in allocate.existing(settings):
            down.stop(settings, spec)
            say(f"stopped node {spec.name}")
    removed = down.clean(settings)
    for kind in ("nodes", "links", "cgroups", "files"):
        for name in getattr(removed, kind):
            say(f"removed {kind.removesuffix('s')} {name}")
    if removed.is_empty:
        say("nothing to remove")
