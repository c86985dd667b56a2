"""The application's readiness sees connections, not permissions. Drivers are stood in for: only the image has them."""

import importlib
import sys
import types
from collections.abc import Iterator

import pytest
import redis

from incident_arena.folders import PACKAGE


class SqlError(Exception):
    """As MySQLdb's: number and text."""


class Server:
    """A database that answers a statement with a number of rows, or refuses the connection."""

    def __init__(self) -> None:
        self.rows: dict[str, int] = {}
        self.refuses: SqlError | None = None

    def connect(self, **_: object) -> "Server":
        if self.refuses:
            raise self.refuses
        return self

    def cursor(self) -> "Server":
        return self

    def execute(self, statement: str) -> int:
        return self.rows.get(statement.split()[1], 0)

    def close(self) -> None:
        pass


class Pinged:
    """A Redis client whose PING fails in one way, or not."""

    def __init__(self) -> None:
        self.error: redis.exceptions.RedisError | None = None

    def ping(self) -> bool:
        if self.error:
            raise self.error
        return True


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch, server: Server) -> Iterator[types.ModuleType]:
    driver = types.ModuleType("MySQLdb")
    driver.Error = SqlError  # type: ignore[attr-defined]
    driver.connect = server.connect  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "MySQLdb", driver)
    monkeypatch.syspath_prepend(str(PACKAGE / "substrates/frappe/images/frappe"))
    for name in ("DB_HOST", "DB_USER", "DB_PASSWORD", "DB_NAME"):
        monkeypatch.setenv(name, "x")
    monkeypatch.setenv("DB_PORT", "3306")
    for name in ("REDIS_CACHE", "REDIS_QUEUE"):
        monkeypatch.setenv(name, "redis://localhost:1/0")
    yield importlib.import_module("arena_site.health")
    for name in ("arena_site.health", "arena_site"):
        sys.modules.pop(name, None)


@pytest.fixture
def health(module: types.ModuleType) -> types.SimpleNamespace:
    made = module.Health()
    made.redis = {"cache": Pinged(), "queue": Pinged()}
    return made


def test_not_ready_before_the_site_is_seeded(health: types.SimpleNamespace, server: Server) -> None:
    assert not health.check().ready
    server.rows["1"] = 1
    assert health.check().ready


@pytest.mark.parametrize(("number", "ready"), [(1226, True), (1040, True), (1045, True), (2003, False), (1049, False)])
def test_a_refusal_is_an_answer_once_the_site_was_seen(
    health: types.SimpleNamespace, server: Server, number: int, *, ready: bool
) -> None:
    server.refuses = SqlError(number, "refused")
    assert not health.check().ready
    server.refuses, server.rows["1"] = None, 1
    assert health.check().ready
    server.refuses = SqlError(number, "refused")
    assert health.check().ready is ready


@pytest.mark.parametrize(
    ("error", "ready"),
    [
        (redis.exceptions.AuthenticationError("wrong password"), True),
        (redis.exceptions.NoPermissionError("no ping"), True),
        (redis.exceptions.BusyLoadingError("loading"), False),
        (redis.exceptions.ConnectionError("refused"), False),
        (redis.exceptions.TimeoutError("silent"), False),
    ],
)
def test_a_redis_that_answers_is_reached(
    health: types.SimpleNamespace, server: Server, error: redis.exceptions.RedisError, *, ready: bool
) -> None:
    server.rows["1"] = 1
    health.redis["queue"].error = error
    report = health.check()
    assert report.ready is ready
    assert report.seen["cache"] == "ok"
