"""The pod's main program: looks at the faults and at the harness all the time, and freezes the agent when it declares.

Each loop has connections of its own, so that one that waits for a component under restart delays no other.
"""

import asyncio
import contextlib
import math
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import aiohttp

from incident_arena.errors import ArenaError
from incident_arena.faults import Planted
from incident_arena.formats.records import Action, Declaration, Health
from incident_arena.services import cluster
from incident_arena.services.referee import actions, looks, usage
from incident_arena.services.referee.actions import OPERATOR
from incident_arena.services.referee.parts import Parts
from incident_arena.stores.base import StoreError
from incident_arena.stores.kubernetes.picture import AGENT, CLASS, COMPONENT

EVERY_S = 2.0
DECLARATION_EVERY_S = 0.5
OBSERVE_TIMEOUT_S = 3.0
ANSWER_S = 4.0
FROZEN = "incident-arena.io/frozen"
DECLARED, ENDED = "declared", "ended"
TURN_S = 60.0
"""Seconds after the declaration in which the agent's program may still call its model, so that it can end its turn."""
OK = 200


async def watch(parts: Parts) -> None:
    """Run until the pod ends."""
    parts.evidence.write("task.json", parts.config.task_file.read_bytes())
    async with (
        asyncio.TaskGroup() as loops,
        aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=ANSWER_S)) as session,
    ):
        for each in (*parts.faults, *parts.others):
            loops.create_task(_every(EVERY_S, _observer(parts, each, kept=each in parts.faults)))
        loops.create_task(_every(EVERY_S, Harness(parts, session).look))
        loops.create_task(_every(EVERY_S, Acts(parts).look))
        loops.create_task(_every(usage.EVERY_S, usage.Meter(parts).look))
        loops.create_task(_every(DECLARATION_EVERY_S, Freezer(parts).look))
        await asyncio.Event().wait()


async def _every(seconds: float, look: Callable[[], Awaitable[None]]) -> None:
    """Look again and again, each time `seconds` after the last time began, or at once when it took longer."""
    loop = asyncio.get_running_loop()
    due = loop.time()
    while True:
        await look()
        due = max(due + seconds, loop.time())
        await asyncio.sleep(due - loop.time())


def _observer(parts: Parts, planted: Planted, *, kept: bool) -> Callable[[], Awaitable[None]]:
    own = parts.config.connect(OBSERVE_TIMEOUT_S)

    async def look() -> None:
        seen = await looks.look(own, planted)
        if kept:
            parts.evidence.live.append("observations.jsonl", seen)

    return look


class Harness:
    """Looks at the harness: its programs answer, and its pods are the ones it started with."""

    def __init__(self, parts: Parts, session: aiohttp.ClientSession) -> None:
        self._parts = parts
        self._session = session
        self._load_config: str | None = None
        self._pods: dict[str, dict[str, str]] = {}
        """Identity of each component's pod when it was first seen ready."""

    async def look(self) -> None:
        """Write one health record."""
        at = time.time()
        alive: dict[str, bool] = {}
        changed: list[str] = []
        config = self._parts.config
        await asyncio.gather(
            self._load(alive, changed),
            self._kubernetes(alive, changed),
            self._answers(alive, "admin", f"{config.admin_url}/healthz"),
            self._answers(alive, "prometheus", f"{config.prometheus_url}/-/ready"),
        )
        self._parts.evidence.live.append("health.jsonl", Health(at=at, alive=alive, changed=tuple(sorted(changed))))

    async def _load(self, alive: dict[str, bool], changed: list[str]) -> None:
        try:
            status = await self._parts.load.status()
        except ArenaError:
            alive["load"] = False
            return
        alive["load"] = True
        self._load_config = self._load_config or status["config"]
        if status["config"] != self._load_config:
            changed.append("load/config")

    async def _answers(self, alive: dict[str, bool], name: str, url: str) -> None:
        try:
            async with self._session.get(url) as answer:
                alive[name] = answer.status == OK
        except (aiohttp.ClientError, TimeoutError, OSError):
            alive[name] = False

    async def _kubernetes(self, alive: dict[str, bool], changed: list[str]) -> None:
        try:
            pods = await self._parts.cluster.items("pods", f"{CLASS}=harness")
        except ArenaError:
            alive["kubernetes"] = False
            return
        alive["kubernetes"] = True
        found = {pod["metadata"]["labels"].get(COMPONENT, ""): pod for pod in pods}
        found.pop(AGENT, None)
        for component in sorted(found.keys() | self._pods.keys()):
            pod = found.get(component)
            alive[f"pod/{component}"] = pod is not None and cluster.ready(pod)
            if pod is None or not cluster.ready(pod):
                continue
            identity = _identity(pod)
            known = self._pods.setdefault(component, identity)
            changed += [f"pod/{component}/{name}" for name, value in known.items() if identity.get(name) != value]


def _identity(pod: dict[str, Any]) -> dict[str, str]:
    """What must stay the same: which pod it is, and the images it runs. A container's restart is no change."""
    images = {
        f"image/{status['name']}": str(status.get("imageID") or status["image"])
        for status in pod["status"].get("containerStatuses") or []
    }
    return {"uid": pod["metadata"]["uid"], **images}


class Acts:
    """Keeps what the agent did readable for `arena watch`; what is judged is read from the audits again, at the end."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._since = time.time()
        self._written: Counter[Action] = Counter()
        self._sizes: dict[Path, int] | None = None

    async def look(self) -> None:
        """Write down what was not there before, wherever in time: an act is logged when it ends, not when it begins."""
        stores, admin = self._parts.stores, self._parts.config.admin_audit
        try:
            sizes = await asyncio.to_thread(actions.sizes, stores, admin)
            if sizes == self._sizes:
                return
            found = await asyncio.to_thread(actions.gather, stores, admin, self._since, math.inf)
        except (ArenaError, OSError) as error:
            _say(f"reading the agent's acts: {error}")
            return
        new = Counter(found) - self._written
        self._parts.evidence.live.append("acts.jsonl", *new.elements())
        self._written += new
        self._sizes = sizes


class Freezer:
    """Waits for the declaration; then cuts the agent off from everything that it worked with."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._own = parts.config.connect(OBSERVE_TIMEOUT_S)
        self._label = ""

    async def look(self) -> None:
        """Once there is a declaration: write it down, cut the agent off, and keep its sessions ended."""
        path = self._parts.config.admin_audit / "declaration.json"
        if not path.is_file():
            return
        declaration = Declaration.model_validate_json(path.read_bytes())
        if not self._parts.evidence.has("declaration.json"):
            # Written down before anything else: whatever fails below, it was declared.
            self._parts.evidence.write("declaration.json", declaration)
        label = ENDED if time.time() > declaration.at + TURN_S else DECLARED
        try:
            if label != self._label:
                for pod in await self._parts.cluster.pods(AGENT):
                    await self._parts.cluster.label_pod(pod["metadata"]["name"], FROZEN, label)
                self._label = label
        except ArenaError as error:
            _say(f"freezing the agent's pod: {error}")
        # Also later: a session opened in the moment before the network closed would stay.
        await asyncio.to_thread(self._end_sessions)

    def _end_sessions(self) -> None:
        for store in self._own.values():
            with _tolerated(f"ending the agent's sessions in {store.name}"):
                store.end_sessions(OPERATOR)


@contextlib.contextmanager
def _tolerated(what: str) -> Any:
    """A component that is being restarted has no sessions to end; anything else shows in the log."""
    try:
        yield
    except StoreError as error:
        _say(f"{what}: {error}")


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()
