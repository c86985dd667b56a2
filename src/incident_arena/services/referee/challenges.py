"""What is done to the application once the agent is gone, to see whether the repair holds."""

import asyncio
import functools
import time

from incident_arena import wait
from incident_arena.services import cluster
from incident_arena.services.referee import application
from incident_arena.services.referee.parts import Parts
from incident_arena.services.referee.patience import POLL_S, StalledError, insist, patient
from incident_arena.stores.mariadb.client import Sql
from incident_arena.stores.redis.client import Commands

STALLED_S = 30.0
"""A backlog that gets no shorter for so long, while nothing is added, will not drain."""
ABANDONED_S = 10.0
"""A job that is said to run for so long, while all others are done, is one of a worker that was killed: RQ notices
only when its entry runs out."""


async def passing(what: str, seconds: float) -> None:
    """Let a time pass in which nothing is done but to look."""
    end = time.monotonic() + seconds

    async def probe() -> tuple[bool, str]:
        return time.monotonic() >= end, ""

    await wait.until_async(what, probe, deadline_s=seconds + 60, every_s=POLL_S)


async def drained(parts: Parts) -> str:
    """Pause the load, and wait until its operations have ended and no job waits or runs.

    Raises:
        StalledError: the backlog gets no shorter.
        DeadlineError: it does not drain before the deadline.
    """
    await insist("the load pauses", parts.load.pause)
    least: tuple[int, int] | None = None
    progress = time.monotonic()
    abandoned = ""

    async def probe() -> tuple[bool, str]:
        nonlocal least, progress, abandoned
        in_flight = int((await parts.load.status())["in_flight"])
        waiting, running = await asyncio.to_thread(backlog, parts.stores.queue)
        left = (in_flight + waiting, running)
        seen = f"{in_flight} operations under way, {waiting} jobs wait, {running} run"
        if least is None or left < least:
            least, progress = left, time.monotonic()
        stalled = time.monotonic() - progress
        if left[0] and stalled > STALLED_S:
            raise StalledError("the backlog", f"gets no shorter; {seen}")
        if not left[0] and running and stalled > ABANDONED_S:
            abandoned = f"; {running} jobs are of workers that are gone"
            return True, seen
        return left == (0, 0), seen

    waited = await patient("the backlog has drained", probe, parts.task.deadlines.drain)
    return f"drained in {waited:.1f} s{abandoned}"


def backlog(redis: Commands) -> tuple[int, int]:
    """How many of RQ's jobs wait, and how many run, in all of its queues."""
    queues = [str(name) for name in redis.command("SMEMBERS", "rq:queues")]
    registries = [f"rq:wip:{name.removeprefix('rq:queue:')}" for name in queues]
    waiting = sum(int(redis.command("LLEN", name)) for name in queues)
    return waiting, sum(int(redis.command("ZCARD", name)) for name in registries)


async def restart(parts: Parts, component: str) -> str:
    """Delete a component's pods, and wait until as many others are ready.

    Raises:
        StalledError: it has no pod.
        DeadlineError: it does not come back before the deadline.
    """
    before: dict[str, str] = {}

    async def find() -> None:
        before.update({pod["metadata"]["uid"]: pod["metadata"]["name"] for pod in await parts.cluster.pods(component)})

    await insist(f"component '{component}' is looked up", find)
    if not before:
        raise StalledError(f"component '{component}'", "has no pod to restart")
    for name in before.values():
        await insist(f"pod '{name}' is deleted", functools.partial(parts.cluster.delete_pod, name))

    async def probe() -> tuple[bool, str]:
        pods = await parts.cluster.pods(component)
        fresh = [pod for pod in pods if pod["metadata"]["uid"] not in before]
        ready = [pod for pod in fresh if cluster.ready(pod)]
        seen = "; ".join(cluster.state(pod) for pod in fresh) or "no new pod"
        return len(ready) >= len(before) and len(fresh) == len(pods), seen

    waited = await patient(f"component '{component}' is ready again", probe, parts.task.deadlines.restart)
    return f"ready in {waited:.1f} s"


async def churn(parts: Parts) -> str:
    """End every connection that the application has to MariaDB, as a network or a proxy does.

    Raises:
        DeadlineError: MariaDB does not answer.
    """
    account = application.of(parts.task.substrate).account
    ended = 0

    async def end() -> None:
        nonlocal ended
        ended = await asyncio.to_thread(_end_connections, parts.stores.mariadb, account)

    await insist(f"the connections of {account} end", end)
    return f"ended {ended} connections"


def _end_connections(sql: Sql, account: str) -> int:
    ((count,),) = sql.query("SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE USER = %s", (account,))
    sql.query(f"KILL USER {account}")
    return int(count)
