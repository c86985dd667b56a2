"""Waiting: poll a named condition until a deadline, and say what was last seen."""

import asyncio
import time
from collections.abc import Awaitable, Callable

from incident_arena.errors import InfrastructureError


class DeadlineError(InfrastructureError):
    """A condition did not come true in time."""


type Seen = str
"""What a probe saw; shown when the deadline passes."""


def until(condition: str, probe: Callable[[], tuple[bool, Seen]], *, deadline_s: float, every_s: float = 0.05) -> float:
    """Poll `probe` until it is true.

    Args:
        condition: the condition's name, as it reads in "… did not come true".
        probe: returns (true or not, what it saw). An exception of its own ends the wait.
        deadline_s: seconds until DeadlineError.
        every_s: seconds between two polls.

    Returns:
        Seconds waited.

    Raises:
        DeadlineError: with what the probe saw last.
    """
    started = time.monotonic()
    while True:
        true, seen = probe()
        waited = time.monotonic() - started
        if true:
            return waited
        if waited >= deadline_s:
            raise _late(condition, deadline_s, seen)
        time.sleep(min(every_s, max(0.0, deadline_s - waited)))


async def until_async(
    condition: str, probe: Callable[[], Awaitable[tuple[bool, Seen]]], *, deadline_s: float, every_s: float = 0.1
) -> float:
    """As `until`, for a probe that is awaited; other tasks go on meanwhile."""
    started = time.monotonic()
    while True:
        true, seen = await probe()
        waited = time.monotonic() - started
        if true:
            return waited
        if waited >= deadline_s:
            raise _late(condition, deadline_s, seen)
        await asyncio.sleep(min(every_s, max(0.0, deadline_s - waited)))


def _late(condition: str, deadline_s: float, seen: Seen) -> DeadlineError:
    return DeadlineError(condition, f"did not come true within {deadline_s:g} s; last seen: {seen}")
