"""The referee from the first verb to the manifest: real data stores and a load whose operations go through them.

Only the Kubernetes API is played here, by a small server that keeps pods; the real one is in tests/episodes.
"""

import asyncio
import contextlib
import json
import time
import uuid
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from tests.support.servers import Maria, Redis

from incident_arena import wait
from incident_arena.errors import ArenaError
from incident_arena.formats.records import (
    Action,
    Declaration,
    Health,
    Intent,
    Manifest,
    Observation,
    Outcome,
    Reconciliations,
    Snapshot,
    Stage,
    Usage,
)
from incident_arena.formats.task import TaskSpec
from incident_arena.services.referee import collect, patience
from incident_arena.services.referee.__main__ import parser, run
from incident_arena.services.referee.config import Config
from incident_arena.stores.base import StoreError
from incident_arena.stores.mariadb.client import MariaDb
from incident_arena.stores.redis.client import RedisServer

pytestmark = [pytest.mark.node, pytest.mark.timeout(180)]

RATE = 25.0
TASK = TaskSpec.model_validate(
    {
        "name": "frappe/small", "title": "x", "substrate": "frappe", "surface": "confined",
        "layer": "configuration", "onset": "at start",
        "faults": [
            {"name": "mariadb.grants", "parameters": {"privileges": ["DELETE"]}},
            {"name": "redis-queue.config", "parameters": {"denied_commands": ["blmove"]}},
        ],
        "load": {"kinds": {kind: {"rate": RATE, "judged": True} for kind in ("delete", "job", "read")}},
        "symptom": {"kinds": {"delete": 0.2, "job": 0.2}, "window": 2},
        "windows": {"baseline": 2, "acceptance": 2, "soak": 2, "restarted": 2},
        "deadlines": {"drain": 6, "restart": 6, "symptom": 10, "healthy": 10, "baseline": 20},
        "challenges": [
            {"kind": "restart", "component": "redis-queue"}, {"kind": "churn", "component": "mariadb"},
        ],
    }
)  # fmt: skip


@dataclass
class PlayedCluster:
    """Pods of the namespace; one that is deleted comes back as another, unless it is the agent."""

    pods: dict[str, dict[str, Any]] = field(default_factory=dict)
    labelled: list[str] = field(default_factory=list)
    broken: bool = False

    def add(self, component: str, kind: str) -> None:
        self.pods[component] = {
            "metadata": {
                "name": component, "uid": str(uuid.uuid4()),
                "labels": {"app.kubernetes.io/name": component, "incident-arena.io/class": kind},
            },
            "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
        }  # fmt: skip

    def application(self) -> web.Application:
        made = web.Application()
        made.add_routes(
            [
                web.get("/{tail:.*}/pods", self._list),
                web.patch("/{tail:.*}/pods/{name}", self._patch),
                web.delete("/{tail:.*}/pods/{name}", self._delete),
                web.get("/{tail:.*}", self._nothing),
            ]
        )
        return made

    async def _list(self, request: web.Request) -> web.Response:
        key, _, value = request.query.get("labelSelector", "").partition("=")
        chosen = [pod for pod in self.pods.values() if not key or pod["metadata"]["labels"].get(key) == value]
        return web.json_response({"items": chosen})

    async def _patch(self, request: web.Request) -> web.Response:
        assert request.content_type == "application/merge-patch+json"
        self.labelled += [request.match_info["name"], *(await request.json())["metadata"]["labels"]]
        return web.json_response({})

    async def _delete(self, request: web.Request) -> web.Response:
        pod = self.pods.pop(request.match_info["name"])
        if request.match_info["name"] != "agent":
            self.add(pod["metadata"]["name"], pod["metadata"]["labels"]["incident-arena.io/class"])
        return web.json_response({})

    async def _nothing(self, _: web.Request) -> web.Response:
        return web.json_response({"items": []}, status=500 if self.broken else 200)


