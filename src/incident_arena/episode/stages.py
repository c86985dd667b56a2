"""The stages from nothing to the agent's, in order; each has one name, one deadline from the task, and one act."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from incident_arena.episode import values
from incident_arena.episode.way_out import EGRESS
from incident_arena.errors import InfrastructureError
from incident_arena.kube.order import stores_first
from incident_arena.node import allocate, down, way_out
from incident_arena.node.spec import this_process
from incident_arena.node.up import NodeImages, Up
from incident_arena.wait import until_async

if TYPE_CHECKING:
    from incident_arena.episode.episode import Episode

PLACE_S = 900.0
"""Seconds that an episode waits for another to end; export.py adds them to Harbor's limit on the start."""
REFEREE = "incident_arena.services.referee"


@dataclass(frozen=True)
class Act:
    """One stage. `deadline` is a field of tasks.Deadlines; `act` returns a detail for the record."""

    name: str
    deadline: str
    act: "Callable[[Episode, float], Awaitable[str]]"


async def _node(episode: "Episode", _deadline_s: float) -> str:
    """A node of its own, which ends with this process."""
    built = episode.images
    images = NodeImages(
        {image.reference: image.archive for image in built.values()},
        built["pause"].reference,
        built["coredns"].reference,
    )
    up = Up(episode.settings, episode.name, images, lambda _text: None)
    while True:
        try:
            await _started(episode, up)
        except allocate.FullError:  # another episode that waited for the place too was faster
            await place(episode)
        else:
            return ", ".join(f"{stage} {seconds:.1f} s" for stage, seconds in up.seconds.items())


async def _started(episode: "Episode", up: Up) -> None:
    cpu_count = episode.settings.cpus_per_node
    # A thread can't be cancelled: wait for it, so that `stop` finds a node that is whole or gone.
    starting = asyncio.create_task(asyncio.to_thread(up.start, owner=this_process(), cpu_count=cpu_count))
    try:
        episode.spec = await asyncio.shield(starting)
    except asyncio.CancelledError:
        await asyncio.wait({starting})
        if not starting.exception():
            episode.spec = starting.result()
        raise


async def place(episode: "Episode") -> None:
    """Before the stages: wait until the machine bears one more node; episodes of other processes end by themselves."""
    limit = episode.settings.max_nodes

    async def free() -> tuple[bool, str]:
        await asyncio.to_thread(down.clean, episode.settings)  # one that was killed takes no place
        names = [spec.name for spec in await asyncio.to_thread(allocate.existing, episode.settings)]
        return len(names) < limit, f"{limit} nodes at most, and there are: {', '.join(names)}"

    await until_async("a place for one more node", free, deadline_s=PLACE_S, every_s=1.0)


async def _deploy(episode: "Episode", deadline_s: float) -> str:
    """Open the machine's end of the way out, render the substrate's chart and apply it."""
    try:
        await episode.relay.start(episode.node.host_ip)
    except OSError as error:
        raise InfrastructureError("the relay", f"can't listen on {episode.node.host_ip}: {error}") from error
    told = values.make(
        episode.task,
        episode.task_folder,
        episode=episode.name,
        images={name: image.reference for name, image in episode.images.items()},
        api_address=episode.node.ip,
        egress=episode.relay.values(episode.node.host_ip),
    )
    manifests = await episode.kube.render(episode.task_folder / "chart", told)
    await episode.kube.apply(f"{NAMESPACE_MANIFEST}{stores_first(manifests)}", deadline_s=deadline_s)
    return f"{manifests.count(chr(10) + 'kind: ')} objects"


NAMESPACE_MANIFEST = "apiVersion: v1\nkind: Namespace\nmetadata: {name: arena}\n"


async def _ready(episode: "Episode", deadline_s: float) -> str:
    """Every pod ready, every setup job complete, and the way out open for the one pod that may take it."""
    waited = await episode.kube.wait_ready(deadline_s=deadline_s)
    pod = await episode.kube.pod_of(EGRESS)
    address = (await episode.kube.get(f"/api/v1/namespaces/{episode.kube.namespace}/pods/{pod}"))["status"]["podIP"]
    await asyncio.to_thread(way_out.open_to, episode.node, address, episode.relay.port)
    return f"all ready after {waited:.1f} s"


def _referee(*verb: str) -> "Callable[[Episode, float], Awaitable[str]]":
    async def act(episode: "Episode", deadline_s: float) -> str:
        return await episode.referee(*verb, deadline_s=deadline_s)

    return act


STAGES = (
    Act("node", "node", _node),
    Act("deploy", "deploy", _deploy),
    Act("ready", "ready", _ready),
    Act("healthy", "healthy", _referee("healthy")),
    Act("baseline", "baseline", _referee("baseline")),
    Act("snapshot-A", "snapshot", _referee("snapshot", "A")),
    Act("plant", "plant", _referee("plant")),
    Act("symptom", "symptom", _referee("symptom")),
    Act("snapshot-B", "snapshot", _referee("snapshot", "B")),
)
RUNNER_STAGES = ("node", "deploy", "ready")
"""Stages that the referee does not see; it is told of them."""
