"""What MariaDB's audit writes of an operator's statements, and what is read of it: looks and acts on a real server."""

import struct
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pymysql
import pytest
from pymysql.constants import CLIENT
from tests.support.servers import Maria

from incident_arena.formats.records import Action
from incident_arena.stores.base import StoreError
from incident_arena.stores.mariadb.audit import LOG_LIMIT, Audit

pytestmark = pytest.mark.node

SEEN_S = 5.0
PREPARE, EXECUTE = 0x16, 0x17


@dataclass
class Hand:
    """The operator at one connection, and what the audit says of it."""

    log: Path
    connection: Any
    begins: int

    def run(self, *statements: str) -> None:
        """One after the other; one that the server refuses is no error here."""
        for statement in statements:
            try:
                with self.connection.cursor() as cursor:
                    cursor.execute(statement)
                    while cursor.nextset():
                        pass
            except pymysql.err.MySQLError:
                continue

    def lines(self) -> Iterator[str]:
        with self.log.open("rb") as file:
            file.seek(self.begins)
            yield from file.read().decode(errors="replace").split("\n")[:-1]

    def acts(self) -> list[Action]:
        """All that it did, when the server has written it."""
        mark = f"looked at {time.monotonic_ns()}"
        self.run(f"SELECT '{mark}'")
        ends = time.monotonic() + SEEN_S
        while time.monotonic() < ends:
            found = list(Audit("mariadb", "operator").parse(self.lines()))
            if found and mark in found[-1].detail:
                return found[:-1]
            time.sleep(0.02)
        raise AssertionError("the server wrote nothing")

    def changes(self) -> list[str]:
        return [f"{act.what} {act.detail}" for act in self.acts() if act.kind == "change" and act.ok]


@pytest.fixture
def hand(maria: Maria) -> Iterator[Hand]:
    maria.sql.query("GRANT ALL PRIVILEGES ON site.* TO operator@'%' WITH GRANT OPTION")
    maria.sql.query("INSERT INTO site.tabToDo VALUES ('a', 'x'), ('b', 'y')")
    log = maria.folder / "server_audit.log"
    connection = pymysql.connect(
        unix_socket=str(maria.folder / "sock"), user="operator", password="operator", database="site",
        autocommit=True, client_flag=CLIENT.MULTI_STATEMENTS,
    )  # fmt: skip
    begins = log.stat().st_size  # the server makes it when it starts
    yield Hand(log, connection, begins)
    connection.close()


def rows(maria: Maria) -> list[tuple[Any, ...]]:
    return maria.sql.query("SELECT * FROM site.tabToDo ORDER BY name")


