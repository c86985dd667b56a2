"""MariaDB's settings, live and in the option files, against a real server."""

import pymysql
import pytest

PASSWORD = "admin-password"


def variable(port: int, name: str) -> str:
    with pymysql.connect(host="127.0.0.1", port=port, user="admin", password=PASSWORD) as connection:
        cursor = connection.cursor()
        cursor.execute("SELECT @@global." + name)
        return str(cursor.fetchone()[0])


async def test_live_and_file_are_shown_apart(call, tmp_path, mariadb_port) -> None:
    (tmp_path / "mariadb-config" / "50.cnf").write_text("[client]\nport=1\n[mysqld]\nmax-connections = 77\n")
    _, answer = await call("GET", "/mariadb/settings")
    shown = answer["settings"]["max_connections"]
    assert (shown["live"], shown["file"]) == (variable(mariadb_port, "max_connections"), "77")
    assert "datadir" not in answer["settings"]


async def test_live_alone_leaves_the_files(call, tmp_path, mariadb_port) -> None:
    status, answer = await call("PUT", "/mariadb/settings/long_query_time", {"value": 3.5, "where": "live"})
    assert (status, answer["live"], answer["file"]) == (200, "3.500000", None)
    assert variable(mariadb_port, "long_query_time") == "3.5"
    assert list((tmp_path / "mariadb-config").iterdir()) == []


async def test_file_alone_leaves_the_server(call, mariadb_port) -> None:
    before = variable(mariadb_port, "wait_timeout")
    status, answer = await call("PUT", "/mariadb/settings/wait-timeout", {"value": 9, "where": "file"})
    assert (status, answer["live"], answer["file"]) == (200, before, "9")


@pytest.mark.usefixtures("mariadb_port")
async def test_both_and_words_as_values(call) -> None:
    body = {"value": "STRICT_TRANS_TABLES,NO_ZERO_DATE", "where": "both"}
    _, answer = await call("PUT", "/mariadb/settings/sql_mode", body)
    assert answer["live"] == answer["file"] == body["value"]


@pytest.mark.parametrize(
    "name",
    ["datadir", "plugin_dir", "secure_file_priv", "init_connect", "general_log_file", "server_audit_logging",
     "event_scheduler", "local_infile", "skip_grant_tables", "max_connections`;SELECT 1;--"],
)  # fmt: skip
@pytest.mark.usefixtures("mariadb_port")
async def test_settings_that_reach_further_are_refused(call, name: str) -> None:
    assert (await call("PUT", f"/mariadb/settings/{name}", {"value": 1, "where": "both"}))[0] == 404


@pytest.mark.parametrize(
    "body",
    [{"value": 1}, {"value": 1, "where": "here"}, {"value": None, "where": "live"},
     {"value": "1\nuser=root", "where": "file"},
     {"value": "1]", "where": "file"}, {"value": [1], "where": "file"}, {"value": True, "where": "file"}],
)  # fmt: skip
@pytest.mark.usefixtures("mariadb_port")
async def test_odd_bodies_are_refused(call, tmp_path, body: dict) -> None:
    assert (await call("PUT", "/mariadb/settings/max_connections", body))[0] == 400
    assert list((tmp_path / "mariadb-config").iterdir()) == []


@pytest.mark.usefixtures("mariadb_port")
async def test_a_value_that_the_server_refuses_is_its_own_words(call, tmp_path) -> None:
    status, answer = await call("PUT", "/mariadb/settings/sql_mode", {"value": "NO_SUCH_MODE", "where": "both"})
    assert status == 400
    assert "NO_SUCH_MODE" in answer["error"]["reason"]
    assert list((tmp_path / "mariadb-config").iterdir()) == []


async def test_a_server_that_is_down_is_said(call) -> None:
    status, answer = await call("GET", "/mariadb/settings")
    assert status == 502
    assert "component" in answer["error"]["remedy"]
