"""The load: notes are written and read again."""

from collections.abc import Sequence

import aiohttp

from incident_arena.formats.records import LedgerLine
from incident_arena.formats.task import LoadSpec
from incident_arena.workload.client import Client, Reply
from incident_arena.workload.operations import Answer, NotReadyError, Plan

KINDS = ("read", "write")
SEEDS = 10
"""Notes that are there before the load begins."""


class Tally:
    """Operations on notes."""

    def __init__(self, spec: LoadSpec, target: str) -> None:
        """Needs a running event loop."""
        self._client = Client(target, spec.timeout)

    @property
    def kinds(self) -> Sequence[str]:
        """Names of all kinds."""
        return KINDS

    async def prepare(self, before: Sequence[LedgerLine]) -> tuple[str, ...]:
        """Write the seeds, unless an earlier process has.

        Raises:
            NotReadyError: the application does not take them yet.
        """
        names = [f"seed-{number}" for number in range(SEEDS)]
        try:
            for name in [] if before else names:
                if (await self._write(name, name)).result != "ok":
                    raise NotReadyError(f"note {name} is not taken")
        except (TimeoutError, aiohttp.ClientError, OSError) as error:
            raise NotReadyError(f"{type(error).__name__}: {error}") from error
        return tuple(f"note/{name}" for name in names)

    def plan(self, kind: str, id_: int) -> Plan:
        """A new note for each write; reads go over the seeds."""
        if kind == "read":
            return Plan(lambda: self._read(f"seed-{id_ % SEEDS}"))
        return Plan(lambda: self._write(f"n{id_}", f"text-{id_}"), (f"note/n{id_}",), f"text-{id_}")

    def settle(self, id_: int, answer: Answer) -> None:
        """Nothing is kept."""

    async def close(self) -> None:
        """Close connections."""
        await self._client.close()

    async def _write(self, name: str, text: str) -> Answer:
        reply = await self._client.call("PUT", f"/notes/{name}", content={"text": text})
        if refusal := reply.refusal():
            return refusal
        return self._seen(name, reply) if reply.part("text") == text else reply.wrong(f"not {text!r}")

    async def _read(self, name: str) -> Answer:
        reply = await self._client.call("GET", f"/notes/{name}")
        if refusal := reply.refusal():
            return refusal
        return self._seen(name, reply)

    def _seen(self, name: str, reply: Reply) -> Answer:
        return Answer("ok", reply.status, witnessed=((f"note/{name}", str(reply.part("text"))),))
