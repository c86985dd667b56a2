"""Is everything in a namespace up? Read from the API's own objects."""

from dataclasses import dataclass, field
from typing import Any

from incident_arena.errors import InfrastructureError

type Json = dict[str, Any]

HOPELESS = frozenset({"ErrImageNeverPull", "InvalidImageName", "ErrImagePull", "ImagePullBackOff", "RunContainerError"})
"""Reasons of a waiting container that no time heals; every image is on the node before a pod starts."""


class HopelessError(InfrastructureError):
    """A pod or a job failed in a way that waiting does not heal."""


@dataclass(frozen=True)
class Readiness:
    """How far a namespace is: workloads up, of how many, and what each of the others waits for."""

    ready: int
    total: int
    waiting: tuple[str, ...] = ()
    hopeless: tuple[str, ...] = field(default=())

    @property
    def done(self) -> bool:
        """All of at least one workload are up."""
        return self.total > 0 and self.ready == self.total

    def __str__(self) -> str:
        """For a progress line or an error."""
        rest = "; ".join(self.waiting)
        return f"{self.ready} of {self.total} ready" + (f"; {rest}" if rest else "")


def judge(workloads: list[Json], jobs: list[Json], pods: list[Json]) -> Readiness:
    """Judge a namespace.

    Args:
        workloads: Deployments and StatefulSets; up when all replicas of the current generation are ready.
        jobs: up when complete.
        pods: those without an owner count too, and are up when ready; the others tell what is waited for.
    """
    bare = [pod for pod in pods if not pod["metadata"].get("ownerReferences")]
    down = [name(item) for item in workloads if not _replicas_ready(item)]
    unfinished = [name(job) for job in jobs if not condition(job, "Complete")]
    unready = [name(pod) for pod in bare if not pod_ready(pod)]
    hopeless = [f"job {name(job)}: {reason}" for job in jobs if (reason := condition(job, "Failed"))]
    waiting: list[str] = []
    for pod in pods:
        if pod_ready(pod) or pod.get("status", {}).get("phase") == "Succeeded":
            continue
        reason, text = _why(pod)
        waiting.append(f"{name(pod)}: {text}")
        if reason in HOPELESS:
            hopeless.append(waiting[-1])
    missing = [*down, *unfinished, *unready]
    if missing and not waiting:
        waiting = [f"{one}: no pod yet" for one in missing]
    total = len(workloads) + len(jobs) + len(bare)
    return Readiness(total - len(missing), total, tuple(sorted(waiting)), tuple(sorted(hopeless)))


def name(item: Json) -> str:
    """An object's name."""
    return str(item["metadata"]["name"])


def condition(item: Json, kind: str) -> str:
    """A condition's message (or its name, when it has none) if it holds, else nothing."""
    for entry in item.get("status", {}).get("conditions") or []:
        if entry["type"] == kind and entry["status"] == "True":
            return str(entry.get("message") or kind)
    return ""


def pod_ready(pod: Json) -> bool:
    """Ready, and not on its way out."""
    return bool(condition(pod, "Ready")) and "deletionTimestamp" not in pod["metadata"]


def _replicas_ready(item: Json) -> bool:
    status = item.get("status", {})
    wanted = item["spec"].get("replicas", 1)
    seen = status.get("observedGeneration", 0) >= item["metadata"].get("generation", 0)
    return bool(seen and status.get("readyReplicas", 0) >= wanted and status.get("updatedReplicas", 0) >= wanted)


def _why(pod: Json) -> tuple[str, str]:
    """The reason a pod is not ready: a short word where Kubernetes has one, and a text for a person."""
    if "deletionTimestamp" in pod["metadata"]:
        return "Terminating", "is being deleted"
    status = pod.get("status", {})
    for entry in status.get("conditions") or []:
        if entry["type"] == "PodScheduled" and entry["status"] == "False":
            return str(entry.get("reason", "")), f"not scheduled: {entry.get('message', '')}"
    containers = [*(status.get("initContainerStatuses") or []), *(status.get("containerStatuses") or [])]
    for container in containers:
        waiting = container.get("state", {}).get("waiting")
        if waiting and waiting.get("reason") not in {None, "PodInitializing", "ContainerCreating"}:
            return str(waiting["reason"]), _waiting(container, waiting)
    for container in containers:
        if "running" in container.get("state", {}) and not container.get("ready"):
            return "", f"container {container['name']} runs but is not ready"
    return "", f"{status.get('phase', 'unknown')}: containers are being created"


def _waiting(container: Json, waiting: Json) -> str:
    text = f"container {container['name']}: {waiting['reason']}"
    if message := waiting.get("message"):
        text += f" ({message})"
    ended = container.get("lastState", {}).get("terminated")
    if ended:
        text += f", last exit {ended.get('exitCode')} {ended.get('reason', '')}".rstrip()
    return text
