import time

import pytest

from incident_arena.stores.mariadb.statements import Effect, read

ARRANGES, LOOKS, HOLDS, CHANGES = Effect


@pytest.mark.parametrize(
    ("statement", "name", "effect"),
    [
        ("SELECT * FROM t", "SELECT", LOOKS),
        ("(select 1) union (select 2)", "SELECT", LOOKS),
        ("/* why */ show grants", "SHOW", LOOKS),
        ("-- drop's\nselect 1", "SELECT", LOOKS),
        ("SELECT 'a; DROP TABLE t'", "SELECT", LOOKS),
        ("SELECT `a;DROP` FROM t", "SELECT", LOOKS),
        ("SELECT 1; DROP TABLE t", "DROP TABLE", CHANGES),
        ("SELECT '\\'; -- ' ; DELETE FROM t", "DELETE", CHANGES),
        ("SELECT 1 INTO OUTFILE '/tmp/x'", "SELECT", CHANGES),
        ("SELECT 1 INTO @a", "SELECT", LOOKS),
        ("/*!50000 DROP TABLE t */", "DROP TABLE", CHANGES),
        ("/*M!100100 SET GLOBAL read_only=1 */", "SET GLOBAL", CHANGES),
        ("EXPLAIN SELECT 1", "EXPLAIN", LOOKS),
        ("EXPLAIN DELETE FROM t", "EXPLAIN", LOOKS),
        ("ANALYZE SELECT 1", "ANALYZE", LOOKS),
        ("ANALYZE FORMAT=JSON DELETE FROM t", "ANALYZE", CHANGES),
        ("ANALYZE TABLE t", "ANALYZE TABLE", CHANGES),
        ("EXPLAIN ANALYZE UPDATE t SET a=1", "ANALYZE", CHANGES),
        ("WITH a AS (SELECT 1) SELECT * FROM a", "WITH", LOOKS),
        ("GRANT DELETE ON site.* TO site@'%'", "GRANT", CHANGES),
        ("KILL 5", "KILL", CHANGES),
        ("CALL set_limit(3)", "CALL", CHANGES),
        ("EXECUTE s", "EXECUTE", CHANGES),
        ("PREPARE s FROM 'DELETE FROM t'", "PREPARE", ARRANGES),
        ("DEALLOCATE PREPARE s", "DEALLOCATE", ARRANGES),
        ("DROP PREPARE s", "DROP PREPARE", ARRANGES),
        ("DO SLEEP(0)", "DO", LOOKS),
        ("HANDLER t OPEN", "HANDLER", LOOKS),
        ("FLUSH PRIVILEGES", "FLUSH PRIVILEGES", CHANGES),
        ("TRUNCATE `t`", "TRUNCATE", CHANGES),
        ("CREATE OR REPLACE TEMPORARY TABLE t (a INT)", "CREATE TEMPORARY", CHANGES),
        ("# only a note", "", ARRANGES),
        ("BEGIN", "BEGIN", ARRANGES),
        ("BEGIN NOT ATOMIC DELETE FROM t; END", "BEGIN", CHANGES),
        ("SAVEPOINT a", "SAVEPOINT", ARRANGES),
        ("XA START 'x'", "XA", CHANGES),
        # Settings.
        ("SET NAMES utf8mb4", "SET", ARRANGES),
        ("SET GLOBAL max_connections = 5", "SET GLOBAL", CHANGES),
        ("SET @a = 1, @@global.max_connections = 5", "SET GLOBAL", CHANGES),
        ("SET @a = @@global.max_connections", "SET", ARRANGES),
        ("SET PASSWORD FOR a@b = PASSWORD('x')", "SET PASSWORD", CHANGES),
        ("SET DEFAULT ROLE r", "SET DEFAULT", CHANGES),
        ("SET STATEMENT max_statement_time=1 FOR DELETE FROM t", "DELETE", CHANGES),
        ("SET STATEMENT max_statement_time=1 FOR SELECT SUBSTRING('a' FROM 1 FOR 2)", "SELECT", LOOKS),
        ("SET STATEMENT a=SUBSTRING('a' FROM 1 FOR 2) FOR DELETE FROM t", "DELETE", CHANGES),
        ("SET STATEMENT max_statement_time=1", "SET STATEMENT", CHANGES),
        ("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE", "SET TRANSACTION", CHANGES),
        ("SET TRANSACTION ISOLATION LEVEL READ COMMITTED", "SET", ARRANGES),
        ("SET a = 1, SESSION tx_isolation = 'repeatable-read', b = 2", "SET", ARRANGES),
        ("SET tx_isolation = 'READ-COMMITTED', tx_isolation = 'SERIALIZABLE'", "SET TRANSACTION", CHANGES),
        ("SET @@session.`tx_isolation` := 3", "SET TRANSACTION", CHANGES),
        ("SET completion_type = 1", "SET", CHANGES),
        # Locks.
        ("SELECT * FROM t LOCK IN SHARE MODE", "LOCK ROWS", HOLDS),
        ("SELECT * FROM (SELECT * FROM t FOR /**/ UPDATE) x", "LOCK ROWS", HOLDS),
        ("EXPLAIN SELECT * FROM t FOR UPDATE", "EXPLAIN", LOOKS),
        ("SELECT 'FOR UPDATE', `LOCK IN SHARE MODE`, \"GET_LOCK(\"", "SELECT", LOOKS),
        ("SELECT GET_LOCK('x', 9)", "GET_LOCK", HOLDS),
        ("SET @a = `get_lock`('x', 9)", "SET", ARRANGES),  # in backticks it is no function of the server's
        # A comment that the server reads or leaves out, as its version is: the worst reading counts.
        ("/*!999999 SELECT */ DELETE FROM t", "DELETE", CHANGES),
        ("/*M!999999 SET */ DELETE FROM t", "DELETE", CHANGES),
        ("/*!50000 DELETE */ SELECT 1", "DELETE", CHANGES),
        ("/*!999999 EXPLAIN */ /*!50000 DELETE FROM t */", "DELETE", CHANGES),
        ("/*!999999 SELECT 1, */ /*!50000 KILL */ 5", "KILL", CHANGES),
        ("/*!999999 a /*!1 b */ KILL 5 */", "A", CHANGES),
        ("/*!1 a*/ /*!2 b*/ /*!3 c*/ /*!4 d*/ SELECT 1", "unreadable", CHANGES),
        ("\fDELETE FROM t", "DELETE", CHANGES),
        ("\bDELETE FROM t", "unreadable", CHANGES),
        ("\u00a0SELECT 1", "unreadable", CHANGES),
        ("--\x01 SELECT\nDELETE FROM t", "DELETE", CHANGES),
        ("/* SELECT 1", "unreadable", CHANGES),
        ("SELECT 'open", "SELECT", LOOKS),
        # A backslash in a string escapes, or does not.
        ("SELECT '\\' LOCK IN SHARE MODE -- '", "LOCK ROWS", HOLDS),
        ("SELECT 'it\\'s'", "SELECT", LOOKS),
    ],
)
def test_effects(statement: str, name: str, effect: Effect) -> None:
    found = read(statement)
    assert (found.name, found.effect) == (name, effect)


@pytest.mark.parametrize("statement", ["SELECT 'it\\'s'", "EXPLAIN DELETE FROM t -- a", "COMMIT /* now */"])
def test_what_can_only_be_read_in_one_way(statement: str) -> None:
    assert read(statement).certain


@pytest.mark.parametrize(
    "statement", ["/*!50000 COMMIT */", "/*!999999 EXPLAIN */ DELETE FROM t", "SELECT '\\' FOR UPDATE -- '"]
)
def test_what_can_be_read_in_two_ways(statement: str) -> None:
    assert not read(statement).certain


@pytest.mark.parametrize(
    "text",
    ['SELECT "' + '\\"' * 4000, "SELECT '" + "\\'" * 4000, "/*a" * 2700, "`" * 8001, "/*!" * 2700, "((" * 4000,
     "SET " + "a=(1)," * 1400, ";" * 8000],
)  # fmt: skip
def test_no_text_takes_longer_than_its_length(text: str) -> None:
    def seconds(length: int) -> float:
        began = time.process_time()
        for _ in range(5):
            read(text[:length])
        return time.process_time() - began

    # Were it quadratic, eight times the length would take 64 times as long.
    assert seconds(8000) < 32 * max(seconds(1000), 1e-4)
