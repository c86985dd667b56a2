from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

import incident_arena
from incident_arena.formats.records import Action
from incident_arena.stores import audits
from incident_arena.stores.mariadb.audit import GREETING, HELD_S, LOG_LIMIT, Audit

AUDIT = Audit("mariadb", "operator")
AT = datetime(2026, 11, 29, 20, 5, 1, tzinfo=UTC).timestamp()
CHART = Path(incident_arena.__file__).parent / "substrates/frappe/chart/values.yaml"


def line(statement: str, *, user: str = "operator", code: int = 0, number: int = 233, connection: int = 17) -> str:
    escaped = statement.replace("\\", "\\\\").replace("'", "\\'")
    return f"20261129 20:05:01,mariadb-0,{user},10.42.0.9,{connection},{number},QUERY,site,'{escaped}',{code}"


def table(
    operation: str, name: str = "site,tabNote", *, number: int = 233, connection: int = 17, second: int = 1
) -> str:
    return f"20261129 20:05:{second:02},mariadb-0,operator,10.42.0.9,{connection},{number},{operation},{name},"


def parse(*lines: str) -> list[Action]:
    return list(AUDIT.parse(iter(lines), AT))


def whats(*lines: str) -> list[str]:
    return [each.what for each in parse(*lines) if each.kind == "change" and each.ok]


def test_a_statement_becomes_an_action() -> None:
    assert parse(line("GRANT DELETE ON site.*\n  TO 'site'@'%'", code=1044)) == [
        Action(
            at=AT, source="mariadb", actor="operator", kind="change", what="GRANT",
            detail="GRANT DELETE ON site.* TO 'site'@'%'", ok=False,
        )
    ]  # fmt: skip


@pytest.mark.parametrize(
    "other",
    [line("SELECT 1", user="site"), line("SET NAMES utf8"), line("USE site"), line(GREETING), table("READ"), "",
     "20261129 20:05:01,mariadb-0,operator,10.0.0.1,17,0,CONNECT,site,,0", table("WRITE", "mysql,db"),
     line("PREPARE s FROM 'DELETE FROM t'")],
)  # fmt: skip
def test_what_is_no_act_of_the_agents_is_left_out(other: str) -> None:
    assert parse(other) == []


def test_a_write_to_a_table_is_an_act_whatever_the_statement_was() -> None:
    found, look = parse(table("WRITE"), line("SELECT 1"))
    assert (found.kind, found.what, found.detail, found.ok) == ("change", "TABLE WRITE", "site.tabNote", True)
    assert (look.kind, look.what) == ("read", "SELECT")
    assert whats(table("WRITE"), line("INSERT INTO tabNote VALUES (1)", code=1062)) == ["TABLE WRITE"]
    assert whats(table("WRITE")) == ["TABLE WRITE"]  # its statement never ended


def test_a_plan_changes_nothing_although_its_tables_are_taken() -> None:
    (found,) = parse(table("WRITE"), line("EXPLAIN DELETE FROM tabNote"))
    assert (found.kind, found.what) == ("read", "EXPLAIN")
    other = table("WRITE", number=232)
    assert whats(other, table("WRITE"), line("EXPLAIN DELETE FROM tabNote")) == ["TABLE WRITE"]
    assert whats(table("WRITE", connection=18), line("EXPLAIN DELETE FROM tabNote")) == ["TABLE WRITE"]
    # A function ran meanwhile.
    assert whats(table("WRITE"), line("SELECT 1", number=234), line("EXPLAIN DELETE FROM t")) == ["TABLE WRITE"]
    assert whats(table("WRITE"), line("/*!999999 EXPLAIN */ SELECT 1")) == ["TABLE WRITE"]


def test_what_execute_ran_stands_for_it() -> None:
    run = line("EXECUTE IMMEDIATE @q")
    assert [each.what for each in parse(line("SELECT 1"), run)] == ["SELECT"]
    assert whats(line("KILL 5"), run) == ["KILL"]
    assert whats(run) == ["EXECUTE"]
    assert whats(line("SELECT 1", number=232), run) == ["EXECUTE"]
    assert whats(line("SELECT 1"), line("EXECUTE IMMEDIATE GET_LOCK('x', 1)")) == ["EXECUTE"]


MADE = line("CREATE TEMPORARY TABLE t (a INT)", number=1)


