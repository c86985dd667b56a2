"""Verbs on the application's components: status, logs, restart, pause, resume, scale.

Only the workloads that the pod was told of: never a part of the harness.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from pydantic import Field

from incident_arena.services import cluster
from incident_arena.services.admin.config import Workload
from incident_arena.services.cluster import Cluster, ClusterError
from incident_arena.stores.kubernetes.picture import COMPONENT
from incident_arena.verbs.acts import Act, Answer, Body, Call, Refusal, Route, detail, one_of
from incident_arena.verbs.command import Argument, Command

KINDS = {"Deployment": "deployments", "StatefulSet": "statefulsets"}
PAUSED = "incident-arena.io/paused-replicas"
RESTARTED = "kubectl.kubernetes.io/restartedAt"
MOST_REPLICAS = 5

ONE = Argument("component")
LINES = Argument("--lines", type="number", default=100, help="lines from each pod (default 100)")
WHICH = Argument(
    "--which", choices=("current", "previous"), default="current", help="previous: before the last restart"
)


class Replicas(Body):
    """How many pods a component is to have."""

    replicas: int = Field(ge=0, le=MOST_REPLICAS)


@dataclass(frozen=True)
class Components:
    """The verbs, on the components `known`: name → kind of its workload."""

    known: Mapping[str, Workload]
    kubernetes: Cluster

    def routes(self) -> list[Route]:
        """The verbs on components."""
        one = "/components/{component}"
        return [
            Route(
                "components", "GET", "/components", "read", self.show, "replicas, readiness, restarts",
                (Command("components", "status of every component: replicas, readiness, restarts", narrows=True),),
            ),
            Route(
                "logs", "GET", f"{one}/logs", "read", self.logs, "its pods' logs: ?lines=100&which=current|previous",
                (Command("logs", "the last lines that a component's pods wrote", (ONE, LINES, WHICH)),),
            ),
            Route(
                "restart", "POST", f"{one}/restart", "change", self.restart, "replace a component's pods",
                (Command("restart", "replace a component's pods", (ONE,)),),
            ),
            Route(
                "pause", "POST", f"{one}/pause", "change", self.pause, "stop it; resume brings it back",
                (Command("pause", "stop a component; resume brings it back", (ONE,)),),
            ),
            Route(
                "resume", "POST", f"{one}/resume", "change", self.resume, "bring a paused component back",
                (Command("resume", "bring a paused component back", (ONE,)),),
            ),
            Route(
                "scale", "POST", f"{one}/scale", "change", self.scale, "set the number of replicas: {replicas}",
                (
                    Command(
                        "scale", "set a component's number of replicas", (ONE, Argument("replicas", type="number"))
                    ),
                ),
            ),
        ]  # fmt: skip

    async def show(self, _call: Call) -> Act:
        """Status of each component."""

        async def effect() -> Answer:
            workloads = {
                item["metadata"]["name"]: item for kind in KINDS.values() for item in await self.kubernetes.items(kind)
            }
            pods = await self.kubernetes.items("pods")
            return {
                "components": {
                    name: _status(
                        workloads.get(name, {}),
                        [pod for pod in pods if pod["metadata"]["labels"].get(COMPONENT) == name],
                    )
                    for name in self.known
                }
            }

        return Act("components", "", effect)

    async def logs(self, call: Call) -> Act:
        """The last lines of each pod of a component."""
        name = self._component(call)
        lines = call.number("lines", 100, 2000)
        previous = call.option("which", ("current", "previous")) == "previous"

        async def effect() -> Answer:
            pods = await self.kubernetes.items("pods", f"{COMPONENT}={name}")
            query = {"tailLines": str(lines), "previous": str(previous).lower()}
            return {"component": name, "pods": {pod: await self._log(pod, query) for pod in _names(pods)}}

        return Act("logs", detail(component=name, lines=lines), effect)

    async def restart(self, call: Call) -> Act:
        """Replace the pods: a Deployment rolls, a StatefulSet's pod is deleted and made anew."""
        name = self._component(call)

        async def effect() -> Answer:
            await self.roll(name)
            return {"restarted": name}

        return Act("restart", detail(component=name), effect)

    async def pause(self, call: Call) -> Act:
        """Scale to zero, with the number of replicas kept in an annotation."""
        name = self._component(call)

        async def effect() -> Answer:
            workload = await self._workload(name)
            replicas = workload["spec"].get("replicas", 1)
            if replicas == 0:
                raise Refusal(f"component {name}", "has no replicas already", "resume or scale it", status=409)
            await self._patch(name, _scaled(0, str(replicas)))
            return {"paused": name, "replicas": replicas}

        return Act("pause", detail(component=name), effect)

    async def resume(self, call: Call) -> Act:
        """Scale back to what it had when it was paused."""
        name = self._component(call)

        async def effect() -> Answer:
            kept = (await self._workload(name))["metadata"].get("annotations", {}).get(PAUSED)
            if kept is None:
                raise Refusal(f"component {name}", "is not paused", "scale it instead", status=409)
            await self._patch(name, _scaled(int(kept), None))
            return {"resumed": name, "replicas": int(kept)}

        return Act("resume", detail(component=name), effect)

    async def scale(self, call: Call) -> Act:
        """Set the number of replicas. In the audit, zero has a name of its own."""
        name = self._component(call)
        replicas = call.parse(Replicas).replicas
        if replicas > 1 and self.known[name] == "StatefulSet":
            raise Refusal(f"component {name}", "is a single server with its own volume", "0 or 1 replicas are possible")

        async def effect() -> Answer:
            await self._patch(name, _scaled(replicas, None))
            return {"scaled": name, "replicas": replicas}

        return Act("scale" if replicas else "scale-to-zero", detail(component=name, replicas=replicas), effect)

    async def roll(self, name: str) -> None:
        """Replace a component's pods (also after its connection settings changed)."""
        if self.known[name] == "StatefulSet":
            await self.kubernetes.delete("pods", f"{name}-0")
        else:
            now = datetime.now(UTC).isoformat()
            await self._patch(name, {"spec": {"template": {"metadata": {"annotations": {RESTARTED: now}}}}})

    def _component(self, call: Call) -> str:
        return one_of("the component", call.path["component"], self.known)

    async def _workload(self, name: str) -> dict[str, Any]:
        return await self.kubernetes.get(KINDS[self.known[name]], name)

    async def _patch(self, name: str, change: dict[str, Any]) -> None:
        await self.kubernetes.patch(KINDS[self.known[name]], name, change)

    async def _log(self, pod: str, query: dict[str, str]) -> list[str]:
        try:
            return (await self.kubernetes.log(pod, query)).splitlines()
        except ClusterError as error:
            # A pod that has not started has no log; the others' logs are still worth showing.
            return [f"(no log: {error.reason})"]


