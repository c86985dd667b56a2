r"""The action log: what the agent did, from MariaDB's server_audit log and the admin interface's own audit.

A line of server_audit (https://mariadb.com/kb/en/mariadb-audit-plugin-log-format/) is
`time,server,user,host,connection,query,operation,database,'statement',code`; the time is the server's own, which is
UTC in its pod, in whole seconds; in the statement `\'`, `\\`, `\n`, `\r` and `\t` stand for those characters.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from incident_arena.records import Action

AGENT = "operator"
"""The one MariaDB account that the agent has."""
DETAIL_MOST = 500

_LINE = re.compile(r"(\d{8} \d\d:\d\d:\d\d),[^,]*,([^,]*),[^,]*,\d+,\d+,QUERY,([^,]*),'(.*)',(\d+)\Z", re.DOTALL)
_BEGINNING = re.compile(r"\d{8} \d\d:\d\d:\d\d,")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t"}
_OPAQUE = re.compile(
    r"(?P<string>'(?:[^'\\]|\\.|'')*'|\"(?:[^\"\\]|\\.|\"\")*\"|`[^`]*`)"
    r"|/\*(?!M?!).*?\*/|--(?=\s|\Z)[^\n]*|#[^\n]*|/\*M?!\d*|\*/",
    re.DOTALL,
)
"""Strings and comments, whichever begins first. Of `/*! … */` only the frame: the server runs what is inside."""

LOOKS = frozenset(
    {"SELECT", "SHOW", "DESCRIBE", "DESC", "EXPLAIN", "HELP", "VALUES", "TABLE", "WITH", "CHECK", "CHECKSUM"}
)
"""First words of statements that only look; exceptions are in `_one`."""
HOUSEKEEPING = frozenset({"SET", "USE", "BEGIN", "START", "COMMIT", "ROLLBACK", ""})
"""First words of statements that only arrange the session. Clients send them by themselves; they are left out."""
NAMED_BY_TWO = frozenset(
    {"CREATE", "DROP", "ALTER", "FLUSH", "LOCK", "UNLOCK", "LOAD", "OPTIMIZE", "REPAIR", "TRUNCATE", "RENAME"}
)
GREETING = "select @@version_comment limit 1"
"""What the command-line client asks when it connects."""


def of_mariadb(folder: Path, since: float, until: float) -> Iterator[Action]:
    """The agent's statements between two moments, from the log and its rotations, oldest first."""
    for path in sorted(folder.glob("server_audit.log*"), key=_rotation, reverse=True):
        for line in _records(path.read_text(errors="replace").splitlines()):
            action = parse(line)
            # The log has whole seconds: what was done in the first second of the time may be written before it.
            if action is not None and int(since) <= action.at <= until:
                yield action


def of_admin(folder: Path, since: float, until: float) -> Iterator[Action]:
    """The admin interface's audit between two moments; a last line that is still being written is left out."""
    path = folder / "actions.jsonl"
    if path.is_file():
        for line in path.read_text().splitlines(keepends=True):
            if line.endswith("\n"):
                action = Action.model_validate_json(line)
                if since <= action.at <= until:
                    yield action


def parse(line: str) -> Action | None:
    """One line of server_audit; None when it is no act of the agent's."""
    match = _LINE.match(line)
    if match is None or match[2] != AGENT:
        return None
    statement = _ESCAPE.sub(lambda escape: _ESCAPED.get(escape[1], escape[1]), match[4])
    what, changes = classify(statement)
    if statement == GREETING or (not changes and what in HOUSEKEEPING):
        return None
    return Action(
        at=datetime.strptime(match[1], "%Y%m%d %H:%M:%S").replace(tzinfo=UTC).timestamp(),
        source="mariadb",
        actor=AGENT,
        kind="change" if changes else "read",
        what=what,
        detail=" ".join(statement.split())[:DETAIL_MOST],
        ok=match[5] == "0",
    )


def classify(statement: str) -> tuple[str, bool]:
    """A statement's short name (`GRANT`, `SET GLOBAL`), and whether it may change what others see.

    Of several in one text: the first that changes, else the first. When in doubt it changes: EXECUTE, CALL and DO run
    what cannot be seen here.
    """
    bare = _OPAQUE.sub(lambda found: "''" if found["string"] else " ", statement)
    each = [_one(re.findall(r"[A-Z_]+|@@|\S", part.upper().lstrip(" \t\r\n("))) for part in bare.split(";")]
    named = [(what, changes) for what, changes in each if what]
    return next((one for one in named if one[1]), named[0] if named else ("", False))


def _one(words: list[str]) -> tuple[str, bool]:
    first, second, rest = words[:1], words[1:2], set(words[1:])
    name = " ".join(first)
    if name == "SET":
        return _set(words)
    if name in NAMED_BY_TWO:
        return " ".join(first + second), True
    if "ANALYZE" in words[:2]:  # runs what it explains; ANALYZE TABLE renews statistics
        return "ANALYZE", bool({"INSERT", "UPDATE", "DELETE", "REPLACE"} & rest) or second == ["TABLE"]
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


def _records(lines: Iterable[str]) -> Iterator[str]:
    """Join lines of a statement that the log wrote with its line breaks."""
    pending = ""
    for line in lines:
        if _BEGINNING.match(line) and pending:
            yield pending
            pending = line
        else:
            pending = f"{pending}\n{line}" if pending else line
    if pending:
        yield pending


def _rotation(path: Path) -> int:
    suffix = path.name.rpartition(".")[2]
    return int(suffix) if suffix.isdecimal() else 0