LOOKS = [
    ("EXPLAIN DELETE FROM tabToDo",),
    ("EXPLAIN UPDATE tabToDo SET description = 'z' WHERE name = 'a'",),
    ("EXPLAIN INSERT INTO tabToDo SELECT name, '' FROM tabUser",),
    ("DESCRIBE DELETE FROM tabToDo",
     "EXPLAIN FORMAT=JSON DELETE FROM tabToDo WHERE name IN (SELECT name FROM tabRole)"),
    ("SET STATEMENT max_statement_time = 5 FOR SELECT COUNT(*) FROM tabToDo",),
    ("SET STATEMENT max_statement_time = 5 FOR SELECT @@global.read_only, COUNT(*) FROM tabToDo",),
    ("PREPARE one FROM 'SELECT COUNT(*) FROM tabToDo'", "EXECUTE one", "DEALLOCATE PREPARE one"),
    ("SET @q = 'SELECT COUNT(*) FROM tabToDo'", "PREPARE one FROM @q", "EXECUTE one", "DROP PREPARE one"),
    ("PREPARE never FROM 'DELETE FROM tabToDo'",),
    ("EXECUTE IMMEDIATE 'EXPLAIN DELETE FROM tabToDo'",),
    ("DO SLEEP(0)", "DO (SELECT COUNT(*) FROM tabToDo)", "SET @n = (SELECT COUNT(*) FROM tabToDo)"),
    ("CREATE TEMPORARY TABLE t AS SELECT * FROM tabToDo", "UPDATE t SET description = ''", "SELECT * FROM t",
     "ALTER TABLE t ADD COLUMN more INT", "TRUNCATE t", "DROP TABLE t"),
    ("CREATE OR REPLACE TEMPORARY TABLE `tabToDo` (a INT)", "INSERT INTO tabToDo VALUES (1)", "DELETE FROM tabToDo",
     "DROP TEMPORARY TABLE IF EXISTS tabToDo"),
    ("HANDLER tabToDo OPEN", "HANDLER tabToDo READ FIRST", "HANDLER tabToDo CLOSE"),
    ("BEGIN", "SELECT * FROM tabToDo", "ANALYZE SELECT * FROM tabToDo", "SHOW CREATE TABLE tabToDo",
     "SHOW TABLE STATUS", "SHOW INDEX FROM tabToDo", "SHOW FULL COLUMNS FROM tabToDo", "CHECKSUM TABLE tabToDo",
     "CHECK TABLE tabToDo", "EXPLAIN SELECT * FROM tabToDo", "ROLLBACK"),
    ("SELECT * FROM information_schema.PROCESSLIST WHERE INFO LIKE '%LOCK IN SHARE MODE%' OR INFO LIKE '%GET_LOCK(%'",),
    ("SELECT 'it\\'s', \"a;b\" -- DELETE FROM tabToDo", "VALUES (1)", "WITH a AS (SELECT 1) SELECT * FROM a"),
    ("START TRANSACTION WITH CONSISTENT SNAPSHOT", "SELECT COUNT(*) INTO @n FROM tabToDo", "COMMIT",
     "DO (SELECT COUNT(*) FROM tabToDo)"),
    ("SET tx_isolation = 'READ-COMMITTED'", "SET SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED"),
    ("GRANT DELETE ON nowhere.* TO site@'%'", "DELETE FROM mysql.user", "SET GLOBAL read_only = 1"),
    ("SELECT COUNT(*) FROM tabToDo WHERE name IN (" + ", ".join(f"'todo-{n:05d}'" for n in range(9000)) + ")",),
]  # fmt: skip


@pytest.mark.parametrize("statements", LOOKS, ids=lambda each: each[0][:60])
def test_what_changes_nothing_is_a_look(maria: Maria, hand: Hand, statements: tuple[str, ...]) -> None:
    before = rows(maria)
    hand.run(*statements)
    assert hand.changes() == []
    assert rows(maria) == before


WRITER = (
    "CREATE FUNCTION writes() RETURNS INT MODIFIES SQL DATA"
    " BEGIN DELETE FROM site.tabToDo WHERE name = 'a'; RETURN 1; END"
)
CHANGES = [
    ("ANALYZE DELETE FROM tabToDo",),
    ("ANALYZE FORMAT=JSON UPDATE tabToDo SET description = 'z'",),
    ("SET STATEMENT max_statement_time = 5 FOR DELETE FROM tabToDo",),
    ("PREPARE s FROM 'DELETE FROM tabToDo'", "EXECUTE s"),
    ("SET @q = 'DELETE FROM tabToDo'", "PREPARE s FROM @q", "EXECUTE s"),
    ("EXECUTE IMMEDIATE CONCAT('DEL', 'ETE FROM tabToDo')",),
    ("EXECUTE IMMEDIATE 'SET STATEMENT max_statement_time = 5 FOR ANALYZE DELETE FROM tabToDo'",),
    ("SELECT 1; DELETE FROM tabToDo; SELECT 2",),
    ("SELECT '" + "x" * 9000 + "'; DELETE FROM tabToDo",),
    ("SELECT '" + "x" * LOG_LIMIT + "'; DELETE FROM tabToDo",),
    ("/*!999999 EXPLAIN */ /*!50000 DELETE FROM tabToDo */",),
    ("/*!50000 DELETE */ FROM tabToDo", "SELECT 1"),
    ("CREATE TEMPORARY TABLE tabToDo (a INT)", "DROP TABLE tabToDo", "DELETE FROM tabToDo"),
    ("CREATE TEMPORARY TABLE t (name VARCHAR(140))", "INSERT INTO t VALUES ('a')",
     "DELETE tabToDo FROM tabToDo JOIN t USING (name)"),
    ("CREATE TEMPORARY TABLE t (a INT)", "LOCK TABLES tabToDo WRITE", "DELETE FROM tabToDo", "UNLOCK TABLES"),
    ("CREATE TEMPORARY TABLE t (a INT)", "TRUNCATE TABLE tabToDo"),
    ("XA START 'x'", "DELETE FROM tabToDo", "XA END 'x'", "XA COMMIT 'x' ONE PHASE"),
    (WRITER, "SELECT writes()"),
    (WRITER, "DO writes()"),
    (WRITER, "SET @x = writes()"),
    (WRITER, "SELECT * FROM (SELECT writes() AS a) x"),
    (WRITER, "EXPLAIN SELECT * FROM (SELECT writes() AS a) x"),
    ("CREATE PROCEDURE deletes() DELETE FROM site.tabToDo", "CALL deletes()"),
    ("BEGIN NOT ATOMIC DECLARE n INT; DELETE FROM tabToDo; END",),
    ("DELETE FROM tabToDo RETURNING name",),
    ("CREATE VIEW v AS SELECT * FROM tabToDo", "DELETE FROM v"),
]  # fmt: skip


