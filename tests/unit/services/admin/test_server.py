"""Who may call, what the audit holds, and that the declaration is final."""

import asyncio
import json
import time
from pathlib import Path

import pytest

from incident_arena.errors import UserError
from incident_arena.formats.records import Action, Declaration
from incident_arena.services.admin.audit import Audit
from incident_arena.services.admin.config import Config
from incident_arena.services.admin.server import store_routes


async def test_without_the_token_nothing_is_answered(call) -> None:
    for token in ("", "agent-toke", "agent-token2"):
        status, answer = await call("GET", "/components", token=token)
        assert (status, answer["error"]["thing"]) == (401, "the caller")
    status, _ = await call("POST", "/components/web/restart", token="x")
    assert status == 401
    assert not (call.audit / "actions.jsonl").exists()


async def test_health_needs_no_token_and_says_nothing_else(call) -> None:
    assert await call("GET", "/healthz", token="") == (200, {"alive": True})


async def test_the_listing_names_every_verb_once(call) -> None:
    _, answer = await call("GET", "/")
    names = [verb["verb"] for verb in answer["verbs"]]
    assert len(names) == len(set(names))
    assert {"declare", "acl-set", "queue-flush", "mariadb-set", "restart", "connection-set"} <= set(names)


@pytest.mark.parametrize("path", ["/nothing", "/components/../../etc/passwd", "/components/%2e%2e%2fx/logs/y"])
async def test_unknown_paths_are_404_in_json(call, path: str) -> None:
    status, answer = await call("GET", path)
    assert status == 404
    assert answer["error"]["remedy"]


async def test_a_change_is_on_disk_before_it_takes_effect(call, cluster) -> None:
    seen: list[dict] = []
    cluster.before_patch = lambda: seen.extend(call.attempts())
    status, _ = await call("POST", "/components/web/restart")
    assert status == 200
    (begun,) = seen
    (action,) = call.actions()
    assert begun["what"] == "restart"
    assert call.attempts() == [begun, {"ended": begun["number"]}]
    assert Action.model_validate(action).ok
    assert action["at"] <= time.time()


async def test_refused_changes_are_in_the_audit_as_not_done(call) -> None:
    await call("POST", "/components/referee/restart")
    (action,) = call.actions()
    assert (action["what"], action["kind"], action["ok"]) == ("restart", "change", False)


async def test_reads_are_told_from_changes(call) -> None:
    await call("GET", "/components")
    await call("POST", "/components/web/scale", {"replicas": 0})
    assert [(a["what"], a["kind"]) for a in call.actions()] == [("components", "read"), ("scale-to-zero", "change")]


@pytest.mark.parametrize("body", [[], "text", 1])
async def test_a_body_that_is_no_object_is_refused(call, body: object) -> None:
    status, answer = await call("POST", "/components/web/scale", body)
    assert (status, answer["error"]["thing"]) == (400, "the request's body")


async def test_a_body_names_all_its_problems(call) -> None:
    _, answer = await call("POST", "/components/web/scale", {"replicas": "2", "force": True})
    assert "replicas" in answer["error"]["reason"]
    assert "force" in answer["error"]["reason"]


async def test_declared_is_final(call, cluster) -> None:
    status, first = await call("POST", "/declare", {"causes": ["mariadb.grants"]})
    assert status == 200
    declaration = Declaration.model_validate_json((call.audit / "declaration.json").read_text())
    assert declaration.at == first["declared"]
    assert [(cause.component, cause.aspect) for cause in declaration.causes or ()] == [("mariadb", "grants")]
    calls = len(cluster.calls)
    for method, path, body in (
        ("POST", "/components/web/restart", None),
        ("POST", "/declare", None),
        ("PUT", "/connections/db-user", {"value": "operator"}),
        ("PUT", "/redis/redis-queue/acl/app", {"rules": ["+get"]}),
    ):
        status, answer = await call(method, path, body)
        assert status == 409
        assert f"{first['declared']:.3f}" in answer["error"]["reason"]
    assert len(cluster.calls) == calls
    assert Declaration.model_validate_json((call.audit / "declaration.json").read_text()) == declaration
    assert (await call("GET", "/components"))[0] == 200


