"""One queue of jobs: as many at once as there are places, and the next as soon as one has ended."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.progress import Progress

from incident_arena.errors import UserError
from incident_arena.harbor import job, playing, watch
from incident_arena.harbor.outcome import Outcome
from incident_arena.settings import Settings


@dataclass(frozen=True)
class Entry:
    """A job of one trial; `label` is what it is called on the console."""

    label: str
    request: job.Request


type OnEnd = Callable[[int, Outcome], None]
"""Told of each trial that has ended: its entry's place in the queue, and what became of it."""


def play(settings: Settings, entries: Sequence[Entry], places: int, console: Console, on_end: OnEnd) -> None:
    """Play all entries in their order, `places` at once.

    Raises:
        UserError: the node is not built, or Harbor refuses a job; nothing is played when that shows before.
        KeyboardInterrupt: Ctrl-C or SIGTERM. What has ended was told.
    """
    first = {entry.request.tasks: entry.request for entry in entries}
    for request in first.values():
        playing.require_playable(settings, request)
    with watch.bars(console) as progress:
        job.play(_play(settings, entries, places, progress, on_end))


async def _play(settings: Settings, entries: Sequence[Entry], places: int, progress: Progress, on_end: OnEnd) -> None:
    waiting = iter(enumerate(entries))

    async def place() -> None:
        for number, entry in waiting:
            [one] = await playing.run(settings, entry.request, progress, entry.label)
            on_end(number, one)

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(places):
                group.create_task(place())
    except* UserError as refused:
        raise refused.exceptions[0] from refused
