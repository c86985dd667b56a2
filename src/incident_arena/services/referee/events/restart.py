"""Restart: a component's pods are replaced, as an update of their node would."""

import functools

from incident_arena.formats.parameters import Parameters as Wanted
from incident_arena.formats.task import Event
from incident_arena.services import cluster
from incident_arena.services.referee.parts import Parts
from incident_arena.services.referee.patience import StalledError, insist, patient


class Parameters(Wanted):
    """None."""


async def run(parts: Parts, event: Event, _parameters: Parameters) -> str:
    """Delete a component's pods, and wait until as many others are ready.

    Raises:
        StalledError: it has no pod.
        DeadlineError: it does not come back before the deadline.
    """
    component = event.component
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