async def test_two_declarations_at_once_give_one(call) -> None:
    answers = await asyncio.gather(*[call("POST", "/declare", {}) for _ in range(5)])
    assert sorted(status for status, _ in answers) == [200, 409, 409, 409, 409]


@pytest.mark.parametrize(("body", "causes"), [({}, None), (None, None), ({"causes": None}, None), ({"causes": []}, ())])
async def test_naming_no_cause_differs_from_naming_no_fault(call, body: object, causes: tuple | None) -> None:
    await call("POST", "/declare", body)
    assert Declaration.model_validate_json((call.audit / "declaration.json").read_text()).causes == causes


async def test_an_unknown_cause_is_refused_and_declares_nothing(call) -> None:
    status, answer = await call("POST", "/declare", {"causes": ["mariadb.grants", "web.bug"]})
    assert status == 400
    assert "web.bug" in answer["error"]["thing"]
    assert "redis-queue.config" in answer["error"]["remedy"]
    assert not (call.audit / "declaration.json").exists()


async def test_history_shows_what_was_done(call) -> None:
    await call("POST", "/components/web/pause")
    _, answer = await call("GET", "/history")
    assert answer["declared"] is None
    assert [action["what"] for action in answer["actions"]] == ["pause"]


def test_an_attempt_without_a_result_is_closed_at_the_next_start(tmp_path: Path) -> None:
    Audit(tmp_path).attempt("change", "queue-flush", "{}")
    with (tmp_path / "attempts.jsonl").open("a") as file:
        file.write('{"number": 2, "at"')  # cut off by a crash
    Audit(tmp_path)
    (line,) = (tmp_path / "actions.jsonl").read_text().splitlines()
    action = Action.model_validate_json(line)
    assert (action.what, action.ok) == ("queue-flush", True)
    assert "interrupted" in action.detail
    Audit(tmp_path)
    assert len((tmp_path / "actions.jsonl").read_text().splitlines()) == 1


def test_the_environment_names_all_that_is_wrong() -> None:
    stores = [{"name": "a", "kind": "redis", "host": "a", "port": "tcp://x"}]
    with pytest.raises(UserError) as error:
        Config.from_environment({"STORES": json.dumps(stores), "COMPONENTS": json.dumps({"web": "Pod"})})
    for part in ("ADMIN_TOKEN", "STORES_PASSWORD", "STORES: 0.port", "COMPONENTS.web"):
        assert part in str(error.value)


def test_stores_are_those_that_the_chart_gives(environment: dict[str, str]) -> None:
    def verbs(stores: list[dict]) -> set[str]:
        config = Config.from_environment({**environment, "STORES": json.dumps(stores)})
        return {route.path for route in store_routes(config)}

    stores = json.loads(environment["STORES"])
    assert verbs([]) == set()
    assert {path.split("/")[1] for path in verbs(stores)} == {"mariadb", "redis", "queues"}
    assert {path.split("/")[1] for path in verbs(stores[1:2])} == {"redis"}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda stores: [*stores, {**stores[0], "name": "other"}], "stores mariadb, other"),
        (lambda stores: [*stores, {**stores[3], "name": "more"}], "stores jobs, more"),
        (lambda stores: [{**stores[0], "folders": {}}], "no folder 'config'"),
        (lambda stores: [{**stores[1], "folders": {}}], "no folder 'data'"),
        (lambda stores: [{**stores[0], "kind": "sqlite"}], "no such kind"),
    ],
)
def test_stores_that_cannot_be_served_are_said_at_the_start(environment, change, told: str) -> None:
    environment["STORES"] = json.dumps(change(json.loads(environment["STORES"])))
    with pytest.raises(UserError, match=told):
        store_routes(Config.from_environment(environment))
