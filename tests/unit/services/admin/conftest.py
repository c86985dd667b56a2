"""Real servers for the admin interface's tests: Debian's redis-server and mariadbd on loopback, in folders of the test.

The Kubernetes API is played by a small server that keeps objects and applies merge patches; the real one is tried in
tests/episodes.
"""

import json
import os
import signal
import socket
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pymysql
import pytest
import redis
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from incident_arena import proc, wait
from incident_arena.services import cluster as kubernetes
from incident_arena.services.admin.config import Config
from incident_arena.services.admin.server import application

APP_RULES = "on ~* &* +@all -@admin -@dangerous +info"
TOKEN = "agent-token"
PASSWORD = "admin-password"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def stop(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGKILL)
    process.wait(10)


def start_redis(folder: Path) -> tuple[subprocess.Popen[bytes], int]:
    port = free_port()
    (folder / "users.acl").write_text(
        "user default off\n"
        f"user admin on >{PASSWORD} ~* &* +@all\n"
        "user referee on >referee-password ~* &* +@all\n"
        f"user app on >app-password {APP_RULES.removeprefix('on ')}\n"
    )
    config = folder / "redis.conf"
    config.write_text(
        f"bind 127.0.0.1\nport {port}\ndir {folder}\naclfile {folder / 'users.acl'}\nmaxmemory 64mb\nsave 60 1000\n"
    )
    process = proc.spawn(["redis-server", config], log=folder / "log")

    def answers() -> tuple[bool, str]:
        try:
            with redis.Redis(port=port, username="admin", password=PASSWORD) as client:
                return bool(client.ping()), "pong"
        except redis.RedisError as error:
            return False, str(error)

    wait.until("redis answers", answers, deadline_s=10)
    return process, port


@pytest.fixture
def queue_store(tmp_path: Path) -> Iterator[tuple[Path, int]]:
    folder = tmp_path / "redis-queue"
    folder.mkdir()
    process, port = start_redis(folder)
    yield folder, port
    stop(process)


@pytest.fixture(scope="session")
def mariadb_port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    folder = tmp_path_factory.mktemp("mariadb")
    user = ["--user=root"] if os.geteuid() == 0 else []
    data = folder / "data"
    proc.run(
        ["mariadb-install-db", "--no-defaults", f"--datadir={data}", "--auth-root-authentication-method=normal", *user],
        deadline_s=60,
    )
    port = free_port()
    socket_path = folder / "s"
    process = proc.spawn(
        [
            "mariadbd", "--no-defaults", f"--datadir={data}", f"--socket={socket_path}", f"--port={port}",
            "--bind-address=127.0.0.1", "--innodb-buffer-pool-size=16M", "--skip-log-bin", "--skip-name-resolve", *user,
        ],
        log=folder / "log",
    )  # fmt: skip

    def answers() -> tuple[bool, str]:
        try:
            with pymysql.connect(unix_socket=str(socket_path), user="root") as connection:
                connection.cursor().execute(f"CREATE USER admin@'%' IDENTIFIED BY '{PASSWORD}'")
                connection.cursor().execute("GRANT ALL ON *.* TO admin@'%'")
        except pymysql.err.OperationalError as error:
            return False, str(error)
        return True, "up"

    wait.until("mariadb answers", answers, deadline_s=30)
    yield port
    stop(process)


class Cluster:
    """Objects by path below the namespace, and the calls that came."""

    def __init__(self) -> None:
        self.objects: dict[str, dict] = {}
        self.calls: list[tuple[str, str]] = []
        self.logs: dict[str, str] = {}
        self.hangs_up = False
        self.before_patch: Callable[[], None] = lambda: None

    def app(self) -> web.Application:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self.answer)
        return app

    async def answer(self, request: web.Request) -> web.Response:
        if request.headers.get("Authorization") != "Bearer pod-token":
            return web.json_response({"message": "who are you"}, status=401)
        if self.hangs_up:
            assert request.transport
            request.transport.abort()
        path = request.path.split("/namespaces/arena/")[1]
        self.calls.append((request.method, path))
        if path.endswith("/log"):
            lines = request.query.get("tailLines")
            return web.Response(text=self.logs.get(path, f"{lines} lines of {path}\nthe last"))
        items = [value for key, value in self.objects.items() if key.startswith(f"{path}/")]
        if selector := request.query.get("labelSelector"):
            name, _, wanted = selector.partition("=")
            items = [item for item in items if item["metadata"]["labels"][name] == wanted]
        if items and request.method == "GET":
            return web.json_response({"items": items})
        if path not in self.objects:
            return web.json_response({"message": "not found"}, status=404)
        if request.method == "PATCH":
            assert request.headers["Content-Type"] == "application/merge-patch+json"
            self.before_patch()
            merge(self.objects[path], json.loads(await request.text()))
        if request.method == "DELETE":
            del self.objects[path]
            return web.json_response({})
        return web.json_response(self.objects[path])


def merge(target: dict, change: dict) -> None:
    for key, value in change.items():
        if value is None:
            target.pop(key, None)
        elif isinstance(value, dict):
            merge(target.setdefault(key, {}), value)
        else:
            target[key] = value


