r"""What an account did in MariaDB, from its server_audit log.

A line of server_audit (https://mariadb.com/kb/en/mariadb-audit-plugin-log-format/) is
`time,server,user,host,connection,query,operation,database,'statement',code`; the time is the server's own, which is
UTC in its pod, in whole seconds; in the statement `\'`, `\\`, `\n`, `\r`, `\t`, `\b` and `\f` stand for those
characters. A line of the event TABLE is `time,server,user,host,connection,query,operation,database,table,`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from incident_arena.formats.records import UNREADABLE, Action
from incident_arena.stores import audits

LOG_LIMIT = 8192
"""`server_audit_query_log_limit`: of a longer statement only the beginning is known."""

_HEAD = re.compile(r"(\d{8} \d\d:\d\d:\d\d),[^,]*,([^,]*),[^,]*,\d+,\d+,([A-Z_]+),(.*)\Z", re.DOTALL)
_QUERY = re.compile(r"[^,]*,'(.*)',(\d+)\Z", re.DOTALL)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
_OPAQUE = re.compile(
    r"(?P<string>'(?:[^'\\]|\\.?|'')*(?:'|\Z)|\"(?:[^\"\\]|\\.?|\"\")*(?:\"|\Z)|`[^`]*(?:`|\Z))"
    r"|/\*(?!M?!).*?(?:\*/|(?P<open>\Z))|--(?=[\x00-\x20\x7f]|\Z)[^\n]*|#[^\n]*"
    r"|(?P<versioned>/\*M?!\d*)|(?P<end>\*/)",
    re.DOTALL,
)
"""Strings and comments, whichever begins first; of `/*!50000 … */` only the frame. What is open runs to the end, so
that no text takes longer than its length."""
_VERSIONED = re.compile(r"\x01.*?\x02", re.DOTALL)
_NAME = re.compile(r"[A-Z@]+(_[A-Z]+)*( [A-Z_@]+)?\Z")

TABLE_CHANGES = frozenset({"WRITE", "CREATE", "ALTER", "RENAME", "DROP"})
"""Operations of the TABLE event. They are of the server's own knowledge, whatever the statement's text looks like."""
OWN_TABLES = "mysql"
"""The database of grants: a statement that changes them is named by itself, and what it changes is in the snapshots."""
LOOKS = frozenset(
    {"SELECT", "SHOW", "DESCRIBE", "DESC", "EXPLAIN", "HELP", "VALUES", "TABLE", "WITH", "CHECK", "CHECKSUM"}
)
"""First words of statements that only look; exceptions are in `_one`."""
HOUSEKEEPING = frozenset(
    {"SET", "USE", "BEGIN", "START", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE", "DEALLOCATE", ""}
)
"""First words of statements that only arrange the session. Clients send them by themselves; they are left out."""
NAMED_BY_TWO = frozenset(
    {"CREATE", "DROP", "ALTER", "FLUSH", "LOCK", "UNLOCK", "LOAD", "OPTIMIZE", "REPAIR", "TRUNCATE", "RENAME"}
)
GREETING = "select @@version_comment limit 1"
"""What the command-line client asks when it connects."""


@dataclass(frozen=True)
class Audit:
    """Reads one server's log for the acts of one account; `source` is the store's name."""

    source: str
    actor: str

    def acts(self, folder: Path, since: float, until: float) -> Iterator[Action]:
        """The account's statements between two moments, from the log and its rotations, oldest first."""
        logs = sorted(folder.glob("server_audit.log*"), key=_rotation, reverse=True)
        if sum(path.stat().st_size for path in logs) > audits.LARGEST:
            yield audits.flooded(self.source, self.actor, since)
            return
        found = (self.parse(line, since) for path in logs for line in audits.lines(path))
        # The log has whole seconds: what was done in the first second of the time may be written before it.
        yield from audits.bounded(action for action in found if action and int(since) <= action.at <= until)

    def parse(self, line: str, since: float = 0) -> Action | None:
        """One line; None when it is no act of the account's. One that cannot be read is one, at `since`."""
        head = _HEAD.match(line)
        if head is None:
            return self._unreadable(line, since) if line else None
        time, user, operation, rest = head.groups()
        if user != self.actor:
            return None
        try:
            at = datetime.strptime(time, "%Y%m%d %H:%M:%S").replace(tzinfo=UTC).timestamp()
        except ValueError:
            return self._unreadable(line, since)
        if operation == "QUERY":
            return self._query(at, rest)
        return self._table(at, operation, rest) if operation in TABLE_CHANGES else None

    def _unreadable(self, line: str, at: float) -> Action:
        return audits.unreadable(self.source, self.actor, line, at)

    def _table(self, at: float, operation: str, rest: str) -> Action | None:
        database, table = [*rest.split(","), ""][:2]
        if database == OWN_TABLES:
            return None
        detail = f"{database}.{table}"[: audits.DETAIL_MOST]
        what = f"TABLE {operation}"
        return Action(at=at, source=self.source, actor=self.actor, kind="change", what=what, detail=detail)

    def _query(self, at: float, rest: str) -> Action | None:
        query = _QUERY.match(rest)
        if query is None or len(query[1].encode()) >= LOG_LIMIT - 1:
            return self._unreadable(rest, at)
        statement = _ESCAPE.sub(lambda escape: _ESCAPED.get(escape[1], escape[1]), query[1])
        what, changes = classify(statement)
        if statement == GREETING or (not changes and what in HOUSEKEEPING):
            return None
        return Action(
            at=at,
            source=self.source,
            actor=self.actor,
            kind="change" if changes else "read",
            what=what,
            detail=" ".join(statement.split())[: audits.DETAIL_MOST],
            ok=query[2] == "0",
        )


