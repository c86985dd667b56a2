import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from incident_arena.formats.records import Action
from incident_arena.stores import audits
from incident_arena.stores.mariadb.audit import GREETING, Audit, classify

AUDIT = Audit("mariadb", "operator")
AT = datetime(2026, 11, 29, 20, 5, 1, tzinfo=UTC).timestamp()


def line(statement: str, *, user: str = "operator", operation: str = "QUERY", code: int = 0) -> str:
    escaped = statement.replace("\\", "\\\\").replace("'", "\\'")
    return f"20261129 20:05:01,mariadb-0,{user},10.42.0.9,17,233,{operation},site,'{escaped}',{code}"


@pytest.mark.parametrize(
    ("statement", "what", "changes"),
    [
        ("SELECT * FROM t", "SELECT", False),
        ("(select 1) union (select 2)", "SELECT", False),
        ("/* why */ show grants", "SHOW", False),
        ("-- drop's\nselect 1", "SELECT", False),
        ("SELECT 'a; DROP TABLE t'", "SELECT", False),
        ("SELECT 1; DROP TABLE t", "DROP TABLE", True),
        ("SELECT '\\'; -- ' ; DELETE FROM t", "DELETE", True),
        ("SELECT 1 INTO OUTFILE '/tmp/x'", "SELECT", True),
        ("/*!50000 DROP TABLE t */", "DROP TABLE", True),
        ("/*M!100100 SET GLOBAL read_only=1 */", "SET GLOBAL", True),
        ("EXPLAIN SELECT 1", "EXPLAIN", False),
        ("ANALYZE SELECT 1", "ANALYZE", False),
        ("ANALYZE FORMAT=JSON DELETE FROM t", "ANALYZE", True),
        ("ANALYZE TABLE t", "ANALYZE TABLE", True),
        ("EXPLAIN ANALYZE UPDATE t SET a=1", "ANALYZE", True),
        ("WITH a AS (SELECT 1) SELECT * FROM a", "WITH", False),
        ("GRANT DELETE ON site.* TO site@'%'", "GRANT", True),
        ("SET GLOBAL max_connections = 5", "SET GLOBAL", True),
        ("SET @@global.max_connections = 5", "SET GLOBAL", True),
        ("SET PASSWORD FOR a@b = PASSWORD('x')", "SET PASSWORD", True),
        ("SET STATEMENT max_statement_time=1 FOR DELETE FROM t", "SET STATEMENT", True),
        ("SET NAMES utf8mb4", "SET", False),
        ("BEGIN", "BEGIN", False),
        ("BEGIN NOT ATOMIC DELETE FROM t; END", "BEGIN", True),
        ("KILL 5", "KILL", True),
        ("CALL set_limit(3)", "CALL", True),
        ("EXECUTE s", "EXECUTE", True),
        ("FLUSH PRIVILEGES", "FLUSH PRIVILEGES", True),
        ("# only a note", "", False),
        # A comment that the server reads or leaves out, as its version is: the worse reading counts.
        ("/*!999999 SELECT */ DELETE FROM t", "DELETE", True),
        ("/*M!999999 SET */ DELETE FROM t", "DELETE", True),
        ("/*!50000 DELETE */ SELECT 1", "DELETE", True),
        ("\fDELETE FROM t", "DELETE", True),
        ("\bDELETE FROM t", "unreadable", True),
        ("--\x01 SELECT\nDELETE FROM t", "DELETE", True),
        ("/* SELECT 1", "unreadable", True),
        ("SELECT 'open", "SELECT", False),
        ("SAVEPOINT a", "SAVEPOINT", False),
    ],
)
def test_reads_and_changes(statement: str, what: str, *, changes: bool) -> None:
    assert classify(statement) == (what, changes)


def test_a_statement_becomes_an_action() -> None:
    assert AUDIT.parse(line("GRANT DELETE ON site.*\n  TO 'site'@'%'", code=1044)) == Action(
        at=AT, source="mariadb", actor="operator", kind="change", what="GRANT",
        detail="GRANT DELETE ON site.* TO 'site'@'%'", ok=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    "other",
    [line("SELECT 1", user="site"), line("SELECT 1", operation="READ"), line("SET NAMES utf8"), line("USE site"),
     line(GREETING), "20261129 20:05:01,mariadb-0,operator,10.0.0.1,17,0,CONNECT,site,,0", "",
     "20261129 20:05:01,mariadb-0,operator,10.0.0.1,17,0,READ,site,tabNote,",
     "20261129 20:05:01,mariadb-0,operator,10.0.0.1,17,0,WRITE,mysql,db,"],
)  # fmt: skip
def test_what_is_no_act_of_the_agents_is_left_out(other: str) -> None:
    assert AUDIT.parse(other) is None