@pytest.mark.parametrize("statements", CHANGES, ids=lambda each: each[-1][:60])
def test_what_changed_rows_is_an_act_however_it_is_dressed(
    maria: Maria, hand: Hand, statements: tuple[str, ...]
) -> None:
    before = rows(maria)
    hand.run(*statements)
    assert rows(maria) != before
    assert hand.changes()


def test_a_function_that_a_plan_ran_is_an_act_although_its_making_is_long_past(maria: Maria, hand: Hand) -> None:
    maria.sql.query(WRITER.replace("FUNCTION ", "FUNCTION site."))
    before = rows(maria)
    hand.run("CREATE TEMPORARY TABLE t (a INT)", "EXPLAIN SELECT * FROM (SELECT writes() AS a) x")
    assert rows(maria) != before
    assert "TABLE WRITE site.tabToDo" in hand.changes()


def test_other_acts_that_no_table_tells(hand: Hand) -> None:
    hand.run("CREATE TEMPORARY TABLE t (a INT)", "CREATE VIEW v AS SELECT 1", "CREATE TEMPORARY TABLE v (a INT)",
             "DROP TABLE v", "RENAME TABLE v TO w", "DROP VIEW w")  # fmt: skip
    assert [act.split()[0] for act in hand.changes()] == ["CREATE", "RENAME", "DROP"]


HOLDS = [
    ("BEGIN", "SELECT * FROM tabToDo LOCK IN SHARE MODE"),
    ("BEGIN", "SELECT * FROM tabToDo FOR UPDATE"),
    ("BEGIN", "SELECT * FROM (SELECT * FROM tabToDo LOCK IN SHARE MODE) x"),
    ("BEGIN", "SET STATEMENT max_statement_time = 5 FOR SELECT * FROM tabToDo LOCK IN /* or not */ SHARE MODE"),
    ("BEGIN", "SET STATEMENT max_statement_time = 0.1 FOR SELECT SLEEP(9) FROM tabToDo LOCK IN SHARE MODE"),
    ("BEGIN", "DO (SELECT COUNT(*) FROM tabToDo)"),
    ("START TRANSACTION READ ONLY", "SET @n = (SELECT COUNT(*) FROM tabToDo)"),
    ("SET autocommit = 0", "DO (SELECT COUNT(*) FROM tabToDo)"),
    ("BEGIN", "COMMIT AND CHAIN", "DO (SELECT COUNT(*) FROM tabToDo)"),
    ("BEGIN", "/*!999999 COMMIT */", "DO (SELECT COUNT(*) FROM tabToDo)"),
    ("EXECUTE IMMEDIATE 'BEGIN'", "EXECUTE IMMEDIATE 'DO (SELECT COUNT(*) FROM tabToDo)'"),
    ("SET completion_type = 'CHAIN'", "BEGIN", "COMMIT", "DO (SELECT COUNT(*) FROM tabToDo)"),
    ("BEGIN", "SHOW TABLES WHERE (SELECT COUNT(*) FROM tabToDo)"),
    ("BEGIN", "CREATE TEMPORARY TABLE t AS SELECT * FROM tabToDo"),
    ("CREATE TEMPORARY TABLE t LIKE tabToDo", "BEGIN", "INSERT INTO t SELECT * FROM tabToDo"),
    ("SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE", "BEGIN", "SELECT COUNT(*) FROM tabToDo"),
    ("SET tx_isolation = CONCAT('SERIAL', 'IZABLE')", "BEGIN", "SELECT COUNT(*) FROM tabToDo"),
    ("SET @@session.`tx_isolation` := 3", "BEGIN", "SELECT COUNT(*) FROM tabToDo"),
    ("BEGIN", "EXPLAIN SELECT * FROM tabToDo WHERE name = 'a' FOR UPDATE"),
    ("BEGIN", "EXPLAIN DELETE tabToDo FROM tabToDo WHERE name = 'a'"),
    ("SET sql_mode = 'NO_BACKSLASH_ESCAPES'", "BEGIN", "SELECT *, '\\' FROM tabToDo LOCK IN SHARE MODE -- '"),
    ("LOCK TABLES tabToDo READ",),
    ("XA START 'y'", "SELECT * FROM tabToDo LOCK IN SHARE MODE"),
]  # fmt: skip


