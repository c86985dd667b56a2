"""The stages from nothing to the agent's, in order; each has one name, one deadline of the task, and what it plays."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from incident_arena.episode import values
from incident_arena.episode.ground import Ground
from incident_arena.episode.way_out import EGRESS
from incident_arena.errors import InfrastructureError
from incident_arena.kube.order import stores_first
from incident_arena.node import allocate, down, way_out
from incident_arena.node.spec import this_process
from incident_arena.node.up import NodeImages, Up
from incident_arena.wait import until_async

PLACE_S = 900.0
"""Seconds that an episode waits for another to end; export.py adds them to Harbor's limit on the start."""


@dataclass(frozen=True)
class Step:
    """One stage. `deadline` is a field of tasks.Deadlines; `play` returns a detail for the record."""

    name: str
    deadline: str
    play: Callable[[Ground, float], Awaitable[str]]


async def _node(ground: Ground, _deadline_s: float) -> str:
    """A node of its own, which ends with this process."""
    built = ground.images
    images = NodeImages(
        {image.reference: image.archive for image in built.values()},
        built["pause"].reference,
        built["coredns"].reference,
    )
    up = Up(ground.settings, ground.name, images, lambda _text: None)
    while True:
        try:
            await _started(ground, up)
        except allocate.FullError:  # another episode that waited for the place too was faster
            await place(ground)
        else:
            return ", ".join(f"{stage} {seconds:.1f} s" for stage, seconds in up.seconds.items())


async def _started(ground: Ground, up: Up) -> None:
    cpu_count = ground.settings.cpus_per_node
    # A thread can't be cancelled: wait for it, so that `stop` finds a node that is whole or gone.
    starting = asyncio.create_task(asyncio.to_thread(up.start, owner=this_process(), cpu_count=cpu_count))
    try:
        ground.spec = await asyncio.shield(starting)
    except asyncio.CancelledError:
        await asyncio.wait({starting})
        if not starting.exception():
            ground.spec = starting.result()
        raise


async def place(ground: Ground) -> None:
    """Before the stages: wait until the machine bears one more node; episodes of other processes end by themselves."""
    limit = ground.settings.max_nodes

    async def free() -> tuple[bool, str]:
        await asyncio.to_thread(down.clean, ground.settings)  # one that was killed takes no place
        names = [spec.name for spec in await asyncio.to_thread(allocate.existing, ground.settings)]
        return len(names) < limit, f"{limit} nodes at most, and there are: {', '.join(names)}"

    await until_async("a place for one more node", free, deadline_s=PLACE_S, every_s=1.0)


async def _deploy(ground: Ground, deadline_s: float) -> str:
    """Open the machine's end of the way out, render the substrate's chart and apply it."""
    try:
        await ground.relay.start(ground.node.host_ip)
    except OSError as error:
        raise InfrastructureError("the relay", f"can't listen on {ground.node.host_ip}: {error}") from error
    told = values.make(
        ground.task,
        ground.task_folder,
        episode=ground.name,
        images={name: image.reference for name, image in ground.images.items()},
        api_address=ground.node.ip,
        egress=ground.relay.values(ground.node.host_ip),
    )
    manifests = await ground.kube.render(ground.task_folder / "chart", told)
    await ground.kube.apply(f"{NAMESPACE_MANIFEST}{stores_first(manifests)}", deadline_s=deadline_s)
    return f"{manifests.count(chr(10) + 'kind: ')} objects"


NAMESPACE_MANIFEST = "apiVersion: v1\nkind: Namespace\nmetadata: {name: arena}\n"


async def _ready(ground: Ground, deadline_s: float) -> str:
    """Every pod ready, every setup job complete, and the way out open for the one pod that may take it."""
    waited = await ground.kube.wait_ready(deadline_s=deadline_s)
    pod = await ground.kube.pod_of(EGRESS)
    address = (await ground.kube.get(f"/api/v1/namespaces/{ground.kube.namespace}/pods/{pod}"))["status"]["podIP"]
    await asyncio.to_thread(way_out.open_to, ground.node, address, ground.relay.port)
    return f"all ready after {waited:.1f} s"


def _referee(*verb: str) -> Callable[[Ground, float], Awaitable[str]]:
    async def play(ground: Ground, deadline_s: float) -> str:
        return await ground.referee(*verb, deadline_s=deadline_s)

    return play


STAGES = (
    Step("node", "node", _node),
    Step("deploy", "deploy", _deploy),
    Step("ready", "ready", _ready),
    Step("healthy", "healthy", _referee("healthy")),
    Step("baseline", "baseline", _referee("baseline")),
    Step("snapshot-A", "snapshot", _referee("snapshot", "A")),
    Step("plant", "plant", _referee("plant")),
    Step("symptom", "symptom", _referee("symptom")),
    Step("snapshot-B", "snapshot", _referee("snapshot", "B")),
)
RUNNER_STAGES = ("node", "deploy", "ready")
"""Stages that the referee does not see; it is told of them."""
