"""Reconciliation against a real MariaDB and Redis, with tables as the framework has them."""

import time
from pathlib import Path

import pymysql
import pytest
import redis
from tests.support.servers import Maria, Redis

from incident_arena.application import Backlog, load
from incident_arena.errors import InfrastructureError
from incident_arena.formats.records import Intent, Outcome, Reconciled
from incident_arena.ledger import reading, seeds
from incident_arena.ledger.reading import LedgerError, violations
from incident_arena.services.referee import reconcile
from incident_arena.stores.base import Stores

pytestmark = pytest.mark.node
JOB_S = 10.0
FRAPPE = load("frappe")

TABLES = (
    "CREATE OR REPLACE TABLE tabToDo (name VARCHAR(140) PRIMARY KEY, description TEXT)",
    "CREATE OR REPLACE TABLE tabNote (name VARCHAR(140) PRIMARY KEY, title VARCHAR(140))",
    "CREATE OR REPLACE TABLE tabComment (name VARCHAR(140) PRIMARY KEY)",
    "CREATE OR REPLACE TABLE tabVersion (name VARCHAR(140) PRIMARY KEY, ref_doctype VARCHAR(40), docname VARCHAR(140))",
    "CREATE OR REPLACE TABLE `tabNotification Log` (name VARCHAR(140) PRIMARY KEY, email_content TEXT)",
)
MENTION = '<div><span class="mention" data-id="u">@u</span> {}</div>'


@pytest.fixture
def mysql(maria: Maria):
    connection = pymysql.connect(unix_socket=str(maria.folder / "sock"), user="root", database="site")
    with connection, connection.cursor() as cursor:
        for statement in TABLES:
            cursor.execute(statement)
        yield connection


@pytest.fixture
def queue(redis_server: Redis):
    with redis.Redis(
        unix_socket_path=str(redis_server.folder / "redis.sock"), username="referee", password="referee"
    ) as client:
        yield client


@pytest.fixture
def stores(maria: Maria, redis_server: Redis):
    opened: Stores = {"mariadb": maria.store(), "jobs": redis_server.jobs()}
    yield opened
    for store in opened.values():
        store.close()


def reconciled(ledger: Path, stores: Stores) -> Reconciled:
    return reconcile.reconcile(ledger, FRAPPE, stores, JOB_S)


def written(folder: Path, *operations: tuple[str, tuple[str, ...], str, str, tuple[str, ...]]) -> Path:
    """A ledger of (kind, records, effect, result, records told), each a minute old."""
    due = time.time() - 60
    lines: list[Intent | Outcome] = []
    for id_, (kind, records, effect, result, told) in enumerate(operations, start=1):
        lines.append(Intent(id=id_, kind=kind, due=due, at=due, records=records, effect=effect))
        ended = {"id": id_, "kind": kind, "due": due, "at": due + 1, "latency": 1, "result": result}
        lines.append(Outcome(**ended, records=told, owed=result == "wrong"))
    path = folder / "ledger.jsonl"
    path.write_bytes(b"".join(line.model_dump_json().encode() + b"\n" for line in lines))
    return path


HISTORY = (
    ("create", (), "load-1", "ok", ("ToDo/a",)),
    ("delete", ("ToDo/b", "job/Version/b"), "deleted", "ok", ()),
    ("mention", ("job/Notification Log/load-3",), "created", "wrong", ("Comment/c",)),
    ("delete", ("ToDo/pool", "job/Version/pool"), "deleted", "indeterminate", ()),
)


def test_it_finds_what_is_there_and_what_is_not(tmp_path, mysql, stores):
    with mysql.cursor() as cursor:
        cursor.execute("INSERT INTO tabToDo VALUES ('a', 'load-1'), ('kept', 'text')")
        cursor.execute("INSERT INTO tabNote VALUES ('n', 'title')")
        cursor.execute("INSERT INTO tabComment VALUES ('c')")
        cursor.execute("INSERT INTO tabVersion VALUES ('1', 'ToDo', 'a'), ('2', 'Note', 'b'), ('3', 'ToDo', 'a')")
        cursor.execute("INSERT INTO `tabNotification Log` VALUES ('1', %s)", (MENTION.format("load-3"),))
    mysql.commit()
    path = written(tmp_path, *HISTORY)
    seeds.keep(tmp_path, ("ToDo/kept", "ToDo/pool", "Note/n"))
    found = reconciled(path, stores)
    assert {name: state.value if state.exists else "gone" for name, state in found.records.items()} == {
        "ToDo/a": "load-1", "ToDo/b": "gone", "ToDo/kept": "text", "ToDo/pool": "gone", "Note/n": "title",
        "Comment/c": None, "job/Version/b": "gone", "job/Version/pool": "gone", "job/Notification Log/load-3": None,
    }  # fmt: skip
    assert found.seeds_missing == ()
    lines = reading.read(path)
    assert violations(lines, found, JOB_S) == []