def workload(name: str, replicas: int = 1) -> dict:
    return {
        "metadata": {"name": name, "annotations": {}},
        "spec": {"replicas": replicas, "template": {"metadata": {}}},
        "status": {"readyReplicas": replicas},
    }


def pod(name: str, component: str, restarts: int = 0) -> dict:
    return {
        "metadata": {"name": name, "labels": {"app.kubernetes.io/name": component}},
        "status": {
            "phase": "Running",
            "startTime": "2026-01-01T00:00:00Z",
            "containerStatuses": [
                {
                    "ready": False,
                    "restartCount": restarts,
                    "state": {"waiting": {"reason": "CrashLoopBackOff"}},
                    "lastState": {"terminated": {"exitCode": 1, "finishedAt": "2026-01-01T00:00:01Z"}},
                }
            ],
        },
    }


@pytest.fixture
def cluster() -> Cluster:
    found = Cluster()
    found.objects = {
        "deployments/web": workload("web"),
        "deployments/referee": workload("referee"),
        "statefulsets/mariadb": workload("mariadb"),
        "pods/web-abc": pod("web-abc", "web", 3),
        "pods/referee-abc": pod("referee-abc", "referee"),
        "pods/mariadb-0": pod("mariadb-0", "mariadb"),
        "pods/edge-abc": pod("edge-abc", "edge"),
        "configmaps/connection": {"data": {"DB_USER": "site"}},
        "secrets/connection": {"data": {"DB_PASSWORD": "c2VjcmV0"}},
    }
    return found


def specs(folder: Path, *, mariadb: int = 1, queue: int = 1) -> list[dict]:
    """The stores, with the ports of those that run; nothing listens on port 1."""
    return [
        {
            "name": name, "kind": kind, "host": "127.0.0.1", "port": port, "account": account,
            "folders": {aspect: str(folder / mount) for aspect, mount in folders.items()},
        }
        for name, kind, port, account, folders in (
            ("mariadb", "mariadb", mariadb, "site", {"config": "mariadb-config"}),
            ("redis-cache", "redis", 1, "app", {"data": "redis-cache"}),
            ("redis-queue", "redis", queue, "app", {"data": "redis-queue"}),
            ("jobs", "rq", queue, "app", {}),
        )
    ]  # fmt: skip


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    account = tmp_path / "account"
    account.mkdir()
    (account / "token").write_text("pod-token\n")
    connection = {"name": "connection", "consumers": ["web"]}
    return {
        "ADMIN_TOKEN": TOKEN,
        "STORES": json.dumps(specs(tmp_path)),
        "STORES_PASSWORD": PASSWORD,
        "COMPONENTS": json.dumps({"web": "Deployment", "mariadb": "StatefulSet"}),
        "CONNECTIONS": json.dumps(
            {
                "db-user": {"object": "ConfigMap", "key": "DB_USER", **connection},
                "db-password": {"object": "Secret", "key": "DB_PASSWORD", **connection},
            }
        ),
        "VOCABULARY": json.dumps(["mariadb.grants", "redis-queue.config"]),
        "ADMIN_AUDIT_DIR": str(tmp_path / "audit"),
        "SERVICE_ACCOUNT_DIR": str(account),
    }


class Caller:
    """The agent's side: JSON in, (status, JSON) out."""

    def __init__(self, client: TestClient, audit: Path) -> None:
        self.client = client
        self.audit = audit

    async def __call__(self, method: str, path: str, body: object = None, token: str = TOKEN) -> tuple[int, dict]:
        headers = {"Authorization": f"Bearer {token}"}
        answer = await self.client.request(method, path, json=body, headers=headers)
        return answer.status, await answer.json()

    def actions(self) -> list[dict]:
        return [json.loads(line) for line in (self.audit / "actions.jsonl").read_text().splitlines()]

    def attempts(self) -> list[dict]:
        return [json.loads(line) for line in (self.audit / "attempts.jsonl").read_text().splitlines()]


@pytest.fixture
async def call(
    environment: dict[str, str], cluster: Cluster, tmp_path: Path, request: pytest.FixtureRequest
) -> AsyncIterator[Caller]:
    """The admin interface; with `queue_store` or `mariadb_port` in the test's arguments it reaches those."""
    (tmp_path / "mariadb-config").mkdir()
    running = {}
    if "queue_store" in request.fixturenames:
        running["queue"] = request.getfixturevalue("queue_store")[1]
    if "mariadb_port" in request.fixturenames:
        running["mariadb"] = request.getfixturevalue("mariadb_port")
    environment["STORES"] = json.dumps(specs(tmp_path, **running))
    async with TestServer(cluster.app()) as api:
        config = Config.from_environment(environment)
        url = {"KUBERNETES_URL": str(api.make_url("")).rstrip("/")}
        reached = kubernetes.of_pod(config.service_account, config.namespace, url)
        async with TestClient(TestServer(application(config, reached))) as client:
            yield Caller(client, config.audit)
