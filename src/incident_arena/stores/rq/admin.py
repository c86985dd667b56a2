"""Verbs on the application's job queues: list, requeue, delete, flush. layout.py says how they are kept."""

import zlib
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from redis.asyncio import Redis

from incident_arena.stores.base import Account, StoreSpec, only_one
from incident_arena.stores.redis.admin import connected
from incident_arena.stores.rq.layout import JOB, QUEUE, QUEUES, REGISTRIES, STATES, WORKERS, short
from incident_arena.verbs.acts import Act, Answer, Call, Refusal, Route, detail
from incident_arena.verbs.command import Argument, Command, Group

FIELDS = ("status", "description", "origin", "created_at", "enqueued_at", "started_at", "ended_at", "worker_name")

GROUP = Group("queue", "the application's background jobs")
NAMED, ONE = Argument("queue"), Argument("job")
STATE = Argument("--state", choices=tuple(STATES), default="queued")
COUNT = Argument("--count", type="number", default=20)


def routes(stores: Sequence[StoreSpec], account: Account) -> list[Route]:
    """The verbs on the job queues.

    Raises:
        UserError: there are several stores of them.
    """
    return Queues(only_one(stores), account).routes()


@dataclass(frozen=True)
class Queues:
    """The verbs. A queue is named by the last part of its name: `short` for `rq:queue:<folder>:short`."""

    store: StoreSpec
    account: Account

    def routes(self) -> list[Route]:
        """The verbs on the job queues."""
        queue = "/queues/{queue}"
        job = f"{queue}/jobs/{{job}}"
        return [
            Route(
                "queues", "GET", "/queues", "read", self.show, "jobs by state, and workers, of each queue",
                (Command("list", "jobs by state, and workers, of each queue", group=GROUP, narrows=True),),
            ),
            Route(
                "queue-jobs", "GET", f"{queue}/jobs", "read", self.jobs, "jobs: ?state=failed&count=20",
                (
                    Command(
                        "jobs", "jobs of one state, oldest first, with the error of those that failed",
                        (NAMED, STATE, COUNT), GROUP,
                    ),
                ),
            ),
            Route(
                "queue-requeue", "POST", f"{job}/requeue", "change", self.requeue, "run a failed job again",
                (Command("requeue", "run a failed job again", (NAMED, ONE), GROUP),),
            ),
            Route(
                "queue-requeue-failed", "POST", f"{queue}/requeue-failed", "change", self.requeue_all, "run them all",
                (Command("requeue-failed", "run all failed jobs of a queue again", (NAMED,), GROUP),),
            ),
            Route(
                "queue-delete", "DELETE", job, "change", self.delete, "delete a job",
                (Command("delete", "delete a job", (NAMED, ONE), GROUP),),
            ),
            Route(
                "queue-flush", "POST", f"{queue}/flush", "change", self.flush, "delete all waiting jobs",
                (Command("flush", "delete all waiting jobs of a queue", (NAMED,), GROUP),),
            ),
        ]  # fmt: skip

    async def show(self, _call: Call) -> Act:
        """Counts by queue and state."""

        async def effect() -> Answer:
            async with self._connected() as client:
                names = await _names(client)
                return {"queues": {short: await _counts(client, full) for short, full in names.items()}}

        return Act("queues", "", effect)

    async def jobs(self, call: Call) -> Act:
        """Jobs of one state, the ones that are next (or oldest) first."""
        state = call.option("state", tuple(STATES))
        count = call.number("count", 20, 500)
        queue = call.path["queue"]

        async def effect() -> Answer:
            async with self._connected() as client:
                full = await _full(client, queue)
                key = STATES[state] + full
                ids = await (
                    client.lrange(key, 0, count - 1) if state == "queued" else client.zrange(key, 0, count - 1)
                )
                return {"queue": queue, "state": state, "jobs": [await _job(client, _text(job)) for job in ids]}

        return Act("queue-jobs", detail(queue=queue, state=state), effect)

    async def requeue(self, call: Call) -> Act:
        """One failed job."""
        queue, job = call.path["queue"], call.path["job"]

        async def effect() -> Answer:
            async with self._connected() as client:
                if not await _requeue(client, await _full(client, queue), job):
                    raise Refusal(f"job {job!r}", f"is not a failed job of queue {queue!r}", status=404)
                return {"requeued": [job]}

        return Act("queue-requeue", detail(queue=queue, job=job), effect)

    async def requeue_all(self, call: Call) -> Act:
        """All failed jobs of a queue."""
        queue = call.path["queue"]

        async def effect() -> Answer:
            async with self._connected() as client:
                full = await _full(client, queue)
                failed = [_text(job) for job in await client.zrange(REGISTRIES["failed"] + full, 0, -1)]
                return {"requeued": [job for job in failed if await _requeue(client, full, job)]}

        return Act("queue-requeue-failed", detail(queue=queue), effect)

    async def delete(self, call: Call) -> Act:
        """One job, whatever its state."""
        queue, job = call.path["queue"], call.path["job"]

        async def effect() -> Answer:
            async with self._connected() as client:
                full = await _full(client, queue)
                if not await _delete(client, full, [job]):
                    raise Refusal(f"job {job!r}", f"is not in queue {queue!r}", status=404)
                return {"deleted": 1}

        return Act("queue-delete", detail(queue=queue, job=job), effect)

    async def flush(self, call: Call) -> Act:
        """All waiting jobs of a queue."""
        queue = call.path["queue"]

        async def effect() -> Answer:
            async with self._connected() as client:
                full = await _full(client, queue)
                waiting = [_text(job) for job in await client.lrange(QUEUE + full, 0, -1)]
                return {"deleted": await _delete(client, full, waiting)}

        return Act("queue-flush", detail(queue=queue), effect)

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[Redis]:
        async with connected(self.store, self.account, decode=False) as client:
            yield client


