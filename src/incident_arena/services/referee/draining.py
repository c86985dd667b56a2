"""Waiting: for a window to pass, and for the application to finish what it accepted."""

import asyncio
import time

from incident_arena import wait
from incident_arena.services.referee.figures import Figures
from incident_arena.services.referee.parts import Parts
from incident_arena.services.referee.patience import POLL_S, StalledError, insist, patient

STALLED_S = 30.0
"""A backlog that gets no shorter for so long, while nothing is added, will not drain."""
ABANDONED_S = 10.0
"""A job that is said to run for so long, while all others are done, is one of a worker that was killed: its
entry only runs out."""


async def passing(what: str, seconds: float) -> None:
    """Let a time pass in which nothing is done but to look."""
    end = time.monotonic() + seconds

    async def probe() -> tuple[bool, str]:
        return time.monotonic() >= end, ""

    await wait.until_async(what, probe, deadline_s=seconds + 60, every_s=POLL_S)


async def ended(what: str, figures: Figures, start: float, end: float, deadline_s: float) -> None:
    """Wait until every operation that was due in [start, end) has ended.

    Raises:
        DeadlineError: one is still under way.
    """

    async def probe() -> tuple[bool, str]:
        await asyncio.to_thread(figures.refresh)
        whole = figures.whole(start)
        return whole >= end, f"an operation that was due {end - whole:.1f} s before its end is under way"

    await patient(f"the operations of {what} have ended", probe, deadline_s)


async def drained(parts: Parts) -> str:
    """Pause the load, and wait until its operations have ended and no job waits or runs.

    Raises:
        StalledError: the backlog gets no shorter.
        DeadlineError: it does not drain before the deadline.
    """
    await insist("the load pauses", parts.load.pause)
    least: tuple[int, int] | None = None
    progress = time.monotonic()
    abandoned = ""

    async def probe() -> tuple[bool, str]:
        nonlocal least, progress, abandoned
        in_flight = int((await parts.load.status())["in_flight"])
        work = await asyncio.to_thread(parts.substrate.backlog, parts.stores)
        running = work.running
        left = (in_flight + work.waiting, running)
        seen = f"{in_flight} operations under way, {work.waiting} jobs wait, {running} run"
        if least is None or left < least:
            least, progress = left, time.monotonic()
        stalled = time.monotonic() - progress
        if left[0] and stalled > STALLED_S:
            raise StalledError("the backlog", f"gets no shorter; {seen}")
        if not left[0] and running and stalled > ABANDONED_S:
            abandoned = f"; {running} jobs are of workers that are gone"
            return True, seen
        return left == (0, 0), seen

    waited = await patient("the backlog has drained", probe, parts.task.deadlines.drain)
    return f"drained in {waited:.1f} s{abandoned}"
