"""Grow: a store takes in so much more, as it will have to by the end of the month."""

import asyncio
from typing import Annotated

from pydantic import Field

from incident_arena.formats.parameters import Parameters as Wanted
from incident_arena.formats.task import Event
from incident_arena.services.referee.parts import Parts


class Parameters(Wanted):
    """How much."""

    megabytes: Annotated[int, Field(gt=0, le=4096)]


async def run(parts: Parts, event: Event, parameters: Parameters) -> str:
    """Put so much into the store, and take it out again.

    Raises:
        StoreError: it does not take it.
    """
    await asyncio.to_thread(parts.stores[event.component].grow, parameters.megabytes)
    return f"took {parameters.megabytes} MB more"
