"""Snapshots: the pictures of all stores at one moment."""

import asyncio
import time
from collections.abc import Callable
from functools import partial

from incident_arena import wait
from incident_arena.formats.records import Facts, Snapshot
from incident_arena.services import cluster
from incident_arena.services.referee.parts import Parts
from incident_arena.services.referee.patience import insist
from incident_arena.stores.base import StoreError
from incident_arena.stores.kubernetes import picture as kubernetes

AFTER_AGENT = ("C", "D")
LAST_S = 2.0
"""Seconds beyond its patience that a read which has begun may take."""


async def take(parts: Parts, label: str) -> Snapshot:
    """Read everything and write `snapshots/<label>.json`. A second one of the same label replaces the first.

    Once the agent has worked (C, D) a data store that cannot be read is a fact about it, `<store>/unreadable`: were it
    an error, an episode could be made to be played again by stopping a store. It gets time to come back from a
    restart: half of the snapshot's deadline.

    Raises:
        StoreError: a data store cannot be read, before the agent has worked.
        DeadlineError: the cluster cannot be read.
    """
    taken, clock = time.time(), time.monotonic()
    patience = parts.task.deadlines.snapshot / 2 if label in AFTER_AGENT else None
    # Connections of its own: a read that takes too long is left behind, and ends when they are closed.
    with parts.config.opened() as opened:
        readers = {name: partial(store.picture, parts.substrate.moves.get(name)) for name, store in opened.items()}
        *pictures, cluster_facts = await asyncio.gather(
            *(picture(read, patience) for read in readers.values()), _kubernetes(parts)
        )
    facts = {name: seen for name, seen in zip(readers, pictures, strict=True) if seen is not None}
    facts["kubernetes"] = cluster_facts or {}
    snapshot = Snapshot.model_validate(
        {"label": label, "taken": taken, "seconds": time.monotonic() - clock, "facts": facts}
    )
    parts.evidence.write(f"snapshots/{label}.json", snapshot)
    return snapshot


async def picture(read: Callable[[], Facts | None], patience_s: float | None) -> Facts | None:
    """One store's facts, None where it has none; with patience, what cannot be read in that time is a fact itself.

    Raises:
        StoreError: it cannot be read, and there is no patience.
    """
    if patience_s is None:
        return await asyncio.to_thread(read)
    facts: Facts | None = {}

    async def probe() -> tuple[bool, str]:
        nonlocal facts
        try:
            facts = await asyncio.to_thread(read)
        except StoreError as error:
            return False, f"{error.thing}: {error.reason}"
        except Exception as error:  # noqa: BLE001 - whatever the agent left in it, that it cannot be read is a fact
            return False, f"{type(error).__name__}: {error}"
        return True, ""

    try:
        async with asyncio.timeout(patience_s + LAST_S):
            await wait.until_async("the store can be read", probe, deadline_s=patience_s, every_s=1)
    except wait.DeadlineError as error:
        return {"unreadable": error.reason}
    except TimeoutError:
        return {"unreadable": f"reading it takes longer than {patience_s:g} s"}
    return facts


async def _kubernetes(parts: Parts) -> Facts:
    lists: dict[str, list[cluster.Json]] = {}

    async def fetch(kind: str) -> None:
        lists[kind] = await parts.cluster.items(kind)

    await asyncio.gather(*(insist(f"{kind} are listed", partial(fetch, kind)) for kind in kubernetes.LISTS))
    return kubernetes.snapshot(lists)
