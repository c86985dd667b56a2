r"""What an account did in MariaDB, from its server_audit log.

A line of server_audit (https://mariadb.com/kb/en/mariadb-audit-plugin-log-format/) is
`time,server,user,host,connection,query,operation,database,'statement',code`; the time is the server's own, which is
UTC in its pod, in whole seconds; in the statement `\'`, `\\`, `\n`, `\r`, `\t`, `\b` and `\f` stand for those
characters. A line of the event TABLE is `time,server,user,host,connection,query,operation,database,table,`: the server
writes it when a statement takes the table, before the statement's own line, under the same number. Temporary tables
have none. docs/decisions/looks.md tells what was measured.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from incident_arena.formats.records import Action
from incident_arena.stores import audits
from incident_arena.stores.mariadb import statements
from incident_arena.stores.mariadb.statements import Effect, Statement

LOG_LIMIT = 262_144
"""`server_audit_query_log_limit`, in bytes: of a longer statement only the beginning is known. An argument of a program
has at most half of it."""
HELD_S = 2
"""Whole seconds between a statement's lines in which it may hold locks: as long as it was 1 to 3 s at most."""

_HEAD = re.compile(r"(\d{8} \d\d:\d\d:\d\d),[^,]*,([^,]*),[^,]*,(\d+),(\d+),([A-Z_]+),(.*)\Z", re.DOTALL)
_QUERY = re.compile(r"[^,]*,'(.*)',(\d+)\Z", re.DOTALL)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}

TABLE_CHANGES = frozenset({"WRITE", "CREATE", "ALTER", "RENAME", "DROP"})
"""Operations of the TABLE event. They are of the server's own knowledge, whatever the statement's text looks like."""
OWN_TABLES = "mysql"
"""The database of grants: a statement that changes them is named by itself, and what it changes is in the snapshots."""
TEMPORARY = statements.WRITES | {"TRUNCATE", "CREATE TEMPORARY", "DROP TEMPORARY", "DROP TABLE", "ALTER TABLE"}
"""Statements that on a real table always have a TABLE line of a change; without one it was a temporary table, which no
other session sees. Not RENAME TABLE: of a view it has none."""
NOT_BEGUN = "1064"
"""Code of a statement that the server could not even read."""
GREETING = "select @@version_comment limit 1"
"""What the command-line client asks when it connects."""


@dataclass
class _Taken:
    """The tables that a statement has taken, before its own line.

    Attributes:
        began: seconds since the epoch.
        changes: of the application's tables.
        changing: it changes any, the server's own included.
        reads: it reads tables of the application.
        around: another statement of the session ran meanwhile, so it called code.
    """

    began: float
    changes: list[Action] = field(default_factory=list)
    changing: bool = False
    reads: bool = False
    around: bool = False