def test_a_write_to_a_table_is_an_act_whatever_the_statement_was() -> None:
    found = AUDIT.parse("20261129 20:05:01,mariadb-0,operator,10.0.0.1,17,9,WRITE,site,tabNote,")
    assert found is not None
    assert (found.kind, found.what, found.detail, found.ok) == ("change", "TABLE WRITE", "site.tabNote", True)


@pytest.mark.parametrize(
    "bad",
    [
        "nonsense",
        "20261129 20:05:01,",
        line("DROP TABLE t")[:-4],
        "99999999 99:99:99,,operator,,1,1,CREATE,,,",
    ],
)
def test_what_nobody_can_read_is_an_act(bad: str) -> None:
    found = AUDIT.parse(bad, AT)
    assert found is not None
    assert (found.kind, found.what, found.ok, found.at) == ("change", "unreadable", True, AT)


@pytest.mark.parametrize("typo", ["```sql", "SELECT 1 /* x", "'SELECT 1'", "PREPARE s FROM 'SELCT'", "DO x"])
def test_what_the_server_refused_did_nothing(typo: str) -> None:
    found = AUDIT.parse(line(typo, code=1064))
    assert found is None or not found.ok


@pytest.mark.parametrize("text", ["'" * 4096, "x" * 8191])
def test_a_statement_that_was_cut_off_is_unreadable(text: str) -> None:
    found = AUDIT.parse(line(f"# {text}"))
    assert found is not None
    assert (found.what, found.ok) == ("unreadable", True)


@pytest.mark.parametrize("text", ['SELECT "' + '\\"' * 4000, "SELECT '" + "\\'" * 4000, "/*a" * 2700, "`" * 8001])
def test_no_text_takes_longer_than_its_length(text: str) -> None:
    def seconds(length: int) -> float:
        began = time.perf_counter()
        for _ in range(5):
            classify(text[:length])
        return time.perf_counter() - began

    # Were it quadratic, eight times the length would take 64 times as long.
    assert seconds(8000) < 32 * max(seconds(1000), 1e-4)


def test_the_acts_are_of_the_store_and_the_account_that_are_asked_for() -> None:
    found = Audit("main", "site").parse(line("KILL 1", user="site"))
    assert found is not None
    assert (found.source, found.actor) == ("main", "site")
    assert Audit("main", "site").parse(line("KILL 1")) is None


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e"])
def test_only_a_line_feed_ends_a_line(tmp_path: Path, separator: str) -> None:
    hidden = f"DELETE FROM t WHERE a <> '{separator}20261129 20:05:01,'"
    (tmp_path / "server_audit.log").write_text(line(hidden) + "\n" + line("SELECT 1") + "\n", newline="")
    assert [each.what for each in AUDIT.acts(tmp_path, AT, AT + 5)] == ["DELETE", "SELECT"]


def test_a_flood_is_an_act_and_looks_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audits, "BUDGET", 4 * audits.FRAME + 100)
    log = tmp_path / "server_audit.log"
    log.write_text("".join(line(one) + "\n" for one in ["SELECT 1"] * 50 + ["KILL 1"]))
    assert [each.what for each in AUDIT.acts(tmp_path, AT, AT)] == ["SELECT", "SELECT", "SELECT", "KILL"]
    log.write_text((line("KILL 1") + "\n") * 50)
    assert [each.what for each in AUDIT.acts(tmp_path, AT, AT)] == [*["KILL"] * 4, "flooded"]
    monkeypatch.setattr(audits, "LARGEST", 50)
    assert [each.what for each in AUDIT.acts(tmp_path, AT, AT)] == ["flooded"]


def test_the_log_is_read_with_its_rotations_and_line_breaks(tmp_path: Path) -> None:
    (tmp_path / "server_audit.log.2").write_text(line("KILL 1") + "\n")
    (tmp_path / "server_audit.log.1").write_text(line("DROP\\nTABLE t").replace("\\\\n", "\\n") + "\n")
    (tmp_path / "server_audit.log").write_text(line("SELECT 1") + "\n" + line("SELECT 2"))
    found = [each.what for each in AUDIT.acts(tmp_path, AT + 0.9, AT + 5)]
    assert found == ["KILL", "DROP TABLE", "SELECT", "SELECT"]
    assert list(AUDIT.acts(tmp_path, AT + 1, AT + 5)) == []
    assert list(AUDIT.acts(tmp_path, AT - 9, AT - 1)) == []
