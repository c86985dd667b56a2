"""RQ as a store of an application: the jobs in a Redis of its, which is a store by itself for everything else."""

from typing import ClassVar

from incident_arena.stores.base import Account, Store, StoreSpec
from incident_arena.stores.redis.client import server_of
from incident_arena.stores.rq import layout

COUNTED = ("started", "failed", "finished", "deferred", "scheduled")


class RqStore(Store):
    """What is saved of jobs is the Redis' own state; a picture of it would be of a moment's work."""

    kind: ClassVar[str] = "rq"

    def __init__(self, spec: StoreSpec, account: Account, timeout_s: float = 5.0) -> None:
        super().__init__(spec, account, timeout_s)
        self.redis = server_of(spec, account, timeout_s)

    def jobs(self) -> dict[str, dict[str, int]]:
        """Jobs by state in each queue, by the queue's short name.

        `queued`: waiting; `taken`: by a worker which has not begun; the others are RQ's registries.

        Raises:
            StoreError: the Redis does not answer, or holds something else in a queue's place.
        """
        found: dict[str, dict[str, int]] = {}
        command = self.redis.command
        for full in sorted(str(name) for name in command("SMEMBERS", layout.QUEUES)):
            queue = full.removeprefix(layout.QUEUE)
            counts = {
                "queued": int(command("LLEN", full)),
                layout.TAKEN: int(command("LLEN", f"{full}{layout.INTERMEDIATE}")),
            }
            counts |= {state: int(command("ZCARD", f"{layout.REGISTRIES[state]}{queue}")) for state in COUNTED}
            found[layout.short(full)] = counts
        return found

    def backlog(self) -> tuple[int, int]:
        """How many jobs wait, taken ones included, and how many run, in all queues.

        Raises:
            StoreError: see jobs.
        """
        states = self.jobs().values()
        return sum(each["queued"] + each[layout.TAKEN] for each in states), sum(each["started"] for each in states)

    def close(self) -> None:
        """See Store.close."""
        self.redis.close()


STORE = RqStore
