"""Waiting in the face of requests that fail once: on a busy machine that says nothing about the repair."""

from collections.abc import Awaitable, Callable

from incident_arena import wait
from incident_arena.errors import ArenaError, InfrastructureError

POLL_S = 0.5
RETRY_S = 30.0
"""Seconds for which a single request is tried again."""


class StalledError(InfrastructureError):
    """What is waited for will not come, however long one waits."""


async def patient(condition: str, probe: Callable[[], Awaitable[tuple[bool, str]]], deadline_s: float) -> float:
    """Wait until a probe is true; what it cannot ask for the moment, it asks again.

    A request that fails once, on a busy machine, says nothing about the repair.

    Returns:
        Seconds waited.

    Raises:
        DeadlineError: with what was seen last.
        StalledError: from the probe.
    """

    async def tolerant() -> tuple[bool, str]:
        try:
            return await probe()
        except StalledError:
            raise
        except ArenaError as error:
            return False, f"{error.thing}: {error.reason}"

    return await wait.until_async(condition, tolerant, deadline_s=deadline_s, every_s=POLL_S)


async def insist(what: str, request: Callable[[], Awaitable[None]]) -> None:
    """Make one request, and again until it succeeds.

    Raises:
        DeadlineError: it did not within RETRY_S seconds.
    """

    async def probe() -> tuple[bool, str]:
        await request()
        return True, ""

    await patient(what, probe, RETRY_S)
