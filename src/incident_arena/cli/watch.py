"""`arena watch`: look at the episode that another terminal plays."""

import asyncio
import contextlib
import time
from typing import TYPE_CHECKING, Annotated

import typer

from incident_arena.cli.say import output
from incident_arena.node.up import require_root
from incident_arena.settings import Settings

if TYPE_CHECKING:
    from incident_arena.harbor.watching import Watching

EVERY_S = 2.0
LINGER_S = 20.0
"""After the last trial has ended the next one of its job may begin."""


def watch(
    job: Annotated[str, typer.Argument(metavar="[JOB]", help="A job folder's name.", show_default="latest")] = "",
    latest: Annotated[bool, typer.Option("--latest", help="The job that began last; so it is without JOB.")] = False,  # noqa: FBT002 - a flag
    once: Annotated[bool, typer.Option("--once", help="Print one picture and end.")] = False,  # noqa: FBT002
) -> None:
    """Watch the episode that another terminal plays: stages, load, faults, the agent's acts, the declaration.

    It shows what is broken and whether that is repaired: who plays should not look. It only reads, every two seconds;
    the episode does not notice. Without a terminal it prints a line for each thing that happens.
    """
    from incident_arena.errors import UserError  # noqa: PLC0415 - beside the slow ones below
    from incident_arena.harbor import watching  # noqa: PLC0415 - Harbor takes a second to import

    if job and latest:
        raise UserError("options", "JOB and --latest exclude each other", "give one of them")
    require_root()
    settings = Settings.from_environment()
    following = watching.Watching(settings, job.rstrip("/").rpartition("/")[2] or watching.latest_job(settings))
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_once(following) if once else _board(following) if output.is_terminal else _lines(following))


async def _once(following: "Watching") -> None:
    from incident_arena.harbor.board import board  # noqa: PLC0415 - as above

    for picture in await following.look():
        output.print(board(picture), highlight=False)


async def _board(following: "Watching") -> None:
    from rich.console import Group  # noqa: PLC0415 - as above
    from rich.live import Live  # noqa: PLC0415

    from incident_arena.harbor.board import board  # noqa: PLC0415

    last = time.monotonic()
    with Live(console=output, auto_refresh=False, vertical_overflow="crop") as shown:
        while time.monotonic() - last < LINGER_S:
            pictures = await following.look()
            shown.update(Group(*(board(picture) for picture in pictures)), refresh=True)
            if not all(picture.over for picture in pictures):
                last = time.monotonic()
            await asyncio.sleep(EVERY_S)


async def _lines(following: "Watching") -> None:
    from incident_arena.harbor.board import Teller  # noqa: PLC0415 - as above

    teller, last = Teller(), time.monotonic()
    while time.monotonic() - last < LINGER_S:
        pictures = await following.look()
        for picture in pictures:
            for line in teller.lines(picture):
                output.print(line, highlight=False, markup=False, soft_wrap=True)
        if not all(picture.over for picture in pictures):
            last = time.monotonic()
        await asyncio.sleep(EVERY_S)