class SmallLoad:
    """A load whose kinds `delete` and `job` go through the application's accounts."""

    def __init__(self, path: Path, sql: MariaDb, queue: RedisServer) -> None:
        self.path, self.sql, self.queue = path, sql, queue
        self.paused = False
        self.gone = False
        self._id = 0

    def application(self) -> web.Application:
        made = web.Application()
        made.add_routes([web.get("/status", self._status), web.post("/{verb:pause|resume}", self._switch)])
        return made

    async def _status(self, _: web.Request) -> web.Response:
        return web.json_response({"config": "same", "in_flight": 0})

    async def _switch(self, request: web.Request) -> web.Response:
        assert request.headers["Authorization"] == "Bearer load-token"
        if self.gone:
            raise web.HTTPServiceUnavailable
        self.paused = request.match_info["verb"] == "pause"
        return web.json_response({})

    async def send(self) -> None:
        loop = asyncio.get_running_loop()
        due = loop.time()
        while True:
            due += 1 / RATE
            await asyncio.sleep(max(0, due - loop.time()))
            for kind in ("delete", "job", "read"):
                await asyncio.to_thread(self._one, kind)

    def _one(self, kind: str) -> None:
        self._id += 1
        due = time.time()
        error = "paused" if self.paused else self._try(kind)
        result = "shed" if self.paused else ("indeterminate" if error else "ok")
        lines = [] if self.paused else [Intent(id=self._id, kind=kind, due=due, at=due)]
        at = time.time()
        outcome = {"id": self._id, "kind": kind, "due": due, "at": at, "result": result, "latency": at - due}
        with self.path.open("a") as file:
            file.writelines(
                f"{line.model_dump_json()}\n" for line in (*lines, Outcome.model_validate(outcome | {"error": error}))
            )

    def _try(self, kind: str) -> str:
        try:
            if kind == "delete":
                self.sql.query("DELETE FROM site.tabToDo WHERE 1 = 0")
            elif kind == "job":
                self.queue.command("RPUSH", "rq:queue:site:short", "x")
                self.queue.command("BLMOVE", "rq:queue:site:short", "done", "LEFT", "RIGHT", "1")
                self.queue.command("DEL", "done", "rq:queue:site:short")  # a worker that catches up
        except StoreError as error:
            return error.reason
        return ""


@dataclass
class Arena:
    """All of it, running."""

    config: Config
    cluster: PlayedCluster
    load: SmallLoad
    maria: Maria
    redis: Redis

    async def verb(self, *words: str) -> str:
        return await run(parser().parse_args(words), self.config)

    def lines(self, name: str) -> list[str]:
        path = self.config.evidence / name
        return path.read_text().splitlines() if path.exists() else []

    def stages(self) -> dict[str, Stage]:
        return {stage.name: stage for stage in map(Stage.model_validate_json, self.lines("stages.jsonl"))}

    def sessions(self) -> int:
        ((count,),) = self.maria.sql.query(
            "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE USER = 'operator'"
        )
        return int(count)


@pytest.fixture
async def arena(
    tmp_path: Path, maria: Maria, redis_server: Redis, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Arena]:
    maria.store().close()
    specs = [
        maria.spec(tmp_path / "options"), redis_server.spec("redis-queue"), redis_server.spec("redis-cache"),
        redis_server.spec("jobs", "rq"),
    ]  # fmt: skip
    redis_server.commands.command("SADD", "rq:queues", "rq:queue:site:short")
    for name in ("ledger", "admin", "evidence", "account", "options"):
        (tmp_path / name).mkdir()
    (tmp_path / "ledger" / "seeds.json").write_text('{"records": []}')
    (tmp_path / "account" / "token").write_text("token")
    (tmp_path / "task.json").write_text(TASK.model_dump_json())
    cluster = PlayedCluster()
    for component, kind in (("agent", "harness"), ("load", "harness"), ("redis-queue", "application")):
        cluster.add(component, kind)
    load = SmallLoad(tmp_path / "ledger" / "ledger.jsonl", maria.connect("site", "site"), redis_server.connect("app"))
    async with contextlib.AsyncExitStack() as stack:
        api = await stack.enter_async_context(TestServer(cluster.application()))
        loads = await stack.enter_async_context(TestServer(load.application()))
        monkeypatch.setenv("KUBERNETES_URL", str(api.make_url("")).rstrip("/"))
        config = Config.from_environment(
            {
                "EPISODE": "e1", "TASK_FILE": str(tmp_path / "task.json"), "LOAD_TOKEN": "load-token",
                "STORES": json.dumps([spec.model_dump(mode="json") for spec in specs]), "STORES_PASSWORD": "referee",
                "LOAD_URL": str(loads.make_url("")), "ADMIN_URL": str(api.make_url("/x")),
                "PROMETHEUS_URL": "http://127.0.0.1:9", "LEDGER_DIR": str(tmp_path / "ledger"),
                "ADMIN_AUDIT_DIR": str(tmp_path / "admin"), "EVIDENCE_DIR": str(tmp_path / "evidence"),
                "SERVICE_ACCOUNT_DIR": str(tmp_path / "account"),
            }
        )  # fmt: skip
        made = Arena(config, cluster, load, maria, redis_server)
        tasks = [asyncio.create_task(load.send()), asyncio.create_task(made.verb("watch"))]
        yield made
        for task in tasks:
            assert not task.done(), task
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    load.sql.close()
    load.queue.close()


