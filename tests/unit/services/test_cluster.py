from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from incident_arena.errors import UserError
from incident_arena.services import cluster
from incident_arena.services.cluster import Cluster, ClusterError
from incident_arena.stores.kubernetes import picture


class Server:
    """An API server with one list of pods; it keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, str]] = []
        self.status = 200
        self.pods: list[dict[str, Any]] = []

    async def answer(self, request: web.Request) -> web.Response:
        self.asked.append((request.method, request.path_qs, request.headers["Authorization"]))
        if self.status != 200:
            return web.json_response({"message": "no"}, status=self.status)
        if request.path.endswith("/log"):
            return web.Response(body=b"one\xff\ntwo")
        return web.json_response({"items": self.pods})


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
async def connected(server: Server, tmp_path: Path) -> AsyncIterator[Cluster]:
    (tmp_path / "token").write_text("first\n")
    made = web.Application()
    made.router.add_route("*", "/{tail:.*}", server.answer)
    async with TestServer(made) as running:
        url = {"KUBERNETES_URL": str(running.make_url("")).rstrip("/")}
        async with cluster.connect(tmp_path, "arena", url) as made_cluster:
            yield made_cluster


async def test_the_token_is_read_anew_each_time(connected: Cluster, server: Server, tmp_path: Path) -> None:
    await connected.items("deployments")
    (tmp_path / "token").write_text("second")
    await connected.items("pods", "a=b")
    assert server.asked == [
        ("GET", "/apis/apps/v1/namespaces/arena/deployments", "Bearer first"),
        ("GET", "/api/v1/namespaces/arena/pods?labelSelector=a%3Db", "Bearer second"),
    ]


async def test_pods_that_are_going_are_none(connected: Cluster, server: Server) -> None:
    server.pods = [{"metadata": {"name": "a"}}, {"metadata": {"name": "b", "deletionTimestamp": "now"}}]
    assert [pod["metadata"]["name"] for pod in await connected.pods("web")] == ["a"]


async def test_a_refusal_tells_what_was_asked(connected: Cluster, server: Server) -> None:
    server.status = 403
    with pytest.raises(ClusterError, match="GET /api/v1/namespaces/arena/pods: answered 403: no") as raised:
        await connected.items("pods")
    assert raised.value.status == 403
    with pytest.raises(ClusterError):
        await connected.delete_pod("x")
    server.status = 404
    await connected.delete_pod("x")


async def test_an_answer_that_is_no_json_is_told(connected: Cluster, server: Server) -> None:
    assert await connected.log("a", {"tailLines": "2"}) == "one\ufffd\ntwo"
    assert server.asked[-1][1] == "/api/v1/namespaces/arena/pods/a/log?tailLines=2"
    with pytest.raises(ClusterError, match="no JSON object: one"):
        await connected.get("pods", "a/log")


@pytest.mark.parametrize("kind", picture.LISTS)
def test_a_kind_is_listed_where_a_picture_reads_it(kind: str, tmp_path: Path) -> None:
    assert Cluster("", tmp_path, "arena").path(kind) == picture.list_path(kind, "arena")


async def test_a_server_that_is_gone_is_an_error_of_the_cluster(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("t")
    async with cluster.connect(tmp_path, "arena", {"KUBERNETES_URL": "http://127.0.0.1:9"}) as gone:
        with pytest.raises(ClusterError, match="ClientConnectorError") as raised:
            await gone.items("pods")
    assert raised.value.status is None


async def test_outside_of_a_pod_it_says_so(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no service account"):
        async with cluster.connect(tmp_path, "arena", {}):
            pass


def test_a_pods_state_says_why_it_waits() -> None:
    pod = {
        "status": {
            "phase": "Running",
            "conditions": [{"type": "Ready", "status": "False"}],
            "containerStatuses": [
                {"name": "w", "state": {"waiting": {"reason": "CrashLoopBackOff"}}},
                {"name": "x", "state": {"running": {}}},
            ],
        }
    }
    assert not cluster.ready(pod)
    assert cluster.state(pod) == "Running, w waiting: CrashLoopBackOff"
    pod["status"]["conditions"] = [{"type": "Ready", "status": "True"}]
    assert cluster.ready(pod)