def classify(statement: str) -> tuple[str, bool]:
    """A statement's short name (`GRANT`, `SET GLOBAL`), and whether it may change what others see.

    Of several in one text: the first that changes, else the first. When in doubt it changes: EXECUTE, CALL and DO run
    what cannot be seen here, and whether the server reads what is inside `/*!50000 … */` depends on its version.
    """
    framed = _OPAQUE.sub(_stand_in, statement)
    if "/*" in framed:
        return UNREADABLE, True
    readings = [_name(reading) for reading in (framed.translate({1: " ", 2: " "}), _VERSIONED.sub(" ", framed))]
    return next((one for one in readings if one[1]), readings[0])


def _stand_in(found: re.Match[str]) -> str:
    if found["string"]:
        return "''"
    if found["open"] is not None:
        return "/*"
    return "\x01" if found["versioned"] else "\x02" if found["end"] else " "


def _name(bare: str) -> tuple[str, bool]:
    each = [_one(re.findall(r"[A-Z_]+|@@|\S", part.upper().lstrip(" \t\r\n\f\v("))) for part in bare.split(";")]
    named = [(what, changes) if _NAME.match(what) else (UNREADABLE, True) for what, changes in each if what]
    return next((one for one in named if one[1]), named[0] if named else ("", False))


def _one(words: list[str]) -> tuple[str, bool]:
    first, second, rest = words[:1], words[1:2], set(words[1:])
    name = " ".join(first)
    if name == "SET":
        return _set(words)
    if name in NAMED_BY_TWO:
        return " ".join(first + second), True
    if "ANALYZE" in words[:2]:  # runs what it explains; ANALYZE TABLE renews statistics
        table = second == ["TABLE"]
        return "ANALYZE TABLE" if table else "ANALYZE", table or bool({"INSERT", "UPDATE", "DELETE", "REPLACE"} & rest)
    if name == "BEGIN":
        return name, second == ["NOT"]  # BEGIN NOT ATOMIC is a block of code
    if name in LOOKS:
        return name, bool({"OUTFILE", "DUMPFILE"} & rest)
    return name, name not in HOUSEKEEPING


def _set(words: list[str]) -> tuple[str, bool]:
    """SET changes what others see when it is about global variables, passwords, default roles, or runs a statement."""
    if "GLOBAL" in words:
        return "SET GLOBAL", True
    if words[1:2] in (["PASSWORD"], ["DEFAULT"], ["STATEMENT"]):
        return f"SET {words[1]}", True
    return "SET", False


def _rotation(path: Path) -> int:
    suffix = path.name.rpartition(".")[2]
    return int(suffix) if suffix.isdecimal() else 0