@dataclass
class _Session:
    """What lines of one connection have told so far. What is in doubt is taken for what absolves less."""

    taken: dict[str, _Taken] = field(default_factory=dict)
    last: str = ""
    temporary: bool = False
    locked: bool = False
    """It has locked tables: then statements have no TABLE lines."""
    transaction: bool = False
    manual: bool = False
    """autocommit is off."""

    def follow(self, statement: Statement) -> None:
        """What the statements after a successful one have to be read by."""
        words = [word.strip("`") for word in statement.words]
        if not statement.certain:
            self.transaction = self.locked = True
        match words[:1]:
            case ["BEGIN"] | ["START"] | ["XA"]:
                self.transaction = True
            case ["COMMIT"] | ["ROLLBACK"] if statement.certain and words[1:] in ([], ["WORK"]):
                self.transaction = False
            case ["SET"] if "AUTOCOMMIT" in words:
                value = words[words.index("AUTOCOMMIT") + 1 :]
                self.manual = value not in (["=", "1"], ["=", "ON"], ["=", "TRUE"])
                self.transaction = self.transaction and self.manual
            case ["LOCK"] | ["FLUSH"]:
                self.locked = True
        self.temporary = self.temporary or statement.name == "CREATE TEMPORARY"


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
        found = self.parse((line for path in logs for line in audits.lines(path)), since)
        # The log has whole seconds: what was done in the first second of the time may be written before it.
        yield from audits.bounded(action for action in found if int(since) <= action.at <= until)

    def parse(self, lines: Iterator[str], since: float = 0) -> Iterator[Action]:
        """The account's acts, as lines tell them in order. A line that cannot be read is one, at `since`."""
        sessions: dict[str, _Session] = {}
        for line in lines:
            head = _HEAD.match(line)
            if head is None:
                if line:
                    yield audits.unreadable(self.source, self.actor, line, since)
                continue
            time, user, connection, number, operation, rest = head.groups()
            if user != self.actor:
                continue
            try:
                at = datetime.strptime(time, "%Y%m%d %H:%M:%S").replace(tzinfo=UTC).timestamp()
            except ValueError:
                yield audits.unreadable(self.source, self.actor, line, since)
                continue
            session = sessions.setdefault(connection, _Session())
            if operation == "QUERY":
                yield from self._query(session, number, at, rest)
            elif operation in TABLE_CHANGES or operation == "READ":
                self._table(session.taken.setdefault(number, _Taken(at)), at, operation, rest)
        for session in sessions.values():  # of a statement that never ended there are only these
            for taken in session.taken.values():
                yield from taken.changes

    def _table(self, taken: _Taken, at: float, operation: str, rest: str) -> None:
        database, table = [*rest.split(","), ""][:2]
        changes, own = operation != "READ", database == OWN_TABLES
        taken.changing = taken.changing or changes
        taken.reads = taken.reads or not (changes or own)
        if changes and not own:
            taken.changes.append(self._act(at, "change", f"TABLE {operation}", f"{database}.{table}"))

    def _query(self, session: _Session, number: str, at: float, rest: str) -> Iterator[Action]:
        taken = session.taken.pop(number, None) or _Taken(at)
        repeated, session.last = session.last == number, number
        for other in session.taken.values():
            other.around = True
        query = _QUERY.match(rest)
        if query is None or len(query[1].encode()) >= LOG_LIMIT - 2:
            yield from taken.changes
            yield audits.unreadable(self.source, self.actor, rest, at)
            return
        text = _ESCAPE.sub(lambda escape: _ESCAPED.get(escape[1], escape[1]), query[1])
        statement, ok = statements.read(text), query[2] == "0"
        name, effect = statement.name, _effect(session, statement, taken, at - taken.began)
        if name == "EXECUTE" and statement.certain and repeated and "GET_LOCK" not in statement.words:
            effect = Effect.ARRANGES  # what it ran has the line before this one
        if not (_explained(statement) and not taken.around):
            yield from taken.changes
        if effect == Effect.HOLDS:
            name = "GET_LOCK" if name == "GET_LOCK" else "LOCK ROWS"
            ok = ok or query[2] != NOT_BEGUN  # locks are kept when the statement fails
        if ok:
            session.follow(statement)
        if effect > Effect.ARRANGES and text != GREETING:
            yield self._act(at, "change" if effect > Effect.LOOKS else "read", name, " ".join(text.split()), ok=ok)

    def _act(self, at: float, kind: Literal["read", "change"], what: str, detail: str, *, ok: bool = True) -> Action:
        short = detail[: audits.DETAIL_MOST]
        return Action(at=at, source=self.source, actor=self.actor, kind=kind, what=what, detail=short, ok=ok)


def _explained(statement: Statement) -> bool:
    """It only asks how something would be done, in whatever way it is read."""
    return statement.certain and statement.name in statements.EXPLAINS and statement.effect == Effect.LOOKS


def _effect(session: _Session, statement: Statement, taken: _Taken, seconds: float) -> Effect:
    """What a statement did, by its text and by the tables that it took."""
    name, effect = statement.name, statement.effect
    held = session.transaction or session.manual or seconds > HELD_S
    if effect < Effect.HOLDS and held:
        locking = taken.changing or statement.locks if name in statements.EXPLAINS else taken.reads
        if locking and (name in statements.EXPLAINS or name not in statements.UNLOCKED):
            return Effect.HOLDS
    private = name == "CREATE TEMPORARY" or (name in TEMPORARY and session.temporary)
    if private and effect == Effect.CHANGES and statement.certain and not taken.changing and not session.locked:
        return _temporary(statement, held=held and taken.reads)
    return effect


def _temporary(statement: Statement, *, held: bool) -> Effect:
    """Of a statement that changed only temporary tables, or what has no TABLE lines."""
    if statement.name in {"CREATE TEMPORARY", "DROP TEMPORARY"} and statement.words[2:3] != ("TABLE",):
        return Effect.CHANGES
    if statement.name == "ALTER TABLE" and "RENAME" in statement.words:
        return Effect.CHANGES
    return Effect.HOLDS if held or statement.locks or "GET_LOCK" in statement.words else Effect.LOOKS


def _rotation(path: Path) -> int:
    suffix = path.name.rpartition(".")[2]
    return int(suffix) if suffix.isdecimal() else 0
