"""Snapshots: the pictures of all stores at one moment."""

import asyncio
import time

from incident_arena.records import Facts, Snapshot
from incident_arena.services.referee import application
from incident_arena.services.referee.parts import Parts
from incident_arena.verify.stores import kubernetes, mariadb, redis

LABELS = ("A", "B", "C", "D")


async def take(parts: Parts, label: str) -> Snapshot:
    """Read everything and write `snapshots/<label>.json`. A second one of the same label replaces the first.

    Raises:
        StoreError: a data store cannot be read.
        ClusterError: the cluster cannot be read.
    """
    taken, clock = time.time(), time.monotonic()
    config, stores = parts.config, parts.stores
    known = application.of(parts.task.substrate)
    facts = dict(
        zip(
            ("mariadb", "redis-queue", "redis-cache", "kubernetes"),
            await asyncio.gather(
                asyncio.to_thread(
                    mariadb.snapshot,
                    stores.mariadb,
                    config.mariadb_config,
                    database=config.mariadb_database,
                    rows=known.rows,
                ),
                asyncio.to_thread(redis.snapshot, stores.queue, config.redis_queue_data, own_keys=known.queue_keys),
                asyncio.to_thread(redis.snapshot, stores.cache, config.redis_cache_data, own_keys=known.cache_keys),
                _kubernetes(parts),
            ),
            strict=True,
        )
    )
    snapshot = Snapshot.model_validate(
        {"label": label, "taken": taken, "seconds": time.monotonic() - clock, "facts": facts}
    )
    parts.evidence.write(f"snapshots/{label}.json", snapshot)
    return snapshot


async def _kubernetes(parts: Parts) -> Facts:
    kinds = list(kubernetes.LISTS)
    lists = await asyncio.gather(*(parts.cluster.items(kind) for kind in kinds))
    return kubernetes.snapshot(dict(zip(kinds, lists, strict=True)))
