"""The command `admin` of the agent's pod, run as a program against the interface and real stores."""

import argparse
import asyncio
import importlib.machinery
import importlib.util
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from incident_arena import proc
from incident_arena.folders import PACKAGE

BIN = PACKAGE / "surfaces" / "confined" / "agent" / "bin"
STATES = "{queued,taken,started,failed,finished,deferred,scheduled,canceled}"
OFFERED = {
    "components": ("GET /components", "[NAME]"),
    "traffic": ("GET /traffic", "[--seconds SECONDS]"),
    "logs": ("GET /components/{component}/logs", "[--lines LINES] [--which {current,previous}] component"),
    "restart": ("POST /components/{component}/restart", "component"),
    "pause": ("POST /components/{component}/pause", "component"),
    "resume": ("POST /components/{component}/resume", "component"),
    "scale": ("POST /components/{component}/scale", "component replicas"),
    "mariadb show": ("GET /mariadb/settings", "[NAME]"),
    "mariadb set": ("PUT /mariadb/settings/{setting}", "--where {live,file,both} setting value"),
    "mariadb unset": ("PUT /mariadb/settings/{setting}", "setting"),
    "redis store settings": ("GET /redis/{store}/settings", "[NAME]"),
    "redis store set": ("PUT /redis/{store}/settings/{setting}", "setting value"),
    "redis store save": ("POST /redis/{store}/settings/save", ""),
    "redis store acl": ("GET /redis/{store}/acl", "[NAME]"),
    "redis store acl-log": ("GET /redis/{store}/acl/log", "[--count COUNT]"),
    "redis store acl-set": ("PUT /redis/{store}/acl/{user}", "user ..."),
    "redis store acl-save": ("POST /redis/{store}/acl/save", ""),
    "redis store acl-load": ("POST /redis/{store}/acl/load", ""),
    "redis store flush": ("POST /redis/{store}/flush", ""),
    "queue list": ("GET /queues", "[NAME]"),
    "queue jobs": ("GET /queues/{queue}/jobs", f"[--state {STATES}] [--count COUNT] queue"),
    "queue requeue": ("POST /queues/{queue}/jobs/{job}/requeue", "queue job"),
    "queue requeue-failed": ("POST /queues/{queue}/requeue-failed", "queue"),
    "queue requeue-left": ("POST /queues/{queue}/requeue-left", "queue"),
    "queue delete": ("DELETE /queues/{queue}/jobs/{job}", "queue job"),
    "queue flush": ("POST /queues/{queue}/flush", "queue"),
    "connections": ("GET /connections", "[NAME]"),
    "connection-set": ("PUT /connections/{setting}", "setting value"),
    "history": ("GET /history", "[--count COUNT]"),
    "vocabulary": ("GET /vocabulary", ""),
    "declare": ("POST /declare", "[--causes COMPONENT.ASPECT [COMPONENT.ASPECT ...]] [--no-fault]"),
}
"""Words → request and usage. Tasks, scripts and recorded episodes use them: a change breaks those."""


@pytest.fixture
def admin(call):
    """Runs `admin` with some words; gives (exit status, JSON or None, standard error)."""
    url = str(call.client.make_url("")).rstrip("/")

    async def run(*words: str, token: str = "agent-token") -> tuple[int, dict | None, str]:
        done = await program(url, *words, token=token)
        return done.exit, json.loads(done.stdout) if done.stdout else None, done.stderr

    return run


async def program(url: str, *words: str, token: str = "agent-token") -> proc.Completed:
    env = {"ADMIN_URL": url, "ADMIN_TOKEN": token, "http_proxy": "http://127.0.0.1:1"}
    return await proc.run_async([sys.executable, BIN / "admin", *words], deadline_s=30, env=env, check=False)


def commands(parser: argparse.ArgumentParser) -> Iterator[tuple[str, str]]:
    """Words and usage of every command that a parser has."""
    below = [action.choices for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    if not below:
        yield parser.prog.removeprefix("admin "), parser.format_usage()
    for choices in below:
        for one in choices.values():
            yield from commands(one)


async def test_every_verb_is_offered_with_its_words_and_arguments(call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    loader = importlib.machinery.SourceFileLoader("admin_command", str(BIN / "admin"))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    assert spec
    script = importlib.util.module_from_spec(spec)
    loader.exec_module(script)
    _, listing = await call("GET", "/")
    usages = {words: f"usage: admin {words} [-h] {usage}".strip() for words, (_, usage) in OFFERED.items()}
    assert {words: usage.strip() for words, usage in commands(script.parser(listing["verbs"]))} == usages
    requests = {
        f"{command['group']['word']} {command['name']}" if "group" in command else command["name"]: verb["request"]
        for verb in listing["verbs"]
        for command in verb["commands"]
    }
    assert requests == {words.replace(" store ", " "): request for words, (request, _) in OFFERED.items()}


async def test_help_at_each_level_and_nothing_of_it_is_audited(call) -> None:
    url = str(call.client.make_url("")).rstrip("/")
    for words, told in (
        ((), "Look at and change the running service"),
        (("redis",), "redis-cache or redis-queue"),
        (("redis", "redis-queue", "acl-set"), "acl-set app +get -@dangerous"),
        (("logs",), "lines from each pod (default 100)"),
    ):
        done = await program(url, *words, "--help")
        assert (done.exit, done.stderr) == (0, "")
        assert told in done.stdout
    assert not (call.audit / "actions.jsonl").exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "the following arguments are required: COMMAND"),
        (("queue",), "the following arguments are required: VERB"),
        (("scale", "web", "two"), "argument replicas: invalid int value: 'two'"),
        (("mariadb", "set", "wait_timeout", "1"), "the following arguments are required: --where"),
        (("queue", "jobs", "short", "--state", "lost"), "argument --state: invalid choice: 'lost'"),
    ],
)
async def test_a_wrong_command_line_is_said_and_asks_for_nothing(
    call, admin, words: tuple[str, ...], told: str
) -> None:
    status, answer, error = await admin(*words)
    assert (status, answer, told in error) == (2, None, True), error
    assert not (call.audit / "actions.jsonl").exists()


async def test_an_interface_that_is_not_reached_is_one_line() -> None:
    done = await program("http://127.0.0.1:1", "components")
    assert (done.exit, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("admin: the admin interface cannot be reached: ")


async def test_either_causes_or_none(call, admin) -> None:
    status, _, error = await admin("declare", "--no-fault", "--causes", "mariadb.grants")
    assert (status, error) == (1, "admin: either --causes or --no-fault\n")
    assert not (call.audit / "declaration.json").exists()


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
