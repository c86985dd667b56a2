"""What the application takes of the machine: its containers by the kubelet's figures, connections, waiting work."""

import asyncio
import sys
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

from incident_arena.formats.records import Container, Usage
from incident_arena.services.cluster import Cluster
from incident_arena.services.referee.parts import Parts
from incident_arena.stores.kubernetes.picture import CLASS, COMPONENT

EVERY_S = 5.0
TIMEOUT_S = 3.0
KUBELET_PORT = 10250
SUMMARY = "/stats/summary"
NO_DISKS = {"only_cpu_and_memory": "true"}
"""Of a folder that is not on a disk of its own the kubelet knows no figures, and then it gives none at all."""
NANO = 1e9

type Json = dict[str, Any]
type Figures = dict[tuple[str, str], Json]
"""The kubelet's figures by the pod's uid and the container's name."""


class Meter:
    """Writes a line of usage.jsonl at each look. Its connections are its own."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._own = parts.config.connect(TIMEOUT_S)
        self._kubelets: dict[str, Cluster] = {}
        self._told = ""

    async def look(self) -> None:
        """Write one line; what cannot be asked is left out of it."""
        at = time.time()
        containers, (connections, waiting) = await asyncio.gather(self._containers(), asyncio.to_thread(self._stores))
        seen = Usage(at=at, containers=containers, connections=connections, waiting=waiting)
        self._parts.evidence.live.append("usage.jsonl", seen)

    async def _containers(self) -> tuple[Container, ...]:
        try:
            pods = await self._parts.cluster.items("pods", f"{CLASS}=application")
        except Exception as error:  # noqa: BLE001 - what is odd is missing, and ends nothing
            self._say(error)
            return ()
        hosts = sorted({pod["status"]["hostIP"] for pod in pods if pod["status"].get("hostIP")})
        figures: Figures = {}
        for found in await asyncio.gather(*(self._figures(host) for host in hosts)):
            figures |= found
        # One that is ending may stand beside its successor for as long as it gets to end.
        kept = [pod for pod in pods if not pod["metadata"].get("deletionTimestamp")]
        return tuple(one for pod in kept for one in containers(pod, figures))

    async def _figures(self, host: str) -> Figures:
        if host not in self._kubelets:
            config = self._parts.config
            self._kubelets[host] = Cluster(
                f"https://{host}:{KUBELET_PORT}", config.service_account, config.namespace, TIMEOUT_S
            )
        try:
            summary = await self._kubelets[host].call("GET", SUMMARY, query=NO_DISKS)
            return {
                (pod["podRef"]["uid"], container["name"]): container
                for pod in summary.get("pods") or []
                for container in pod.get("containers") or []
            }
        except Exception as error:  # noqa: BLE001 - as above
            self._say(error)
            return {}

    def _stores(self) -> tuple[dict[str, int], int | None]:
        """Connections of each, and waiting work: one after the other, since a store is for one thread."""
        found = {name: self._asked(store.connections) for name, store in self._own.items()}
        waiting = self._asked(lambda: self._parts.substrate.backlog(self._own).waiting)
        return {name: count for name, count in found.items() if count is not None}, waiting

    def _asked(self, ask: Callable[[], int | None]) -> int | None:
        """An answer; None where the component does not give one, whatever the agent made of it."""
        try:
            return ask()
        except Exception as error:  # noqa: BLE001 - see above
            self._say(error)
            return None

    def _say(self, error: Exception) -> None:
        """Once for each reason in a row, to the pod's log."""
        if (told := str(error)) != self._told:
            self._told = told
            sys.stderr.write(f"usage: {told}\n")
            sys.stderr.flush()


def containers(pod: Json, figures: Figures) -> Iterator[Container]:
    """A pod's containers, with their figures where there are some."""
    uid = pod["metadata"]["uid"]
    for status in pod["status"].get("containerStatuses") or []:
        last = (status.get("state") or {}).get("terminated") or (status.get("lastState") or {}).get("terminated") or {}
        seen = figures.get((uid, status["name"])) or {}
        cpu, memory = seen.get("cpu") or {}, seen.get("memory") or {}
        yield Container(
            component=pod["metadata"]["labels"].get(COMPONENT, ""),
            name=status["name"],
            pod=uid,
            restarts=status.get("restartCount", 0),
            ended=last.get("reason", ""),
            ended_at=_moment(last.get("finishedAt")),
            measured=_moment(cpu.get("time")),
            cpu=cpu.get("usageCoreNanoSeconds", 0) / NANO,
            memory=memory.get("workingSetBytes", 0),
        )


def _moment(told: str | None) -> float | None:
    """RFC 3339 as seconds since the epoch."""
    return datetime.fromisoformat(told).timestamp() if told else None