async def until_broken(arena: Arena, *how: str) -> None:
    await arena.verb("healthy")
    await arena.verb("baseline")
    await arena.verb("snapshot", "A")
    await arena.verb("plant")
    await arena.verb("symptom")
    await arena.verb("snapshot", "B")
    runner = Stage(name="node", started=1.0, seconds=2.0, ok=True).model_dump_json()
    await arena.verb("agent-started", "--stages", runner, *how)


async def test_a_seal_ends_gathering_where_nothing_can_help_any_more(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collect, "HURRIED_S", 2.5)
    await until_broken(arena, "--seal")
    await arena.verb("collect")
    manifest = Manifest.model_validate_json((arena.config.evidence / "manifest.json").read_bytes())
    assert (manifest.complete, manifest.sealed) == (True, "the agent never declared")
    assert list(arena.stages())[-5:] == ["agent", "glances", "snapshot-C", "drain", "reconcile"]
    assert "snapshots/C.json" in manifest.files
    assert "snapshots/D.json" not in manifest.files


async def test_an_episode_that_is_repaired(arena: Arena) -> None:
    await until_broken(arena)
    operator = arena.maria.connect("operator", "operator")
    operator.query("SELECT 1")
    arena.maria.sql.query("GRANT GRANT OPTION, DELETE ON site.* TO operator@'%'")
    operator.query("GRANT DELETE ON site.* TO site@'%'")
    arena.redis.commands.command("ACL", "SETUSER", "app", "+blmove")
    arena.redis.commands.command("ACL", "SAVE")
    act = Action(at=time.time(), source="admin", actor="agent", kind="change", what="acl-set")
    (arena.config.admin_audit / "actions.jsonl").write_text(act.model_dump_json() + "\n")
    declared = Declaration(at=time.time())
    (arena.config.admin_audit / "declaration.json").write_text(declared.model_dump_json())
    assert arena.sessions() == 1

    async def frozen() -> tuple[bool, str]:
        return not arena.sessions() and bool(arena.cluster.labelled), f"{arena.sessions()} sessions"

    await wait.until_async("the agent is frozen", frozen, deadline_s=5)
    assert arena.cluster.labelled == ["agent", "incident-arena.io/frozen"]

    await arena.verb("collect")

    evidence = arena.config.evidence
    manifest = Manifest.model_validate_json((evidence / "manifest.json").read_bytes())
    assert (manifest.complete, manifest.unfinished, manifest.task) == (True, "", "frappe/small")
    stages = arena.stages()
    assert list(stages) == [
        "healthy", "baseline", "snapshot-A", "plant", "symptom", "snapshot-B", "node", "agent", "glances", "snapshot-C",
        "drain", "reconcile", "soak", "restart-redis-queue", "churn-mariadb", "restarted", "drain-end",
        "reconcile-end", "snapshot-D",
    ]  # fmt: skip
    assert [stage.name for stage in stages.values() if not stage.ok] == []
    assert 2 <= stages["soak"].seconds < 4
    assert Declaration.model_validate_json((evidence / "declaration.json").read_bytes()) == declared
    found = [Action.model_validate_json(line) for line in arena.lines("actions.jsonl")]
    assert {(each.source, each.what, each.ok) for each in found} >= {
        ("mariadb", "SELECT", True), ("mariadb", "GRANT", True), ("admin", "acl-set", True),
    }  # fmt: skip
    pictures = {
        label: Snapshot.model_validate_json((evidence / f"snapshots/{label}.json").read_bytes()).facts
        for label in "ABCD"
    }
    grant = "accounts/site@%/grants/database/site/DELETE"
    assert [facts["mariadb"].get(grant) for facts in pictures.values()] == [True, None, True, True]
    assert pictures["A"]["redis-queue"] == pictures["D"]["redis-queue"] != pictures["B"]["redis-queue"]
    assert {
        path for path, value in pictures["A"]["mariadb"].items() if pictures["D"]["mariadb"].get(path) != value
    } <= {"accounts/operator@%/effective"}
    looks = [Observation.model_validate_json(line) for line in arena.lines("observations.jsonl")]
    for fault in TASK.faults:
        states = [look.state for look in looks if look.fault == fault.name]
        changes = [state for state, before in zip(states, [None, *states], strict=False) if state != before]
        assert changes == ["clear", "planted", "clear"], fault.name
    health = [Health.model_validate_json(line) for line in arena.lines("health.jsonl")]
    assert all(record.alive["load"] and record.alive["pod/load"] and record.alive["admin"] for record in health)
    assert not any(record.alive["prometheus"] or record.changed for record in health)
    assert "pod/agent" not in health[0].alive
    used = [Usage.model_validate_json(line) for line in arena.lines("usage.jsonl")]
    connected = {name for seen in used for name, count in seen.connections.items() if count > 0}
    assert connected == {"mariadb", "redis-cache", "redis-queue"}
    assert 0 in {seen.waiting for seen in used}
    reconciled = Reconciliations.model_validate_json((evidence / "reconciled.json").read_bytes())
    assert reconciled.drained is not None
    assert reconciled.end is not None
    assert (evidence / "ledger.jsonl").read_bytes() == arena.config.ledger.read_bytes()[
        : manifest.files["ledger.jsonl"].bytes
    ]
    with pytest.raises(ArenaError, match="closed"):
        await arena.verb("collect")


