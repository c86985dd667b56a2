from datetime import UTC, datetime
from pathlib import Path

import pytest

from incident_arena.records import Action
from incident_arena.services.referee import actions

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
        ("ANALYZE TABLE t", "ANALYZE", True),
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
    ],
)
def test_reads_and_changes(statement: str, what: str, *, changes: bool) -> None:
    assert actions.classify(statement) == (what, changes)


def test_a_statement_becomes_an_action() -> None:
    assert actions.parse(line("GRANT DELETE ON site.*\n  TO 'site'@'%'", code=1044)) == Action(
        at=AT, source="mariadb", actor="operator", kind="change", what="GRANT",
        detail="GRANT DELETE ON site.* TO 'site'@'%'", ok=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    "other",
    [line("SELECT 1", user="site"), line("SELECT 1", operation="READ"), line("SET NAMES utf8"), line("USE site"),
     line(actions.GREETING), "20261129 20:05:01,mariadb-0,operator,10.0.0.1,17,0,CONNECT,site,,0", "nonsense"],
)  # fmt: skip
def test_what_is_no_act_of_the_agents_is_left_out(other: str) -> None:
    assert actions.parse(other) is None


def test_the_log_is_read_with_its_rotations_and_line_breaks(tmp_path: Path) -> None:
    (tmp_path / "server_audit.log.2").write_text(line("KILL 1") + "\n")
    (tmp_path / "server_audit.log.1").write_text(line("DROP\nTABLE t") + "\n")
    (tmp_path / "server_audit.log").write_text(line("SELECT 1") + "\n" + line("SELECT 2"))
    found = [each.what for each in actions.of_mariadb(tmp_path, AT + 0.9, AT + 5)]
    assert found == ["KILL", "DROP TABLE", "SELECT", "SELECT"]
    assert list(actions.of_mariadb(tmp_path, AT + 1, AT + 5)) == []
    assert list(actions.of_mariadb(tmp_path, AT - 9, AT - 1)) == []


def test_the_admins_audit_is_read_whole_lines_only(tmp_path: Path) -> None:
    first = Action(at=5, source="admin", actor="agent", kind="change", what="restart")
    later = first.model_copy(update={"at": 50.0})
    (tmp_path / "actions.jsonl").write_text(f"{first.model_dump_json()}\n{later.model_dump_json()}\n" + '{"version"')
    assert list(actions.of_admin(tmp_path, 1, 10)) == [first]
    assert list(actions.of_admin(tmp_path / "none", 1, 10)) == []
