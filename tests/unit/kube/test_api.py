from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
import yaml
from aiohttp import web

from incident_arena.errors import InfrastructureError, UserError
from incident_arena.kube import HopelessError, Kube
from incident_arena.kube.api import ApiError, connect
from incident_arena.wait import DeadlineError


class Server:
    """Enough of an API server: lists, a pod that goes when deleted."""

    def __init__(self) -> None:
        self.pods: dict[str, dict[str, Any]] = {}
        self.jobs: list[dict[str, Any]] = []
        self.deleted: list[Any] = []
        self.lingers = 0
        self.stays = False

    async def list_pods(self, request: web.Request) -> web.Response:
        label = request.query.get("labelSelector", "").partition("=")[2]
        pods = [pod for pod in self.pods.values() if not label or label == pod["component"]]
        return web.json_response({"items": pods})

    async def list_jobs(self, _: web.Request) -> web.Response:
        return web.json_response({"items": self.jobs})

    async def nothing(self, _: web.Request) -> web.Response:
        return web.json_response({"items": []})

    async def get_pod(self, request: web.Request) -> web.Response:
        name = request.match_info["name"]
        if self.deleted and not self.stays:
            self.lingers -= 1
            if self.lingers < 0:
                self.pods.pop(name, None)
        if name not in self.pods:
            return web.json_response({"message": f'pods "{name}" not found'}, status=404)
        return web.json_response(self.pods[name])

    async def delete_pod(self, request: web.Request) -> web.Response:
        self.deleted.append(await request.json())
        if request.match_info["name"] not in self.pods:
            return web.json_response({"message": "not found"}, status=404)
        return web.json_response({})


def pod(name: str, component: str, *, ready: bool = True, created: str = "1") -> dict[str, Any]:
    condition = {"type": "Ready", "status": str(ready)}
    return {"metadata": {"name": name, "creationTimestamp": created}, "component": component,
            "status": {"phase": "Running", "conditions": [condition]}}  # fmt: skip


@pytest.fixture
async def server(tmp_path: Path) -> AsyncGenerator[Server]:
    made, space = Server(), "/namespaces/arena"
    app = web.Application()
    app.router.add_get(f"/api/v1{space}/pods", made.list_pods)
    app.router.add_get(f"/api/v1{space}/pods/{{name}}", made.get_pod)
    app.router.add_delete(f"/api/v1{space}/pods/{{name}}", made.delete_pod)
    app.router.add_get(f"/apis/batch/v1{space}/jobs", made.list_jobs)
    app.router.add_get(f"/apis/apps/v1{space}/{{kind}}", made.nothing)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    port = runner.addresses[0][1]
    write(tmp_path / "kubeconfig", f"http://127.0.0.1:{port}")
    yield made
    await runner.cleanup()


def write(path: Path, server: str) -> None:
    named = {
        "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u"}}],
        "clusters": [{"name": "k", "cluster": {"server": server}}],
        "users": [{"name": "u", "user": {}}],
    }
    path.write_text(yaml.safe_dump(named))


@pytest.fixture
def cluster(server: Server, tmp_path: Path) -> Kube:
    del server
    return Kube(tmp_path / "kubeconfig", tmp_path)


async def test_the_ready_pod_of_a_component_comes_before_the_new(server: Server, cluster: Kube) -> None:
    server.pods = {"a": pod("a", "web"), "b": pod("b", "web", ready=False, created="2"), "c": pod("c", "edge")}
    assert await cluster.pod_of("web") == "a"
    server.pods["d"] = pod("d", "web", created="3")
    assert await cluster.pod_of("web") == "d"


async def test_a_component_without_a_pod_is_named(server: Server, cluster: Kube) -> None:
    gone = pod("a", "web")
    gone["metadata"]["deletionTimestamp"] = "now"
    server.pods = {"a": gone}
    with pytest.raises(InfrastructureError, match="'web': has no pod"):
        await cluster.pod_of("web")


async def test_a_deleted_pod_is_waited_for(server: Server, cluster: Kube) -> None:
    server.pods, server.lingers = {"a": pod("a", "web")}, 2
    await cluster.delete_pod("a")
    assert server.pods == {}
    assert server.deleted == [{"gracePeriodSeconds": 1}]
    await cluster.delete_pod("a")


async def test_a_pod_that_stays_is_an_error(server: Server, cluster: Kube) -> None:
    server.pods, server.stays = {"a": pod("a", "web")}, True
    with pytest.raises(DeadlineError, match="'a' gone"):
        await cluster.delete_pod("a", deadline_s=0.2)


async def test_waiting_tells_its_progress_and_what_is_late(server: Server, cluster: Kube) -> None:
    server.pods = {"a": pod("a", "agent", ready=False)}
    seen: list[str] = []
    with pytest.raises(DeadlineError, match="a: Running"):
        await cluster.wait_ready(deadline_s=0.2, progress=lambda state: seen.append(str(state)), every_s=0.05)
    assert seen[0].startswith("0 of 1 ready")
    server.pods = {"a": pod("a", "agent")}
    assert await cluster.wait_ready(deadline_s=5) < 1


async def test_a_failed_job_ends_the_wait_at_once(server: Server, cluster: Kube) -> None:
    server.jobs = [{"metadata": {"name": "setup"}, "status": {"conditions": [{"type": "Failed", "status": "True"}]}}]
    with pytest.raises(HopelessError, match="job setup"):
        await cluster.wait_ready(deadline_s=60)


async def test_refusals_tell_the_servers_words(server: Server, tmp_path: Path) -> None:
    del server
    async with connect(tmp_path / "kubeconfig") as api:
        with pytest.raises(ApiError, match='404: pods "x" not found') as caught:
            await api.request("GET", "/api/v1/namespaces/arena/pods/x")
    assert caught.value.status == 404


async def test_a_server_that_is_away_is_told(tmp_path: Path) -> None:
    write(tmp_path / "kubeconfig", "http://127.0.0.1:1")
    with pytest.raises(ApiError, match="Connect") as caught:
        await Kube(tmp_path / "kubeconfig", tmp_path).get("/api")
    assert caught.value.status is None


@pytest.mark.parametrize("text", ["", "current-context: nothing\n", "{"])
async def test_a_wrong_kubeconfig_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "kubeconfig").write_text(text)
    with pytest.raises(UserError, match="kubeconfig"):
        await Kube(tmp_path / "kubeconfig", tmp_path).get("/api")