async def test_an_episode_that_is_not_repaired_is_evidence_too(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collect, "HURRIED_S", 2.5)
    await until_broken(arena)
    arena.cluster.pods.pop("redis-queue")
    await arena.verb("collect")
    stages = arena.stages()
    failed = [stage.name for stage in stages.values() if not stage.ok]
    assert failed == ["drain", "restart-redis-queue", "drain-end"]
    assert "within 2.5 s" in stages["drain"].detail
    assert "jobs wait" in stages["drain"].detail
    assert "never healthy again" in stages["restarted"].detail
    manifest = Manifest.model_validate_json((arena.config.evidence / "manifest.json").read_bytes())
    assert manifest.complete
    assert "declaration.json" not in manifest.files
    assert not arena.cluster.labelled
    assert "agent" not in arena.cluster.pods


async def test_a_load_that_is_gone_is_evidence_and_what_fails_hurries_the_rest(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collect, "HURRIED_S", 2.5)
    monkeypatch.setattr(patience, "RETRY_S", 1.0)
    await until_broken(arena)
    arena.maria.sql.query("GRANT DELETE ON site.* TO site@'%'")
    arena.redis.commands.command("ACL", "SETUSER", "app", "+blmove")
    arena.redis.commands.command("DEL", "rq:queue:site:short")
    arena.load.gone = arena.load.paused = True
    arena.cluster.pods.pop("redis-queue")
    await arena.verb("collect")
    stages = arena.stages()
    assert [stage.name for stage in stages.values() if not stage.ok] == ["drain", "restart-redis-queue", "drain-end"]
    assert "POST /pause" in stages["drain"].detail
    assert "no pod" in stages["restart-redis-queue"].detail
    assert "within 2.5 s" in stages["restarted"].detail
    assert Manifest.model_validate_json((arena.config.evidence / "manifest.json").read_bytes()).complete


async def test_a_harness_that_is_touched_shows(arena: Arena) -> None:
    async def looked() -> tuple[bool, str]:
        return len(arena.lines("live/health.jsonl")) > 0, ""

    async def noticed() -> tuple[bool, str]:
        return bool(Health.model_validate_json(arena.lines("live/health.jsonl")[-1]).changed), ""

    await wait.until_async("the harness was looked at", looked, deadline_s=10)
    arena.cluster.add("load", "harness")
    await wait.until_async("a change is noticed", noticed, deadline_s=10)
    assert Health.model_validate_json(arena.lines("live/health.jsonl")[-1]).changed == ("pod/load/uid",)


async def test_what_fails_before_the_agent_is_said_and_recorded(arena: Arena) -> None:
    arena.load.paused = True
    with pytest.raises(ArenaError, match="no success of delete, job, read"):
        await arena.verb("healthy")
    assert arena.stages()["healthy"].ok is False
    with pytest.raises(ArenaError, match="agent-started"):
        await arena.verb("collect")


async def test_gathering_that_breaks_leaves_a_manifest_that_says_so(arena: Arena) -> None:
    await until_broken(arena)
    arena.cluster.broken = True
    with pytest.raises(ArenaError, match="500"):
        await arena.verb("collect")
    manifest = json.loads((arena.config.evidence / "manifest.json").read_text())
    assert manifest["complete"] is False
    assert "500" in manifest["unfinished"]
    assert "ledger.jsonl" in manifest["files"]
