"""The program in the pod `egress-proxy`.

    variable   meaning
    RELAY      host:port of the runner's relay; empty: there is no way out, and every tunnel is refused
    TOKEN      what the relay wants to see
    ALLOWED    JSON list of host:port
    PORT       where it listens; default 3128

Each tunnel that has ended is one line of JSON on standard output.
"""

import asyncio
import dataclasses
import json
import os
import signal
import sys
from collections.abc import Mapping

from incident_arena.egress.connect import ConnectProxy, Dial, Streams, Target, Tunnel, Via, dial_via


def relayed(relay: str, token: str) -> Dial:
    """How a target is reached: through the relay."""

    async def dial(target: Target) -> Streams:
        if not relay:
            raise ConnectionRefusedError("there is no relay")
        at = Target.parse(relay)
        return await dial_via(Via(at.host, at.port, authorization=f"Bearer {token}"), target)

    return dial


def _tell(tunnel: Tunnel) -> None:
    sys.stdout.write(json.dumps(dataclasses.asdict(tunnel)) + "\n")
    sys.stdout.flush()


async def run(environment: Mapping[str, str]) -> None:
    """Serve until SIGTERM.

    Raises:
        ValueError: ALLOWED or RELAY is wrong.
    """
    allowed = [Target.parse(each) for each in json.loads(environment.get("ALLOWED") or "[]")]
    dial = relayed(environment.get("RELAY", ""), environment.get("TOKEN", ""))
    proxy = ConnectProxy(allowed, dial, told=_tell)
    await proxy.start("0.0.0.0", int(environment.get("PORT", "3128")))  # noqa: S104  a pod's own address
    ended = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    await ended.wait()
    await proxy.close()


if __name__ == "__main__":
    asyncio.run(run(os.environ))
