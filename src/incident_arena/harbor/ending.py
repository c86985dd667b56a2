"""How an agent's time ends: its program is ended a minute after it declared, and its calls of the model are kept."""

import asyncio
import contextlib
import json
from collections import Counter
from collections.abc import Coroutine, Sequence
from pathlib import Path

from incident_arena.analysis.errored import CALLS_FILE, ROUTE_FILE
from incident_arena.errors import ArenaError
from incident_arena.kube import Kube
from incident_arena.route import Call, Route, summarise
from incident_arena.sandbox import TIMED_OUT, Ended

FROZEN = "incident-arena.io/frozen"
"""The label that the referee puts on the agent's pod once it has declared."""
OVER = "ended"
"""The label's value once the minute after the declaration is over (services/referee/watching.py)."""
LOOK_S = 3.0
READ_S = 30.0
LOG = "/log/calls.jsonl"
NAMES_FILE = "refused-names.json"
REFUSED = "refused "
"""What the DNS filter's log says before a name that it did not find (templates/egress.yaml)."""
LOG_BYTES = 4 * 1024 * 1024
NAMES_KEPT = 100
OVER_TEXT = "\nthe repair was declared a minute ago; the agent's time is over\n"


async def until_over(kube: Kube, pod: str, work: Coroutine[None, None, Ended]) -> Ended:
    """Let a command of the agent's run, at most until a minute after the declaration.

    Args:
        kube: the cluster.
        pod: the agent's.
        work: the command; cancelled when the agent's time is over, which ends all that it started.
    """
    running = asyncio.ensure_future(work)
    try:
        while True:
            done, _ = await asyncio.wait({running}, timeout=LOOK_S)
            if done:
                return running.result()
            if await _over(kube, pod):
                running.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    return await running
                return Ended(TIMED_OUT, "", OVER_TEXT)
    finally:
        if not running.done():
            running.cancel()
            await asyncio.wait({running})


async def _over(kube: Kube, pod: str) -> bool:
    try:
        seen = await kube.get(f"/api/v1/namespaces/{kube.namespace}/pods/{pod}")
    except ArenaError:
        return False  # a busy API server is no reason to end anything; a pod that is gone ends its commands by itself
    return str(seen["metadata"].get("labels", {}).get(FROZEN, "")) == OVER


async def keep_route(
    kube: Kube, gateway: str, trial: Path, *, started: float, ended: float, more: Sequence[Call] = ()
) -> Route:
    """Keep the gateway's record of the agent's calls, and what follows from it, in the trial's folder.

    Args:
        kube: the cluster.
        gateway: component of the gateway.
        trial: Harbor's folder of the trial; the agent writes nowhere but below some of its folders.
        started: when the agent could first act, seconds since the epoch.
        ended: when it was gone.
        more: calls that did not go through the gateway.

    Raises:
        ArenaError: the gateway can't be asked.
    """
    pod = await kube.pod_of(gateway)
    read = await kube.exec(pod, ("sh", "-c", f"cat {LOG} 2>/dev/null || :"), deadline_s=READ_S)
    calls = [Call.model_validate_json(line) for line in read.stdout.splitlines() if line.endswith("}")]
    calls = sorted([*calls, *more], key=lambda call: call.at)
    route = summarise(calls, agent_started=started, agent_ended=ended)
    (trial / CALLS_FILE).write_text("".join(call.model_dump_json() + "\n" for call in calls))
    (trial / ROUTE_FILE).write_text(route.model_dump_json(indent=1) + "\n")
    return route


async def keep_names(kube: Kube, dns: str, trial: Path) -> dict[str, int]:
    """Keep which names the agent looked up in vain, and how often, in the trial's folder.

    Args:
        kube: the cluster.
        dns: component of the DNS filter.
        trial: Harbor's folder of the trial.

    Raises:
        ArenaError: the log can't be had.
    """
    names = refused_names(await kube.log(await kube.pod_of(dns), most=LOG_BYTES))
    (trial / NAMES_FILE).write_text(json.dumps(names, indent=1) + "\n")
    return names


def refused_names(log: str) -> dict[str, int]:
    """What a DNS filter's log says: the NAMES_KEPT most frequent names, each with how often it was asked for."""
    counts = Counter(
        line.partition(REFUSED)[2].strip().rstrip(".").lower() for line in log.splitlines() if f"] {REFUSED}" in line
    )
    return dict(counts.most_common(NAMES_KEPT))
