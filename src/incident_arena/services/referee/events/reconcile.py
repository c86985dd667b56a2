"""Reconcile: who owns the deployment puts it back to what is written down, as a deploy tool does at its next run."""

import functools

from incident_arena.formats.parameters import Parameters as Wanted
from incident_arena.formats.task import Event
from incident_arena.services import cluster
from incident_arena.services.referee.parts import Parts
from incident_arena.services.referee.patience import StalledError, insist, patient

KINDS = ("deployments", "statefulsets")
WRITTEN_DOWN = ("replicas", "template")


class Parameters(Wanted):
    """None."""


async def prepare(parts: Parts, event: Event, _parameters: Parameters) -> None:
    """Write down how the component was set before anything was broken.

    Raises:
        ClusterError: it can't be asked.
        StalledError: the component is none.
    """
    kind, found = await _find(parts, event.component)
    written = {name: found["spec"][name] for name in WRITTEN_DOWN}
    parts.evidence.tell(written_down={**parts.evidence.state.written_down, event.component: {"kind": kind, **written}})


async def run(parts: Parts, event: Event, _parameters: Parameters) -> str:
    """Set it so again, and wait until all of it is ready.

    Raises:
        ClusterError: the cluster refused.
        DeadlineError: it does not become ready.
    """
    written = dict(parts.evidence.state.written_down[event.component])
    kind = str(written.pop("kind"))
    set_again = functools.partial(parts.cluster.replace_in_spec, kind, event.component, written)
    await insist(f"component '{event.component}' is set again", set_again)

    async def probe() -> tuple[bool, str]:
        found = await parts.cluster.get(kind, event.component)
        wanted, status = int(written["replicas"]), found.get("status", {})
        seen = status.get("observedGeneration", 0) >= found["metadata"]["generation"]
        updated = min(int(status.get("updatedReplicas", 0)), int(status.get("readyReplicas", 0)))
        whole = seen and updated >= wanted and int(status.get("replicas", 0)) == wanted
        pods = "; ".join(cluster.state(pod) for pod in await parts.cluster.pods(event.component))
        return whole, f"{updated} of {wanted} as written down and ready; {pods or 'no pod'}"

    waited = await patient(f"component '{event.component}' is as written down", probe, parts.task.deadlines.restart)
    return f"as written down, ready in {waited:.1f} s"


async def _find(parts: Parts, component: str) -> tuple[str, cluster.Json]:
    for kind in KINDS:
        for found in await parts.cluster.items(kind):
            if found["metadata"]["name"] == component:
                return kind, found
    raise StalledError(f"component '{component}'", "is neither a deployment nor a stateful set")
