"""A deployed substrate for tests that need one: a node of their own with the charts applied and every pod ready.

ARENA_TEST_KUBECONFIG names a cluster on which a substrate is deployed already; it is used and left as it is.
"""

import asyncio
import contextlib
import json
import os
import threading
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.machine import wait_for_room
from tests.support.network import MODEL

from incident_arena.catalogue.export import export
from incident_arena.catalogue.finding import Catalogue
from incident_arena.endpoint.script import Script, Step
from incident_arena.endpoint.server import Endpoint, serving
from incident_arena.episode import Episode, Order
from incident_arena.episode.stages import STAGES
from incident_arena.episode.way_out import WayOut
from incident_arena.folders import PACKAGE
from incident_arena.kube import Kube
from incident_arena.node.spec import NodeSpec
from incident_arena.proc import Completed
from incident_arena.settings import Settings

TASK = "frappe/deletes-and-jobs-fail"
SCRIPT = Script(step=(Step(text="So it is."),))


class Deployed:
    """A cluster with a substrate on it, for tests that are not async; `model` is a model's server on this machine."""

    def __init__(
        self,
        kube: Kube,
        model: Endpoint | None = None,
        relay: tuple[str, int] = ("", 0),
        node: NodeSpec | None = None,
    ) -> None:
        self.kube = kube
        self.node = node
        self.model = model
        self.relay = relay

    def get(self, path: str) -> dict[str, Any]:
        """One GET of the API, below the namespace unless the path begins with a slash."""
        return asyncio.run(self.kube.get(path if path[0] == "/" else f"/api/v1/namespaces/arena/{path}"))

    def in_pod(self, component: str, *argv: str, stdin: str = "", deadline_s: float = 60) -> Completed:
        """Run a command in a component's pod."""

        async def run() -> Completed:
            pod = await self.kube.pod_of(component)
            return await self.kube.exec(pod, argv, stdin=stdin.encode(), deadline_s=deadline_s)

        return asyncio.run(run())

    def agent(self, script: str, deadline_s: float = 60) -> Completed:
        """Run a shell script where the agent works."""
        return self.in_pod("agent", "bash", "-c", script, deadline_s=deadline_s)

    def python(self, component: str, script: str, *arguments: str) -> Any:
        """Run a Python script in a component's pod; it prints JSON."""
        done = self.in_pod(component, "python3", "-c", script, *arguments)
        assert done.exit == 0, done.stderr
        return json.loads(done.stdout)

    def secret_words(self) -> dict[str, set[str]]:
        """Values of all Secrets of the namespace, by the Secret's name."""
        import base64  # noqa: PLC0415

        return {
            item["metadata"]["name"]: {base64.b64decode(value).decode() for value in item.get("data", {}).values()}
            for item in self.get("secrets")["items"]
        }


type Run = Callable[[Coroutine[Any, Any, Any]], Any]


@contextlib.contextmanager
def _loop() -> Iterator[Run]:
    """An event loop that goes on between tests: the relay and the model's server live in it."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        yield lambda work: asyncio.run_coroutine_threadsafe(work, loop).result()
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


@contextlib.contextmanager
def _entered(run: Run, context: contextlib.AbstractAsyncContextManager[Endpoint]) -> Iterator[Endpoint]:
    made: Endpoint = run(context.__aenter__())
    try:
        yield made
    finally:
        run(context.__aexit__(None, None, None))


@pytest.fixture(scope="module")  # not longer: the node takes one of the machine's places
def deployed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployed]:
    settings = Settings.from_environment()
    if given := os.environ.get("ARENA_TEST_KUBECONFIG"):
        yield Deployed(Kube(Path(given), settings.bin))
        return
    wait_for_room(settings)
    folder = tmp_path_factory.mktemp("episode")
    export(Catalogue(PACKAGE), TASK, folder / "task")
    with contextlib.ExitStack() as stack:
        loop = stack.enter_context(_loop())
        model = stack.enter_context(_entered(loop, serving(SCRIPT)))
        way = WayOut.make(
            [MODEL, "other.arena.internal"], {MODEL: model.url, "other.arena.internal": "http://127.0.0.1:9"}
        )
        name = f"attacks-{os.getpid()}"
        order = Order(settings=settings, task_folder=folder / "task" / "environment", name=name, way=way)
        episode = Episode(order, folder / "record")
        stack.callback(lambda: loop(episode.stop()))
        loop(_deploy(episode))
        yield Deployed(episode.kube, model, (episode.node.host_ip, episode.relay.port), episode.node)


async def _deploy(episode: Episode) -> None:
    for step in STAGES:
        await step.play(episode, float(getattr(episode.task.deadlines, step.deadline)))
        if step.name == "ready":
            return
