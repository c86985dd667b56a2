"""A MariaDB server's picture.

    accounts/<user>@<host>/grants/global/<PRIVILEGE>            True for each; `GRANT OPTION` is one of them
    accounts/<user>@<host>/grants/database/<db>/<PRIVILEGE>
    accounts/<user>@<host>/grants/table/<db>.<table>/<PRIVILEGE>
    accounts/<user>@<host>/grants/column/<db>.<table>.<column>/<PRIVILEGE>
    accounts/<user>@<host>/grants/routine/<db>.<routine>/<PRIVILEGE>
    accounts/<user>@<host>/grants/role/<role>                   `member` or `admin`
    accounts/<user>@<host>/grants/proxy/<user>@<host>           True
    accounts/<user>@<host>/limits/<limit>                       max_user_connections and so on, where not 0
    accounts/<user>@<host>/locked                               True or False
    accounts/<user>@<host>/authentication/<n>                   plugin and digest of the stored hash
    accounts/<user>@<host>/other/<attribute>                    default_role, ssl_type, … where set
    accounts/<user>@<host>/effective                            digest of SHOW CREATE USER: what the server goes by now
    globals/live/<variable>                                     SHOW GLOBAL VARIABLES
    globals/file/<group>/<option>                               option files, see option_files.py
    databases/<db>                                              character set and collation
    schema/<db>/table|view|sequence/<name>                      digest of columns, indexes, engine and constraints
    schema/<db>/trigger|routine|event/<name>                    digest of its definition
    plugins/<name>                                              status
    server/functions|servers/<name>                             digest: loadable functions, foreign servers
    rows/<db>.<table>                                           checksum of a table that nothing changes by itself
    rows/<db>.<table>/<key>                                     digest of the named columns of one row
    rows/<db>.<table>/count                                     where there are too many rows to list

Roles are accounts with an empty host (`<role>@`). ALL PRIVILEGES is written as what it stands for, so GRANT ALL and a
list of all are no difference. A missing path means: not so.

What is left out, because it changes by itself, is in CHANGING, each with its reason, and, for rows, what the caller
names in Rows.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from incident_arena.formats.records import Facts
from incident_arena.stores.base import digest, segment
from incident_arena.stores.mariadb import option_files
from incident_arena.stores.mariadb.client import Sql, quoted

CHANGING = {
    "gtid_binlog_pos": "grows with each transaction",
    "gtid_binlog_state": "grows with each transaction",
    "gtid_current_pos": "grows with each transaction",
    "gtid_slave_pos": "grows with each transaction",
    "server_uid": "made from the pod's network address, another one after each restart",
    "hostname": "the pod's name",
    "innodb_undo_log_truncate": "the server switches it while it shrinks its undo log",
    "innodb_buffer_pool_load_abort": "the server resets it at start",
}
"""Global variables that a healthy server changes by itself, with the reason."""

SYSTEM_DATABASES = ("information_schema", "performance_schema", "mysql", "sys")
LIMITS = ("max_questions", "max_updates", "max_connections", "max_user_connections", "max_statement_time")
ROWS_MOST = 500
"""A table with more rows than this is checked by one digest over all its rows, not by one a row."""


@dataclass(frozen=True)
class Rows:
    """How the application's rows are looked at.

    Attributes:
        moving: tables (`tabToDo`, or a beginning with `*` at its end) that the application or the load changes by
            itself, each with the reason; no checksum is taken of them.
        columns: for moving tables whose rows count all the same: the key column, then those that must not change.
    """

    moving: Mapping[str, str] = field(default_factory=dict)
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def moves(self, table: str) -> bool:
        """Whether the table changes by itself."""
        return any(table.startswith(name[:-1]) if name.endswith("*") else table == name for name in self.moving)


def snapshot(sql: Sql, options: Path | None, *, database: str, rows: Rows) -> Facts:
    """Read a server and its option files.

    Args:
        sql: connection of an account that may read everything.
        options: folder of option files; None: the saved state is left out.
        database: the application's database, whose rows are looked at.
        rows: which of them.

    Raises:
        StoreError: the server cannot be read.
    """
    facts: Facts = {}
    _accounts(sql, facts)
    for name, value in sql.query("SHOW GLOBAL VARIABLES"):
        if name not in CHANGING:
            facts[f"globals/live/{segment(name)}"] = value
    if options is not None:
        facts.update({f"globals/file/{path}": value for path, value in option_files.snapshot(options).items()})
    _schema(sql, facts)
    _server(sql, facts)
    _rows(sql, facts, database, rows)
    return facts


def account(user: str, host: str) -> str:
    """An account's name as it stands in paths."""
    return segment(f"{user}@{host}")


