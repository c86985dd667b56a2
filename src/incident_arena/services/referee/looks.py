"""One look of a fault's observer."""

import asyncio
import time

from incident_arena.errors import ArenaError
from incident_arena.faults import base
from incident_arena.records import Observation
from incident_arena.services.referee.parts import Planted


async def look(context: base.Context, planted: Planted) -> Observation:
    """Look at the live effective state; `unknown`, with the reason, where the component does not answer."""
    at = time.time()
    try:
        seen = await asyncio.to_thread(planted.fault.observe, context, planted.parameters)
    except ArenaError as error:
        return Observation(at=at, fault=planted.fault.name, state="unknown", seen={"error": error.reason})
    return Observation(at=at, fault=planted.fault.name, state=seen.state, seen=seen.seen)