def _names(pods: list[dict[str, Any]]) -> list[str]:
    return [pod["metadata"]["name"] for pod in pods]


def _scaled(replicas: int, kept: str | None) -> dict[str, Any]:
    return {"metadata": {"annotations": {PAUSED: kept}}, "spec": {"replicas": replicas}}


def _status(workload: dict[str, Any], pods: list[dict[str, Any]]) -> Answer:
    status = workload.get("status", {})
    kept = workload.get("metadata", {}).get("annotations", {}).get(PAUSED)
    return {
        "replicas": workload.get("spec", {}).get("replicas", 0),
        "ready": status.get("readyReplicas", 0),
        **({"paused": True} if kept is not None else {}),
        "pods": [_pod(pod) for pod in pods],
    }


def _pod(pod: dict[str, Any]) -> Answer:
    status = pod["status"]
    containers = status.get("containerStatuses", [])
    waiting = [c["state"]["waiting"].get("reason", "") for c in containers if "waiting" in c.get("state", {})]
    last = [c["lastState"]["terminated"] for c in containers if "terminated" in c.get("lastState", {})]
    return {
        "name": pod["metadata"]["name"],
        "phase": "Terminating" if "deletionTimestamp" in pod["metadata"] else status.get("phase", ""),
        "ready": cluster.ready(pod),
        "restarts": sum(c.get("restartCount", 0) for c in containers),
        "started": status.get("startTime"),
        **({"waiting": waiting[0]} if waiting else {}),
        **({"last_exit": {"code": last[0].get("exitCode"), "at": last[0].get("finishedAt")}} if last else {}),
    }
