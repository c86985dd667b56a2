"""The command `admin` of the agent's pod, run as a program against the interface and real stores."""

import asyncio
import json
import sys
from pathlib import Path

import pytest

from incident_arena import proc
from incident_arena.folders import PACKAGE

BIN = PACKAGE / "surfaces" / "confined" / "agent" / "bin"


@pytest.fixture
def admin(call):
    """Runs `admin` with some words; gives (exit status, JSON or None, standard error)."""
    url = str(call.client.make_url("")).rstrip("/")

    async def run(*words: str, token: str = "agent-token") -> tuple[int, dict | None, str]:
        env = {"ADMIN_URL": url, "ADMIN_TOKEN": token, "http_proxy": "http://127.0.0.1:1"}
        done = await proc.run_async([sys.executable, BIN / "admin", *words], deadline_s=30, env=env, check=False)
        return done.exit, json.loads(done.stdout) if done.stdout else None, done.stderr

    return run


async def test_components(admin) -> None:
    status, answer, _ = await admin("components")
    assert (status, set(answer["components"])) == (0, {"web", "mariadb"})
    _, answer, _ = await admin("components", "web")
    assert set(answer["components"]) == {"web"}
    status, _, error = await admin("components", "referee")
    assert (status, "there are: mariadb, web" in error) == (1, True)


async def test_a_refusal_is_told_with_its_remedy(admin) -> None:
    status, answer, error = await admin("restart", "referee")
    assert (status, answer) == (1, None)
    assert "'referee'" in error
    assert "web, mariadb" in error
    assert (await admin("components", token="x"))[0] == 1


@pytest.mark.usefixtures("queue_store")
async def test_rules_with_a_leading_minus_and_settings(admin) -> None:
    status, answer, _ = await admin("redis", "redis-queue", "acl-set", "app", "-@all", "+get", "resetkeys", "~x*")
    assert (status, "+get" in answer["live"]) == (0, True)
    _, answer, _ = await admin("redis", "redis-queue", "acl", "app")
    assert set(answer) == {"live", "file"}
    assert set(answer["live"]) == {"app"}
    assert (await admin("redis", "redis-queue", "acl-save"))[0] == 0
    assert (await admin("redis", "redis-queue", "set", "maxmemory", "32mb"))[0] == 0
    _, answer, _ = await admin("redis", "redis-queue", "settings", "maxmemory")
    assert answer["settings"]["maxmemory"]["live"] == "33554432"
    assert (await admin("redis", "redis-queue", "acl-log", "--count", "3"))[0] == 0


async def test_settings_of_mariadb(admin, mariadb_port) -> None:
    assert mariadb_port
    assert (await admin("mariadb", "set", "long_query_time", "4", "--where", "both"))[0] == 0
    _, answer, _ = await admin("mariadb", "show", "long_query_time")
    assert answer["settings"]["long_query_time"]["file"] == "4"
    assert (await admin("mariadb", "unset", "long_query_time"))[1]["file"] is None


async def test_scale_sends_a_number(admin, cluster) -> None:
    assert (await admin("scale", "web", "2"))[0] == 0
    assert cluster.objects["deployments/web"]["spec"]["replicas"] == 2


async def test_jobs_with_odd_names_reach_the_right_one(admin, queue_store) -> None:
    import redis  # noqa: PLC0415

    client = redis.Redis(port=queue_store[1], username="admin", password="admin-password")
    client.sadd("rq:queues", "rq:queue:site:short")
    client.rpush("rq:queue:site:short", "site||a/b")
    assert (await admin("queue", "delete", "short", "site||a/b"))[1] == {"deleted": 1}


@pytest.mark.parametrize(
    ("words", "causes"),
    [
        ((), None),
        (("--no-fault",), []),
        (("--causes", "mariadb.grants"), [{"component": "mariadb", "aspect": "grants"}]),
    ],
)
async def test_declare(call, admin, words: tuple[str, ...], causes: object) -> None:
    status, _, _ = await admin("declare", *words)
    assert status == 0
    assert json.loads((call.audit / "declaration.json").read_text())["causes"] == causes
    status, _, error = await admin("declare", *words)
    assert (status, "declared complete" in error) == (1, True)


async def test_the_command_declares(call) -> None:
    url = str(call.client.make_url("")).rstrip("/")
    env = {"ADMIN_URL": url, "ADMIN_TOKEN": "agent-token", "PATH": f"{BIN}:{Path(sys.executable).parent}:/usr/bin:/bin"}
    await asyncio.gather(proc.run_async(["declare_repair_complete", "--no-fault"], deadline_s=30, env=env))
    assert (call.audit / "declaration.json").exists()