def test_it_finds_each_loss(tmp_path, mysql, stores):
    with mysql.cursor() as cursor:
        cursor.execute("INSERT INTO tabToDo VALUES ('a', 'other'), ('b', 'back')")
        cursor.execute("INSERT INTO tabVersion VALUES ('1', 'ToDo', 'b'), ('2', 'ToDo', 'pool')")
    mysql.commit()
    path = written(tmp_path, *HISTORY)
    seeds.keep(tmp_path, ("ToDo/kept", "ToDo/pool"))
    found = reconciled(path, stores)
    assert found.seeds_missing == ("ToDo/kept",)
    said = violations(reading.read(path), found, JOB_S)
    assert [each.partition(" is ")[0].partition(",")[0] for each in said] == [
        "ToDo/kept", "Comment/c", "ToDo/a", "ToDo/b", "job/Notification Log/load-3", "job/Version/b",
    ]  # fmt: skip


def test_it_sees_what_others_commit_after_its_connection_has_looked(tmp_path, mysql, stores, maria):
    path = written(tmp_path, HISTORY[0])
    seeds.keep(tmp_path, ())
    assert not reconciled(path, stores).records["ToDo/a"].exists
    with mysql.cursor() as cursor:
        cursor.execute("SELECT * FROM tabToDo")
        maria.sql.query("INSERT INTO site.tabToDo VALUES ('a', 'load-1')")
        assert reconciled(path, stores).records["ToDo/a"].value == "load-1"


def test_it_counts_jobs_by_state(queue, stores):
    queue.sadd("rq:queues", "rq:queue:site:default", "rq:queue:site:short")
    queue.rpush("rq:queue:site:default", "1", "2", "3")
    queue.rpush("rq:queue:site:default:intermediate", "4")
    queue.zadd("rq:wip:site:short", {"5": 1})
    queue.zadd("rq:failed:site:short", {"6": 1, "7": 1})
    found = FRAPPE.jobs(stores)
    assert (found["default"]["queued"], found["default"]["taken"]) == (3, 1)
    assert found["short"] == {
        "queued": 0, "taken": 0, "started": 1, "failed": 2, "finished": 0, "deferred": 0, "scheduled": 0,
    }  # fmt: skip
    assert FRAPPE.backlog(stores) == Backlog(waiting=4, running=1)


def test_thousands_of_records_take_under_two_seconds(tmp_path, mysql, stores):
    with mysql.cursor() as cursor:
        cursor.executemany("INSERT INTO tabToDo VALUES (%s, %s)", [(f"r{n}", f"load-{n}") for n in range(5000)])
        cursor.executemany(
            "INSERT INTO `tabNotification Log` VALUES (%s, %s)", [(n, MENTION.format(f"load-{n}")) for n in range(5000)]
        )
    mysql.commit()
    path = written(
        tmp_path,
        *(("create", (), f"load-{n}", "ok", (f"ToDo/r{n}",)) for n in range(5000)),
        *(("mention", (f"job/Notification Log/load-{n}",), "created", "ok", ()) for n in range(5000)),
    )
    seeds.keep(tmp_path, ())
    started = time.monotonic()
    found = reconciled(path, stores)
    assert time.monotonic() - started < 2
    assert violations(reading.read(path), found, JOB_S) == []


def test_what_it_cannot_do_is_said(tmp_path, mysql, stores):
    path = written(tmp_path, ("create", (), "x", "ok", ("Invoice/1",)))
    with pytest.raises(LedgerError, match=r"seeds\.json"):
        reconciled(path, stores)
    seeds.keep(tmp_path, ())
    with pytest.raises(InfrastructureError, match="Invoice/1"):
        reconciled(path, stores)
    path = written(tmp_path, HISTORY[0])
    with mysql.cursor() as cursor:
        cursor.execute("DROP TABLE tabToDo")
    with pytest.raises(InfrastructureError, match="mariadb"):
        reconciled(path, stores)
