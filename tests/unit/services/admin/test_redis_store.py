"""Settings and access lists of a real Redis."""

import pytest
import redis

from incident_arena.stores.base import Account, StoreSpec
from incident_arena.stores.redis.admin import RedisStores
from incident_arena.verbs.acts import Call, Refusal

PASSWORD = "admin-password"


def client(port: int, user: str = "admin", password: str = PASSWORD) -> redis.Redis:
    return redis.Redis(port=port, username=user, password=password, decode_responses=True)


BASE = "/redis/redis-queue"


async def test_a_setting_is_live_until_it_is_saved(call, queue_store) -> None:
    folder, port = queue_store
    status, answer = await call("PUT", f"{BASE}/settings/maxmemory", {"value": 33554432})
    assert (status, answer["live"], answer["file"]) == (200, "33554432", "64mb")
    assert (await call("POST", f"{BASE}/settings/save"))[0] == 200
    _, answer = await call("GET", f"{BASE}/settings")
    assert answer["settings"]["maxmemory"]["file"] == "32mb"
    assert "maxmemory 32mb" in (folder / "redis.conf").read_text()
    with client(port) as direct:
        assert direct.config_get("maxmemory") == {"maxmemory": "33554432"}


@pytest.mark.parametrize(
    "name",
    ["dir", "dbfilename", "aclfile", "loadmodule", "logfile", "replicaof", "slaveof", "bind", "port", "requirepass",
     "masterauth", "maxclients", "unixsocket", "rename-command", "enable-debug-command", "protected-mode", "*", "max*"],
)  # fmt: skip
@pytest.mark.usefixtures("queue_store")
async def test_settings_that_reach_further_are_refused(call, name: str) -> None:
    assert (await call("PUT", f"{BASE}/settings/{name}", {"value": "x"}))[0] == 404
    assert name not in (await call("GET", f"{BASE}/settings"))[1]["settings"]


@pytest.mark.usefixtures("queue_store")
async def test_a_value_that_redis_refuses_is_its_own_words(call) -> None:
    status, answer = await call("PUT", f"{BASE}/settings/maxmemory-policy", {"value": "sometimes"})
    assert status == 400
    assert "maxmemory-policy" in answer["error"]["reason"]
    assert (await call("PUT", f"{BASE}/settings/save", {"value": "60 1\nloadmodule x"}))[0] == 400


async def test_rules_are_live_until_they_are_saved(call, queue_store) -> None:
    folder, port = queue_store
    status, answer = await call("PUT", f"{BASE}/acl/app", {"rules": ["-blmove", "-blpop"]})
    assert (status, answer["saved"]) == (200, False)
    with client(port, "app", "app-password") as app, pytest.raises(redis.exceptions.NoPermissionError):
        app.blmove("a", "b", 1)
    _, shown = await call("GET", f"{BASE}/acl")
    assert "-blmove" in shown["live"]["app"]
    assert "-blmove" not in shown["file"]["app"]
    await call("POST", f"{BASE}/acl/save")
    _, shown = await call("GET", f"{BASE}/acl")
    assert shown["file"]["app"] == shown["live"]["app"]
    assert "user referee on" in (folder / "users.acl").read_text()


@pytest.mark.usefixtures("queue_store")
async def test_the_file_can_be_made_live_again(call) -> None:
    _, before = await call("GET", f"{BASE}/acl")
    _, changed = await call("PUT", f"{BASE}/acl/app", {"rules": ["+@all"]})
    assert changed["live"] != before["live"]["app"]
    await call("POST", f"{BASE}/acl/load")
    assert (await call("GET", f"{BASE}/acl"))[1] == before


@pytest.mark.usefixtures("queue_store")
async def test_passwords_are_not_shown(call) -> None:
    _, shown = await call("GET", f"{BASE}/acl")
    assert set(shown["live"]) == {"default", "admin", "referee", "app"}
    for word in ("#", ">", PASSWORD, "referee-password", "app-password"):
        assert word not in str(shown)


@pytest.mark.parametrize("user", ["admin", "referee", "exporter", "default", "operator", "new", "app%20on"])
async def test_other_users_are_out_of_reach(call, queue_store, user: str) -> None:
    _, port = queue_store
    with client(port) as direct:
        before = direct.acl_list()
        assert (await call("PUT", f"{BASE}/acl/{user}", {"rules": ["off"]}))[0] == 404
        assert direct.acl_list() == before


@pytest.mark.parametrize(
    "rule",
    ["reset", "nopass", "resetpass", ">word", "<word", "#" + "0" * 64, "!" + "0" * 64, "(+get ~x)", "+get -set", "",
     "x", "+get\n", "clearselectors"],
)  # fmt: skip
@pytest.mark.usefixtures("queue_store")
async def test_rules_that_reach_further_are_refused(call, rule: str) -> None:
    status, answer = await call("PUT", f"{BASE}/acl/app", {"rules": ["+get", rule]})
    assert status == 400
    assert answer["error"]["remedy"]


@pytest.mark.usefixtures("queue_store")
async def test_no_rules_are_refused(call) -> None:
    assert (await call("PUT", f"{BASE}/acl/app", {"rules": []}))[0] == 400
    assert (await call("PUT", f"{BASE}/acl/app", {"rules": "+get"}))[0] == 400


@pytest.mark.usefixtures("queue_store")
async def test_a_wrong_command_name_changes_nothing(call) -> None:
    _, before = await call("GET", f"{BASE}/acl")
    assert (await call("PUT", f"{BASE}/acl/app", {"rules": ["+@all", "+nosuch"]}))[0] == 400
    assert (await call("GET", f"{BASE}/acl"))[1] == before


async def test_refused_commands_are_in_the_log(call, queue_store) -> None:
    _, port = queue_store
    with client(port, "app", "app-password") as app, pytest.raises(redis.exceptions.NoPermissionError):
        app.config_get("maxmemory")
    _, answer = await call("GET", f"{BASE}/acl/log")
    assert answer["entries"][0]["username"] == "app"


async def test_flush_deletes_everything_and_is_named_so(call, queue_store) -> None:
    _, port = queue_store
    with client(port) as direct:
        direct.set("x", 1)
        await call("POST", f"{BASE}/flush")
        assert direct.dbsize() == 0
    assert [a["what"] for a in call.actions()] == ["redis-flush"]


async def test_files_that_are_gone_are_said(call, queue_store) -> None:
    folder, _ = queue_store
    (folder / "users.acl").unlink()
    status, answer = await call("GET", f"{BASE}/acl")
    assert (status, answer["error"]["thing"]) == (502, "users.acl of 127.0.0.1")


async def test_a_file_that_redis_could_not_read_is_said(call, queue_store) -> None:
    folder, _ = queue_store
    (folder / "redis.conf").write_text('maxmemory "64mb\n')
    status, answer = await call("GET", f"{BASE}/settings")
    assert (status, answer["error"]["thing"]) == (502, "redis.conf, line 1, of 127.0.0.1")


async def test_without_an_account_of_the_application_no_user_can_be_changed() -> None:
    spec = StoreSpec(name="cache", kind="redis", host="cache", port=6379)
    verbs = RedisStores({"cache": spec}, Account("admin", PASSWORD))
    for user in ("", "default", "app"):
        with pytest.raises(Refusal, match="is not one of those managed here"):
            await verbs.acl_set(Call(path={"store": "cache", "user": user}, body={"rules": ["+get"]}))


async def test_a_store_that_is_down_or_unknown(call) -> None:
    assert (await call("GET", "/redis/redis-cache/settings"))[0] == 502
    assert (await call("GET", "/redis/other/settings"))[0] == 404
