"""A way from this machine's loopback to a service of an episode's cluster."""

import asyncio
import contextlib
import os
import re
from collections.abc import AsyncGenerator

from incident_arena.errors import InfrastructureError
from incident_arena.harbor.terminal import OnTerminal
from incident_arena.kube import Kube
from incident_arena.wait import DeadlineError, until_async

TELEMETRY = ("prometheus", 9090)
OPEN_S = 20.0
WIDE = (500, 24)
"""Of its terminal: no message is broken."""
_AT = re.compile(r"Forwarding from (127\.0\.0\.1:\d+)")


def kubectl(kube: Kube) -> tuple[str, ...]:
    """The program, with all that it needs to reach the cluster."""
    return kube._kubectl  # noqa: SLF001 - its other users are in the package kube


@contextlib.asynccontextmanager
async def telemetry(kube: Kube) -> AsyncGenerator[str | None]:
    """The metrics' pages on a free port of the loopback, as an address; None when there is no way to them.

    It ends with the block, and with this process however that ends.
    """
    service, port = TELEMETRY
    argv = (*kubectl(kube), "port-forward", "--address=127.0.0.1", f"service/{service}", f":{port}")
    program = OnTerminal(argv, WIDE)
    said = bytearray()

    def read() -> None:
        try:
            data = os.read(program.master, 4096)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            loop.remove_reader(program.master)
        said.extend(data[: max(0, 65536 - len(said))])

    async def open_() -> tuple[bool, str]:
        text = said.decode(errors="replace")
        if program.ended:
            raise InfrastructureError("the way to the metrics", text.strip() or "ended")
        return _AT.search(text) is not None, text

    loop = asyncio.get_running_loop()
    loop.add_reader(program.master, read)
    try:
        address = None
        with contextlib.suppress(DeadlineError, InfrastructureError):
            await until_async("the metrics are reachable", open_, deadline_s=OPEN_S, every_s=0.1)
            found = _AT.search(said.decode(errors="replace"))
            address = f"http://{found[1]}" if found else None
        yield address
    finally:
        loop.remove_reader(program.master)
        await program.close()
