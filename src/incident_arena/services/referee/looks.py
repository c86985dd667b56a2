"""Looks at the planted faults, written down as observations."""

import asyncio
import contextlib
import time

from incident_arena.errors import ArenaError
from incident_arena.faults import Planted
from incident_arena.formats.records import Observation
from incident_arena.services.referee.parts import Parts
from incident_arena.services.referee.patience import patient
from incident_arena.stores.base import Stores
from incident_arena.wait import DeadlineError

BLIND_S = 20.0
"""Seconds for which a component that cannot be asked gets time to come back."""


async def look(stores: Stores, planted: Planted) -> Observation:
    """One look at one fault; when its component cannot be asked, the state is unknown."""
    at = time.time()
    try:
        seen = await asyncio.to_thread(planted.fault.observe, stores[planted.component], planted.parameters)
    except Exception as error:  # noqa: BLE001 - whatever the agent made of the component, the look is evidence
        reason = error.reason if isinstance(error, ArenaError) else f"{type(error).__name__}: {error}"
        return Observation(at=at, fault=planted.name, state="unknown", seen={"error": reason})
    return Observation(at=at, fault=planted.name, state=seen.state, seen=seen.seen)


async def record(parts: Parts) -> list[Observation]:
    """Look at every fault now, whenever the main program looked last; at the blind ones again until they are seen.

    At what could be planted and is not once as well: see Fault.elsewhere.

    Returns:
        The last look at each fault.
    """
    last: dict[str, Observation] = {}

    async def probe() -> tuple[bool, str]:
        blind = [each for each in parts.faults if each.name not in last or last[each.name].state == "unknown"]
        new = [await look(parts.stores, each) for each in blind]
        parts.evidence.live.append("observations.jsonl", *new)
        last.update((one.fault, one) for one in new)
        unseen = [one.fault for one in new if one.state == "unknown"]
        return not unseen, f"cannot see {', '.join(unseen)}"

    for each in parts.others:
        await look(parts.stores, each)
    with contextlib.suppress(DeadlineError):  # that it stayed unknown is written down, and the main program looks on
        await patient("every fault can be looked at", probe, BLIND_S)
    return list(last.values())
