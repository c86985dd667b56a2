"""Schedule: a scheduled job of the application falls due, and runs."""

import asyncio
import time
from typing import Annotated

from pydantic import Field

from incident_arena.formats.parameters import Parameters as Wanted
from incident_arena.formats.task import Event
from incident_arena.services.referee.parts import Parts
from incident_arena.services.referee.patience import patient


class Parameters(Wanted):
    """Which job, and how long it may take."""

    job: str
    """As the substrate names it."""
    seconds: Annotated[float, Field(gt=0, le=600)] = 120


async def run(parts: Parts, _event: Event, parameters: Parameters) -> str:
    """Make it due, and wait until it has run.

    Raises:
        StoreError: a store does not answer.
        DeadlineError: it does not run, or fails.
    """
    since = time.time()
    await asyncio.to_thread(parts.substrate.make_due, parts.stores, parameters.job)

    async def probe() -> tuple[bool, str]:
        return await asyncio.to_thread(parts.substrate.has_run, parts.stores, parameters.job, since)

    waited = await patient(f"the scheduled job '{parameters.job}' has run", probe, parameters.seconds)
    return f"ran after {waited:.1f} s"