async def _names(client: Redis) -> dict[str, str]:
    """Short name → full name of every queue that has been used or that a worker listens to."""
    full = {_text(key).removeprefix(QUEUE) for key in await client.smembers(QUEUES)}
    async for key in client.scan_iter(match=f"{WORKERS}*", count=500):
        full.add(_text(key).removeprefix(WORKERS))
    return {short(name): name for name in sorted(full)}


async def _full(client: Redis, queue: str) -> str:
    names = await _names(client)
    if queue not in names:
        raise Refusal(f"queue {queue!r}", "does not exist", f"choose: {', '.join(names) or 'none yet'}", status=404)
    return names[queue]


async def _counts(client: Redis, full: str) -> dict[str, int]:
    return {
        "queued": await client.llen(QUEUE + full),
        **{state: await client.zcard(prefix + full) for state, prefix in REGISTRIES.items()},
        "workers": await client.scard(WORKERS + full),
    }


async def _job(client: Redis, job: str) -> dict[str, Any]:
    values = await client.hmget(JOB + job, [*FIELDS, "exc_info"])
    shown: dict[str, Any] = {name: _text(value) for name, value in zip(FIELDS, values, strict=False) if value}
    return {"id": job, **shown, **({"error": _error(values[-1])} if values[-1] else {})}


def _error(raw: Any) -> str:
    """The last lines of a job's traceback, which RQ keeps compressed."""
    try:
        text = zlib.decompressobj().decompress(raw, 100_000).decode(errors="replace")
    except zlib.error:
        text = raw.decode(errors="replace")
    return "\n".join(text.strip().splitlines()[-4:])


async def _requeue(client: Redis, full: str, job: str) -> bool:
    if not await client.zrem(REGISTRIES["failed"] + full, job):
        return False
    if not await client.exists(JOB + job):
        return False
    async with client.pipeline(transaction=True) as pipe:
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        pipe.hset(JOB + job, mapping={"status": "queued", "enqueued_at": now})
        pipe.hdel(JOB + job, "started_at", "ended_at", "exc_info", "worker_name")
        pipe.persist(JOB + job)
        pipe.rpush(QUEUE + full, job)
        await pipe.execute()
    return True


async def _delete(client: Redis, full: str, jobs: list[str]) -> int:
    deleted = 0
    for job in jobs:
        async with client.pipeline(transaction=True) as pipe:
            pipe.lrem(QUEUE + full, 0, job)
            for prefix in REGISTRIES.values():
                pipe.zrem(prefix + full, job)
            pipe.delete(JOB + job)
            found = await pipe.execute()
        deleted += 1 if any(found[:-1]) else 0
    return deleted


def _text(value: Any) -> str:
    """A text of a client that does not decode: redis-py's types allow either."""
    assert isinstance(value, bytes)
    return value.decode(errors="replace")
