"""Snapshots: the pictures of all stores at one moment."""

import asyncio
import time
from collections.abc import Callable
from functools import partial

from incident_arena import wait
from incident_arena.formats.records import Facts, Snapshot
from incident_arena.services import cluster
from incident_arena.services.referee import application
from incident_arena.services.referee.parts import Parts, Stores, stores
from incident_arena.services.referee.patience import insist
from incident_arena.stores.base import StoreError
from incident_arena.stores.kubernetes import picture as kubernetes
from incident_arena.stores.mariadb import picture as mariadb
from incident_arena.stores.redis import picture as redis

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
    opened = stores(parts.config)
    try:
        pictures = await asyncio.gather(
            *(picture(read, patience) for read in _readers(parts, opened)), _kubernetes(parts)
        )
    finally:
        opened.close()
    facts = dict(zip(("mariadb", "redis-queue", "redis-cache", "kubernetes"), pictures, strict=True))
    snapshot = Snapshot.model_validate(
        {"label": label, "taken": taken, "seconds": time.monotonic() - clock, "facts": facts}
    )
    parts.evidence.write(f"snapshots/{label}.json", snapshot)
    return snapshot


def _readers(parts: Parts, opened: Stores) -> tuple[Callable[[], Facts], ...]:
    config, known = parts.config, application.of(parts.task.substrate)

    def database() -> Facts:
        return mariadb.snapshot(
            opened.mariadb, config.mariadb_config, database=config.mariadb_database, rows=known.rows
        )

    def queue() -> Facts:
        return redis.snapshot(opened.queue, config.redis_queue_data, own_keys=known.queue_keys)

    def cache() -> Facts:
        return redis.snapshot(opened.cache, config.redis_cache_data, own_keys=known.cache_keys)

    return database, queue, cache


async def picture(read: Callable[[], Facts], patience_s: float | None) -> Facts:
    """One store's facts; with patience, what cannot be read in that time is a fact itself.

    Raises:
        StoreError: it cannot be read, and there is no patience.
    """
    if patience_s is None:
        return await asyncio.to_thread(read)
    facts: Facts = {}

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
