"""What the verbs do to jobs: see, put back, delete. layout.py says how they are kept."""

import contextlib
import zlib
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from redis.asyncio import Redis

from incident_arena import wait
from incident_arena.stores.rq.layout import (
    CURRENT,
    EXECUTION,
    EXECUTIONS,
    INTERMEDIATE,
    JOB,
    QUEUE,
    QUEUES,
    REGISTRIES,
    TAKEN,
    WORKERS,
    job_of,
    short,
)

FIELDS = ("status", "description", "origin", "created_at", "enqueued_at", "started_at", "ended_at", "worker_name")
UNTOLD = ("", "unknown")
"""What stands for a worker's address when RQ could not ask for it."""
LEFT_S = 3.0
"""A job that so long later is still taken, or started, and done by no worker, was left: a worker takes milliseconds."""


async def names(client: Redis) -> dict[str, str]:
    """Short name → full name of every queue that has been used or that a worker listens to."""
    full = {text(key).removeprefix(QUEUE) for key in await client.smembers(QUEUES)}
    async for key in client.scan_iter(match=f"{WORKERS}*", count=500):
        full.add(text(key).removeprefix(WORKERS))
    return {short(name): name for name in sorted(full)}


async def counts(client: Redis, full: str) -> dict[str, int]:
    """Jobs by state, and workers, of one queue."""
    return {
        "queued": await client.llen(QUEUE + full),
        TAKEN: await client.llen(QUEUE + full + INTERMEDIATE),
        **{state: await client.zcard(prefix + full) for state, prefix in REGISTRIES.items()},
        "workers": await client.scard(WORKERS + full),
    }


async def of_state(client: Redis, full: str, state: str, count: int = 0) -> list[str]:
    """The ids of the first `count` jobs of a state, of all when 0; what is next, or oldest, comes first."""
    if state in REGISTRIES:
        found = await client.zrange(REGISTRIES[state] + full, 0, count - 1)
    else:
        found = await client.lrange(QUEUE + full + (INTERMEDIATE if state == TAKEN else ""), 0, count - 1)
    return [job_of(text(entry)) for entry in found]


async def described(client: Redis, job: str) -> dict[str, Any]:
    """One job's fields, with the end of its traceback if it failed."""
    values = await client.hmget(JOB + job, [*FIELDS, "exc_info"])
    shown: dict[str, Any] = {name: text(value) for name, value in zip(FIELDS, values, strict=False) if value}
    return {"id": job, **shown, **({"error": _error(values[-1])} if values[-1] else {})}


def _error(raw: Any) -> str:
    """The last lines of a job's traceback, which RQ keeps compressed."""
    try:
        told = zlib.decompressobj().decompress(raw, 100_000).decode(errors="replace")
    except zlib.error:
        told = raw.decode(errors="replace")
    return "\n".join(told.strip().splitlines()[-4:])


async def left(client: Redis, full: str) -> list[str]:
    """Jobs that a worker took or started and that none does: seen so for all of LEFT_S."""
    idle = await _idle(client, full)

    async def probe() -> tuple[bool, str]:
        nonlocal idle
        idle &= await _idle(client, full)
        return not idle, ""

    with contextlib.suppress(wait.DeadlineError):
        await wait.until_async("every job that was taken is done", probe, deadline_s=LEFT_S, every_s=0.5)
    return sorted(idle)


async def _idle(client: Redis, full: str) -> set[str]:
    # Jobs first: one that is begun in between is found with its worker.
    entries = [job for state in (TAKEN, "started") for job in await of_state(client, full, state)]
    return set(entries) - await _worked_on(client, full) if entries else set()


async def _worked_on(client: Redis, full: str) -> set[str]:
    """The jobs that the queue's living workers say they do.

    One that was killed says so still, until RQ forgets it. It lives no more when its address has no connection, or
    when another was born on its host: a container has one worker. What tells neither is taken to live.
    """
    newest: dict[str, tuple[str, str, str]] = {}
    for key in await client.smembers(WORKERS + full):
        told = await client.hmget(text(key), ["hostname", "birth", "ip_address", CURRENT])
        host, birth, address, job = (text(value) if value else "" for value in told)
        host = host or text(key)
        newest[host] = max(newest.get(host, ("", "", "")), (birth, address, job))
    connected = {_host(one["addr"]) for one in await client.client_list()}
    return {job for _, address, job in newest.values() if job and (address in UNTOLD or _host(address) in connected)}


def _host(address: str) -> str:
    return address.rpartition(":")[0]


async def put_back(client: Redis, full: str, job: str) -> bool:
    """Move a job that failed or was left from where it is to the queue's end; False when it was in no such place.

    Removed first and by one transaction, so that of two who put it back one does.
    """
    async with client.pipeline(transaction=True) as pipe:
        await _forget(client, pipe, full, job, ("failed", "started"))
        removed = await pipe.execute()
    if not any(removed) or not await client.exists(JOB + job):
        return False
    async with client.pipeline(transaction=True) as pipe:
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        pipe.hset(JOB + job, mapping={"status": "queued", "enqueued_at": now})
        pipe.hdel(JOB + job, "started_at", "ended_at", "exc_info", "worker_name")
        pipe.persist(JOB + job)
        pipe.rpush(QUEUE + full, job)
        await pipe.execute()
    return True


async def delete(client: Redis, full: str, jobs: Iterable[str]) -> int:
    """Remove jobs whatever their states; how many there were."""
    deleted = 0
    for job in jobs:
        async with client.pipeline(transaction=True) as pipe:
            pipe.lrem(QUEUE + full, 0, job)
            await _forget(client, pipe, full, job, tuple(REGISTRIES))
            pipe.delete(JOB + job)
            found = await pipe.execute()
        deleted += 1 if any(found[:-1]) else 0
    return deleted


async def _forget(client: Redis, pipe: Any, full: str, job: str, states: Iterable[str]) -> None:
    """Queue up what takes a job off the list of taken ones, out of the sets of `states`, and its executions away."""
    pipe.lrem(QUEUE + full + INTERMEDIATE, 0, job)
    for state in states:
        pipe.zrem(REGISTRIES[state] + full, job)
    for execution in await client.zrange(EXECUTIONS + job, 0, -1):
        entry = f"{job}:{text(execution)}"
        pipe.zrem(REGISTRIES["started"] + full, entry)
        pipe.delete(EXECUTION + entry)


def text(value: Any) -> str:
    """A text of a client that does not decode: redis-py's types allow either."""
    assert isinstance(value, bytes)
    return value.decode(errors="replace")