@pytest.mark.parametrize("statements", HOLDS, ids=lambda each: each[-1][:60])
def test_what_makes_users_wait_is_an_act(maria: Maria, hand: Hand, statements: tuple[str, ...]) -> None:
    hand.run(*statements)
    users = maria.connect("site", "site")
    users.query("SET innodb_lock_wait_timeout = 1, lock_wait_timeout = 1")
    with pytest.raises(StoreError, match="Lock wait timeout"):
        users.query("UPDATE site.tabToDo SET description = CONCAT(description, '!') WHERE name = 'a'")
    users.close()
    hand.run("ROLLBACK", "UNLOCK TABLES")
    assert hand.changes()


def test_a_slow_statement_holds_what_it_reads(hand: Hand) -> None:
    hand.run("DO (SELECT SLEEP(4) FROM tabToDo LIMIT 1)")
    assert [act.split(" ")[:2] for act in hand.changes()] == [["LOCK", "ROWS"]]


@pytest.mark.parametrize("statement", ["DO GET_LOCK('x', 1)", "SELECT GET_LOCK('x', 1), 1 IN (SELECT 1 UNION SELECT 2)",
                                       "SELECT /*!50000 GET_LOCK('x', 1) */", "SET @a = GET_LOCK('x', 1)",
                                       "EXECUTE IMMEDIATE CONCAT('SELECT ', GET_LOCK('x', 1))",
                                       "SELECT GET_LOCK('x', 1), (SELECT 1 UNION SELECT 2)"])  # fmt: skip
def test_a_named_lock_is_an_act_also_of_a_statement_that_fails(maria: Maria, hand: Hand, statement: str) -> None:
    hand.run(statement)
    assert maria.sql.query("SELECT IS_USED_LOCK('x')") != [(None,)]
    assert hand.changes()


@pytest.mark.parametrize("text", ["x" * (LOG_LIMIT - 14), "x" * (LOG_LIMIT - 11), "x" * (LOG_LIMIT - 10),
                                  "\\'" * (LOG_LIMIT // 4), "y" + "\\'" * (LOG_LIMIT // 4),
                                  "ü" * (LOG_LIMIT // 2)])  # fmt: skip
def test_a_statement_that_was_cut_off_is_an_act(hand: Hand, text: str) -> None:
    hand.run(f"SELECT '{text}'")
    (found,) = hand.acts()
    assert (found.kind, found.what) in {("change", "unreadable"), ("read", "SELECT")}
    whole = len(f"SELECT '{text}'".replace("\\", "\\\\").replace("'", "\\'").encode()) < LOG_LIMIT - 2
    assert (found.kind == "read") == whole


def test_statements_of_the_binary_protocol_are_seen_too(maria: Maria, hand: Hand) -> None:
    before = rows(maria)
    for statement in ("EXPLAIN DELETE FROM tabToDo", "SELECT name FROM tabToDo"):
        binary(hand.connection, statement)
    assert (hand.changes(), rows(maria)) == ([], before)
    binary(hand.connection, "DELETE FROM tabToDo")
    assert rows(maria) == []
    assert [act.split(" FROM ")[0] for act in hand.changes()] == ["TABLE WRITE site.tabToDo", "DELETE DELETE"]


def binary(connection: Any, statement: str) -> None:
    """Prepare and execute a statement without parameters, as drivers do that prepare on the server."""
    connection._execute_command(PREPARE, statement)
    number, columns = struct.unpack("<IH", connection._read_packet()._data[1:7])
    for _ in range(columns + (1 if columns else 0)):
        connection._read_packet()
    connection._execute_command(EXECUTE, struct.pack("<IBI", number, 0, 1))
    if connection._read_packet().is_ok_packet():
        return
    for _ in range(2):  # columns, rows
        while not connection._read_packet().is_eof_packet():
            pass
