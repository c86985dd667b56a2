"""Verbs on the application's job queues: list, requeue, delete, flush."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from redis.asyncio import Redis

from incident_arena.stores.base import Account, StoreSpec, only_one
from incident_arena.stores.redis.admin import connected
from incident_arena.stores.rq import jobs
from incident_arena.stores.rq.layout import STATES
from incident_arena.verbs.acts import Act, Answer, Call, Refusal, Route, detail
from incident_arena.verbs.command import Argument, Command, Group

GROUP = Group("queue", "the application's background jobs")
NAMED, ONE = Argument("queue"), Argument("job")
STATE = Argument("--state", choices=STATES, default="queued")
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
                "queue-requeue", "POST", f"{job}/requeue", "change", self.requeue, "run a job again",
                (Command("requeue", "run a job again that failed, or that a worker left", (NAMED, ONE), GROUP),),
            ),
            Route(
                "queue-requeue-failed", "POST", f"{queue}/requeue-failed", "change", self.requeue_failed, "run them",
                (Command("requeue-failed", "run all failed jobs of a queue again", (NAMED,), GROUP),),
            ),
            Route(
                "queue-requeue-left", "POST", f"{queue}/requeue-left", "change", self.requeue_left, "run them",
                (Command("requeue-left", "run the jobs again that workers took and left", (NAMED,), GROUP),),
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
                names = await jobs.names(client)
                return {"queues": {short: await jobs.counts(client, full) for short, full in names.items()}}

        return Act("queues", "", effect)

    async def jobs(self, call: Call) -> Act:
        """Jobs of one state, the ones that are next (or oldest) first."""
        state = call.option("state", STATES)
        count = call.number("count", 20, 500)
        queue = call.path["queue"]

        async def effect() -> Answer:
            async with self._connected() as client:
                full = await _full(client, queue)
                ids = await jobs.of_state(client, full, state, count)
                return {"queue": queue, "state": state, "jobs": [await jobs.described(client, job) for job in ids]}

        return Act("queue-jobs", detail(queue=queue, state=state), effect)

    async def requeue(self, call: Call) -> Act:
        """One job that failed or was left."""
        queue, job = call.path["queue"], call.path["job"]

        async def effect() -> Answer:
            async with self._connected() as client:
                full = await _full(client, queue)
                there = job in await jobs.of_state(client, full, "failed") or job in await jobs.left(client, full)
                if not there or not await jobs.put_back(client, full, job):
                    reason = f"has not failed in queue {queue!r}, and no worker left it there"
                    raise Refusal(f"job {job!r}", reason, status=404)
                return {"requeued": [job]}

        return Act("queue-requeue", detail(queue=queue, job=job), effect)

    async def requeue_failed(self, call: Call) -> Act:
        """All failed jobs of a queue."""
        return self._requeued("queue-requeue-failed", call, lambda client, full: jobs.of_state(client, full, "failed"))

    async def requeue_left(self, call: Call) -> Act:
        """All jobs of a queue that workers took, or started, and left."""
        return self._requeued("queue-requeue-left", call, jobs.left)

    def _requeued(self, name: str, call: Call, which: Callable[[Redis, str], Awaitable[list[str]]]) -> Act:
        queue = call.path["queue"]

        async def effect() -> Answer:
            async with self._connected() as client:
                full = await _full(client, queue)
                found = await which(client, full)
                return {"requeued": [job for job in found if await jobs.put_back(client, full, job)]}

        return Act(name, detail(queue=queue), effect)

    async def delete(self, call: Call) -> Act:
        """One job, whatever its state."""
        queue, job = call.path["queue"], call.path["job"]

        async def effect() -> Answer:
            async with self._connected() as client:
                full = await _full(client, queue)
                if not await jobs.delete(client, full, [job]):
                    raise Refusal(f"job {job!r}", f"is not in queue {queue!r}", status=404)
                return {"deleted": 1}

        return Act("queue-delete", detail(queue=queue, job=job), effect)

    async def flush(self, call: Call) -> Act:
        """All waiting jobs of a queue."""
        queue = call.path["queue"]

        async def effect() -> Answer:
            async with self._connected() as client:
                full = await _full(client, queue)
                waiting = await jobs.of_state(client, full, "queued")
                return {"deleted": await jobs.delete(client, full, waiting)}

        return Act("queue-flush", detail(queue=queue), effect)

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[Redis]:
        async with connected(self.store, self.account, decode=False) as client:
            yield client


async def _full(client: Redis, queue: str) -> str:
    names = await jobs.names(client)
    if queue not in names:
        raise Refusal(f"queue {queue!r}", "does not exist", f"choose: {', '.join(names) or 'none yet'}", status=404)
    return names[queue]