def _accounts(sql: Sql, facts: Facts) -> None:
    for user, host, written in sql.query("SELECT User, Host, Priv FROM mysql.global_priv"):
        stored = json.loads(written)
        base = f"accounts/{account(user, host)}"
        facts[f"{base}/locked"] = bool(stored.get("account_locked", False))
        for limit in LIMITS:
            if stored.get(limit):
                facts[f"{base}/limits/{limit}"] = stored[limit]
        for number, (plugin, secret) in enumerate(_authentication(stored)):
            facts[f"{base}/authentication/{number}"] = f"{plugin} {digest(secret)}" if secret else plugin
        for name in ("default_role", "ssl_type", "ssl_cipher", "x509_issuer", "x509_subject", "password_lifetime"):
            if stored.get(name):
                facts[f"{base}/other/{name}"] = str(stored[name])
        if stored.get("is_role"):
            facts.update({f"{base}/grants/global/{name}": True for name in role_privileges(sql, user)})
        else:
            ((shown,),) = sql.query("SHOW CREATE USER %s@%s", (user, host))
            facts[f"{base}/effective"] = digest(shown)
    _grants(sql, facts)


def role_privileges(sql: Sql, role: str) -> set[str]:
    """A role's own global privileges, which information_schema leaves out."""
    shown = [str(row[0]) for row in sql.query(f"SHOW GRANTS FOR {quoted(role) if role != 'PUBLIC' else role}")]
    found = (re.fullmatch(r"GRANT (.+) ON \*\.\* TO (\S+)( WITH GRANT OPTION)?", line) for line in shown)
    own = [match for match in found if match and match[2].strip("`") == role]
    return {
        name
        for match in own
        for name in (*match[1].split(", "), *(["GRANT OPTION"] if match[3] else []))
        if name != "USAGE"
    }


def _authentication(stored: dict[str, Any]) -> list[tuple[str, str]]:
    """Each way in which an account may sign in; `auth_or` lists several, its empty entry stands for the outer one."""
    outer = {name: stored.get(name, "") for name in ("plugin", "authentication_string")}
    ways = [each or outer for each in stored.get("auth_or", [outer])]
    return [(str(way.get("plugin", "")), str(way.get("authentication_string", ""))) for way in ways]


def _grants(sql: Sql, facts: Facts) -> None:
    for scope, columns, view in (
        ("global", "''", "USER_PRIVILEGES"),
        ("database", "TABLE_SCHEMA", "SCHEMA_PRIVILEGES"),
        ("table", "CONCAT(TABLE_SCHEMA, '.', TABLE_NAME)", "TABLE_PRIVILEGES"),
        ("column", "CONCAT(TABLE_SCHEMA, '.', TABLE_NAME, '.', COLUMN_NAME)", "COLUMN_PRIVILEGES"),
    ):
        statement = f"SELECT GRANTEE, {columns}, PRIVILEGE_TYPE, IS_GRANTABLE FROM information_schema.{view}"  # noqa: S608 - constants
        for grantee, on, privilege, grantable in sql.query(statement):
            if privilege == "USAGE" and grantable == "NO":
                continue
            base = f"accounts/{_grantee(grantee)}/grants/{scope}" + (f"/{segment(on)}" if on else "")
            if privilege != "USAGE":
                facts[f"{base}/{privilege}"] = True
            if grantable == "YES":
                facts[f"{base}/GRANT OPTION"] = True
    for user, host, database, name, privileges in sql.query(
        "SELECT User, Host, Db, Routine_name, Proc_priv FROM mysql.procs_priv"
    ):
        for privilege in str(privileges).upper().split(","):
            facts[f"accounts/{account(user, host)}/grants/routine/{segment(f'{database}.{name}')}/{privilege}"] = True
    for user, host, role, admin in sql.query("SELECT User, Host, Role, Admin_option FROM mysql.roles_mapping"):
        membership = "admin" if admin == "Y" else "member"
        facts[f"accounts/{account(user, host)}/grants/role/{segment(role)}"] = membership
    for user, host, other, at in sql.query("SELECT User, Host, Proxied_user, Proxied_host FROM mysql.proxies_priv"):
        facts[f"accounts/{account(user, host)}/grants/proxy/{account(other, at)}"] = True


def _grantee(written: str) -> str:
    """`'user'@'host'` as an account."""
    user, _, host = written.rpartition("@")
    return account(user.strip("'"), host.strip("'"))