@pytest.mark.parametrize(
    "statement", ["INSERT INTO t VALUES (1)", "DELETE FROM t", "TRUNCATE t", "DROP TABLE t", "ALTER TABLE t ADD b INT"]
)
def test_a_temporary_table_is_the_sessions_own(statement: str) -> None:
    assert whats(MADE, line(statement)) == []
    assert whats(line(statement))
    assert whats(MADE, line(statement, connection=18))
    assert whats(MADE, table("WRITE"), line(statement))
    assert whats(MADE, table("DROP", "mysql,db"), line(statement))
    assert whats(MADE, line("LOCK TABLES tabNote WRITE"), line(statement))[1:]


@pytest.mark.parametrize(
    "statement", ["RENAME TABLE v TO w", "ALTER TABLE v RENAME TO w", "DROP VIEW v", "CREATE TEMPORARY SEQUENCE s",
                  "CREATE TEMPORARY TABLE u SELECT GET_LOCK('x', 1)", "/*!999999 DELETE FROM t */ /*!1 KILL 5 */",
                  "GRANT DELETE ON site.* TO site@'%'", "LOAD DATA INFILE '/x' INTO TABLE t"],
)  # fmt: skip
def test_what_else_a_session_with_a_temporary_table_does_is_an_act(statement: str) -> None:
    assert whats(MADE, line(statement))


READS = "DO (SELECT COUNT(*) FROM tabNote)"


@pytest.mark.parametrize(
    ("before", "held"),
    [
        ([], False),
        (["BEGIN"], True),
        (["BEGIN", "COMMIT"], False),
        (["BEGIN", "COMMIT AND CHAIN"], True),
        (["BEGIN", "ROLLBACK TO SAVEPOINT a"], True),
        (["BEGIN", "ROLLBACK WORK"], False),
        (["BEGIN", "/*!999999 COMMIT */"], True),
        (["SET STATEMENT a=1 FOR BEGIN"], True),
        (["SET autocommit = 0"], True),
        (["SET autocommit = 0", "COMMIT"], True),
        (["BEGIN", "SET autocommit = 1"], False),
        (["SET autocommit = 1, a = 2"], True),
    ],
)
def test_reads_that_lock_rows_hold_users_up_in_a_transaction(before: list[str], *, held: bool) -> None:
    lines = [*map(line, before), table("READ"), line(READS)]
    assert whats(*lines) == (["LOCK ROWS"] if held else [])
    assert whats(*lines[:-1], line("SELECT COUNT(*) FROM tabNote")) == []


def test_a_transaction_of_another_session_or_that_was_refused_is_none() -> None:
    assert whats(line("BEGIN", connection=18), table("READ"), line(READS)) == []
    assert whats(line("BEGIN", code=1064), table("READ"), line(READS)) == []


def test_a_statement_holds_its_rows_while_it_runs() -> None:
    assert whats(table("READ"), line(READS)) == []
    early = table("READ").replace("20:05:01", f"20:04:{60 - HELD_S}")
    assert whats(early, line(READS)) == ["LOCK ROWS"]
    assert whats(early, line("SELECT SLEEP(9)")) == []


def test_locks_that_a_failed_statement_took_are_kept() -> None:
    locking = "SELECT * FROM t LOCK IN SHARE MODE"
    assert whats(line(locking, code=1969)) == ["LOCK ROWS"]
    assert whats(line(locking, code=1064)) == []
    assert whats(line("DO GET_LOCK('x', 1)", code=1242)) == ["GET_LOCK"]


def test_the_server_writes_as_much_of_a_statement_as_is_read() -> None:
    assert yaml.safe_load(CHART.read_text())["mariadb"]["options"]["server_audit_query_log_limit"] == LOG_LIMIT


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
    (found,) = parse(bad)
    assert (found.kind, found.what, found.ok, found.at) == ("change", "unreadable", True, AT)


@pytest.mark.parametrize("typo", ["```sql", "SELECT 1 /* x", "'SELECT 1'", "PREPARE s FROM 'SELCT'", "DO x"])
def test_what_the_server_refused_did_nothing(typo: str) -> None:
    assert whats(line(typo, code=1064)) == []


@pytest.mark.parametrize("text", ["'" * (LOG_LIMIT // 2), "x" * (LOG_LIMIT - 4)])
def test_a_statement_that_was_cut_off_is_unreadable(text: str) -> None:
    (found,) = parse(line(f"# {text}"))
    assert (found.what, found.ok) == ("unreadable", True)


def test_the_acts_are_of_the_store_and_the_account_that_are_asked_for() -> None:
    (found,) = Audit("main", "site").parse(iter([line("KILL 1", user="site"), line("KILL 1")]))
    assert (found.source, found.actor) == ("main", "site")


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
