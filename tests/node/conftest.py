"""Fixtures of real data stores, see tests/support/servers.py."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from tests.support.servers import REDIS_CONF, USERS_ACL, Maria, Redis, free_port, program, start_redis, stop_redis

import incident_arena
from incident_arena import proc, wait
from incident_arena.stores.base import StoreError
from incident_arena.stores.mariadb.client import MariaDb


@pytest.fixture
def redis_server(tmp_path: Path) -> Iterator[Redis]:
    folder = tmp_path / "redis"
    folder.mkdir()
    (folder / "redis.conf").write_text(REDIS_CONF.format(folder=folder, port=free_port()))
    (folder / "users.acl").write_text(USERS_ACL)
    redis = start_redis(folder)
    yield redis
    stop_redis(redis)


def audited() -> list[str]:
    """The audit's options as the application's chart gives them, but for whom and where."""
    chart = yaml.safe_load((Path(incident_arena.__file__).parent / "substrates/frappe/chart/values.yaml").read_text())
    names = ("server_audit_logging", "server_audit_events", "server_audit_file_rotate_size",
             "server_audit_file_rotations", "server_audit_query_log_limit")  # fmt: skip
    return [f"--{name}={chart['mariadb']['options'][name]}" for name in names]


@pytest.fixture(scope="session")
def maria_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Maria]:
    folder = tmp_path_factory.mktemp("m")
    user = ["--user=root"] if os.geteuid() == 0 else []
    common = ["--no-defaults", f"--datadir={folder / 'data'}", *user]
    proc.run(
        [program("mariadb-install-db", "mariadb-server"), *common,
         "--auth-root-authentication-method=normal", "--skip-test-db"],
        deadline_s=120,
    )  # fmt: skip
    port = free_port()
    process = proc.spawn(
        [program("mariadbd", "mariadb-server"), *common, f"--socket={folder / 'sock'}", "--bind-address=127.0.0.1",
            f"--port={port}",
         f"--pid-file={folder / 'pid'}", "--innodb-buffer-pool-size=32M", "--innodb-flush-log-at-trx-commit=0",
         "--plugin-load-add=server_audit", *audited(),
         f"--server-audit-file-path={folder / 'server_audit.log'}", "--server-audit-incl-users=operator"],
        log=folder / "log",
    )  # fmt: skip
    maria = Maria(folder, MariaDb(unix_socket=str(folder / "sock"), user="root"), port)

    def answers() -> tuple[bool, str]:
        try:
            return maria.sql.query("SELECT 1") == [(1,)], ""
        except StoreError as error:
            return False, str(error)

    wait.until("mariadbd answers", answers, deadline_s=60)
    yield maria
    maria.sql.close()
    process.kill()
    process.wait(20)


@pytest.fixture
def maria(maria_process: Maria) -> Iterator[Maria]:
    sql = maria_process.sql
    for statement in (
        "CREATE OR REPLACE DATABASE site",
        "CREATE TABLE site.tabToDo (name VARCHAR(140) PRIMARY KEY, description TEXT)",
        "CREATE TABLE site.tabUser (name VARCHAR(140) PRIMARY KEY, enabled INT, last_active DATETIME)",
        "CREATE TABLE site.tabRole (name VARCHAR(140) PRIMARY KEY, desk INT)",
        "INSERT INTO site.tabUser VALUES ('Administrator', 1, NOW()), ('ann/b', 1, NOW())",
        "INSERT INTO site.tabRole VALUES ('Guest', 0)",
        "CREATE OR REPLACE USER site@'%' IDENTIFIED BY 'site'",
        "GRANT ALL PRIVILEGES ON site.* TO site@'%'",
        "CREATE OR REPLACE USER operator@'%' IDENTIFIED BY 'operator' WITH MAX_USER_CONNECTIONS 20",
        "GRANT SELECT ON *.* TO operator@'%'",
    ):
        sql.query(statement)
    yield maria_process
    for statement in (
        "DROP DATABASE IF EXISTS site",
        "DROP USER IF EXISTS site@'%', operator@'%', second@'%', referee@'%'",
        "DROP ROLE IF EXISTS deleter",
    ):
        sql.query(statement)