def _schema(sql: Sql, facts: Facts) -> None:
    system = ", ".join(f"'{name}'" for name in SYSTEM_DATABASES)
    for name, charset, collation in sql.query(
        "SELECT SCHEMA_NAME, DEFAULT_CHARACTER_SET_NAME, DEFAULT_COLLATION_NAME FROM information_schema.SCHEMATA"
    ):
        facts[f"databases/{segment(name)}"] = f"{charset} {collation}"
    parts: dict[tuple[str, str], list[object]] = {}
    kinds: dict[tuple[str, str], str] = {}
    for database, name, *rest in sql.query(
        "SELECT TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE, ENGINE, TABLE_COLLATION, CREATE_OPTIONS"  # noqa: S608 - constants
        f" FROM information_schema.TABLES WHERE TABLE_SCHEMA NOT IN ({system})"
    ):
        kinds[database, name] = {"VIEW": "view", "SEQUENCE": "sequence"}.get(rest[0], "table")
        parts[database, name] = list(rest)
    for view, columns, order in _TABLE_PARTS:
        statement = (
            f"SELECT TABLE_SCHEMA, TABLE_NAME, {columns} FROM information_schema.{view}"  # noqa: S608 - constants
            f" WHERE TABLE_SCHEMA NOT IN ({system}) ORDER BY TABLE_SCHEMA, TABLE_NAME, {order}"
        )
        for database, name, *rest in sql.query(statement):
            if (database, name) in parts:
                parts[database, name] += rest
    for (database, name), pieces in parts.items():
        facts[f"schema/{segment(database)}/{kinds[database, name]}/{segment(name)}"] = digest(*pieces)
    for kind, statement in _CODE.items():
        for database, name, *rest in sql.query(statement):
            facts[f"schema/{segment(database)}/{kind}/{segment(name)}"] = digest(*rest)


_TABLE_PARTS = (
    (
        "COLUMNS",
        "COLUMN_NAME, COLUMN_TYPE, IS_NULLABLE, COLUMN_DEFAULT, EXTRA, COLLATION_NAME, GENERATION_EXPRESSION",
        "ORDINAL_POSITION",
    ),
    ("STATISTICS", "INDEX_NAME, NON_UNIQUE, COLUMN_NAME, SUB_PART, INDEX_TYPE, IGNORED", "INDEX_NAME, SEQ_IN_INDEX"),
    ("TABLE_CONSTRAINTS", "CONSTRAINT_NAME, CONSTRAINT_TYPE", "CONSTRAINT_NAME"),
    ("VIEWS", "VIEW_DEFINITION, CHECK_OPTION, DEFINER, SECURITY_TYPE", "TABLE_NAME"),
)
"""What makes up a table: view of information_schema, its columns, their order. Counts of rows are in none of them."""

_CODE = {
    "trigger": "SELECT TRIGGER_SCHEMA, TRIGGER_NAME, EVENT_MANIPULATION, EVENT_OBJECT_TABLE, ACTION_TIMING,"
    " ACTION_STATEMENT, DEFINER FROM information_schema.TRIGGERS",
    "routine": "SELECT ROUTINE_SCHEMA, CONCAT(ROUTINE_TYPE, ' ', SPECIFIC_NAME), ROUTINE_DEFINITION, SECURITY_TYPE,"
    " DEFINER, SQL_DATA_ACCESS FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA <> 'sys'",
    "event": "SELECT EVENT_SCHEMA, EVENT_NAME, EVENT_DEFINITION, STATUS, INTERVAL_VALUE, INTERVAL_FIELD, DEFINER"
    " FROM information_schema.EVENTS",
}


def _server(sql: Sql, facts: Facts) -> None:
    for name, status in sql.query("SELECT PLUGIN_NAME, PLUGIN_STATUS FROM information_schema.PLUGINS"):
        facts[f"plugins/{segment(name)}"] = status
    for name, *rest in sql.query("SELECT name, ret, dl, type FROM mysql.func"):
        facts[f"server/functions/{segment(name)}"] = digest(*rest)
    for name, *rest in sql.query("SELECT Server_name, Host, Db, Username, Port, Wrapper, Owner FROM mysql.servers"):
        facts[f"server/servers/{segment(name)}"] = digest(*rest)


def _rows(sql: Sql, facts: Facts, database: str, rows: Rows) -> None:
    tables = [
        str(name)
        for (name,) in sql.query(
            "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = %s AND TABLE_TYPE = 'BASE TABLE'",
            (database,),
        )
    ]
    quiet = [name for name in tables if not rows.moves(name)]
    if quiet:
        listed = ", ".join(f"{quoted(database)}.{quoted(name)}" for name in quiet)
        for name, checksum in sql.query(f"CHECKSUM TABLE {listed}"):
            facts[f"rows/{segment(name)}"] = checksum
    for table, columns in rows.columns.items():
        if table in tables:
            _listed_rows(sql, facts, database, table, columns)


def _listed_rows(sql: Sql, facts: Facts, database: str, table: str, columns: Iterable[str]) -> None:
    # A column that someone dropped shows in the schema; it must not keep the picture from being taken.
    statement = "SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = %s AND TABLE_NAME = %s"
    there = {str(name) for (name,) in sql.query(statement, (database, table))}
    named = ", ".join(quoted(column) for column in columns if column in there)
    if not named:
        return
    base = f"rows/{segment(f'{database}.{table}')}"
    found = sql.query(f"SELECT {named} FROM {quoted(database)}.{quoted(table)} ORDER BY 1")  # noqa: S608 - quoted
    if len(found) > ROWS_MOST:
        facts[f"{base}/count"] = len(found)
        facts[f"{base}/all"] = digest(*(value for row in found for value in row))
        return
    for key, *rest in found:
        facts[f"{base}/{segment(key)}"] = digest(*rest)
