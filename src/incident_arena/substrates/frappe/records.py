"""What became of the records and jobs that the ledger names, as the stores say.

SOURCES   where each kind of record of the frappe substrate is found: `Doctype/name` by its table, and `job/…` by
          what the background job leaves: a deletion's job removes the record's versions, a mention's job makes
          a notification that ends with the mention's mark
"""

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import batched
from pathlib import Path
from typing import Any

import pymysql
import redis
from pymysql.cursors import Cursor

from incident_arena.errors import InfrastructureError
from incident_arena.formats.records import LedgerLine, Reconciled, RecordState
from incident_arena.ledger import reading as ledgers
from incident_arena.ledger import seeds

BATCH = 1000
"""Names in one query."""
MARGIN = 0.25
"""Seconds by which the moment of the look is set back: a line is written just after the moment that it names."""
QUEUES = "rq:queues"
QUEUE_PREFIX = "rq:queue:"


@dataclass(frozen=True)
class Source:
    """A query for the names that exist and the value that the load writes; `{names}` takes the names asked for."""

    prefix: str
    query: str


SOURCES = (
    Source("ToDo/", "SELECT name, description FROM `tabToDo` WHERE name IN {names}"),
    Source("Note/", "SELECT name, title FROM `tabNote` WHERE name IN {names}"),
    Source("Comment/", "SELECT name, NULL FROM `tabComment` WHERE name IN {names}"),
    Source(
        "job/Version/",
        "SELECT DISTINCT docname, NULL FROM `tabVersion` WHERE ref_doctype = 'ToDo' AND docname IN {names}",
    ),
    Source(
        "job/Notification Log/",
        "SELECT DISTINCT SUBSTRING_INDEX(SUBSTRING_INDEX(email_content, '</div>', 1), ' ', -1) AS mark, NULL"
        " FROM `tabNotification Log` HAVING mark IN {names}",
    ),
)


def reconcile(ledger: Path, mysql: "pymysql.Connection[Cursor]", redis_queue: "redis.Redis") -> Reconciled:
    """Look up every record that the ledger or the list of seeds beside it names, and count the jobs.

    Args:
        ledger: the ledger's file.
        mysql: connected to the application's database, with the right to read all of it.
        redis_queue: with the right to read all keys.

    Raises:
        LedgerError: the ledger or its seeds can't be read.
        InfrastructureError: a store does not answer, or the ledger names a kind of record without a source.
    """
    taken = time.time() - MARGIN
    lines = ledgers.read(ledger)
    seeded = seeds.load(ledger.parent).records
    try:
        found = look_up(mysql, {*names_of(lines), *seeded})
        queue = jobs(redis_queue)
    except pymysql.MySQLError as error:
        raise InfrastructureError("reconciliation", f"MariaDB: {error}") from error
    except redis.RedisError as error:
        raise InfrastructureError("reconciliation", f"the queue's Redis: {error}") from error
    deleted = {name for name, its in ledgers.touches(lines, taken).items() if any(t.effect == "deleted" for t in its)}
    missing = tuple(name for name in seeded if not found[name].exists and name not in deleted)
    return Reconciled(taken=taken, records=found, queue=queue, seeds_missing=missing)


def names_of(lines: Iterable[LedgerLine]) -> set[str]:
    """All records that a ledger names."""
    return {name for line in lines for name in line.records}


def look_up(mysql: "pymysql.Connection[Cursor]", names: Iterable[str]) -> dict[str, RecordState]:
    """The state of each of these records, in the order of names."""
    asked: dict[Source, list[str]] = defaultdict(list)
    for name in sorted(names):
        source = next((source for source in SOURCES if name.startswith(source.prefix)), None)
        if source is None:
            kinds = ", ".join(source.prefix for source in SOURCES)
            raise InfrastructureError(f"record {name!r}", "is of an unknown kind", f"known are {kinds}")
        asked[source].append(name)
    # Else an earlier transaction's view of the data would be looked at.
    mysql.rollback()
    states = {name: RecordState(exists=False) for its in asked.values() for name in its}
    with mysql.cursor() as cursor:
        for source, its in asked.items():
            for batch in batched(its, BATCH):
                short = [name.removeprefix(source.prefix) for name in batch]
                cursor.execute(source.query.format(names="%(names)s"), {"names": short})
                for name, value in cursor.fetchall():
                    states[f"{source.prefix}{name}"] = RecordState(
                        exists=True, value=None if value is None else str(value)
                    )
    mysql.rollback()
    return states


def jobs(redis_queue: "redis.Redis") -> dict[str, dict[str, int]]:
    """Jobs by state in each queue of RQ, by the queue's last name (`default`).

    `queued`: waiting; `intermediate`: taken by a worker which has not begun; the others are RQ's registries.
    """
    found: dict[str, dict[str, int]] = {}
    for raw in sorted(_members(redis_queue)):
        queue = raw.removeprefix(QUEUE_PREFIX)
        pipe = redis_queue.pipeline(transaction=False)
        pipe.llen(raw)
        pipe.llen(f"{raw}:intermediate")
        registries = {"started": "wip", "failed": "failed", "finished": "finished", "deferred": "deferred"}
        registries["scheduled"] = "scheduled"
        for registry in registries.values():
            pipe.zcard(f"rq:{registry}:{queue}")
        counts = pipe.execute()
        found[queue.rpartition(":")[2]] = dict(zip(("queued", "intermediate", *registries), counts, strict=True))
    return found


def backlog(queue: Mapping[str, Mapping[str, int]]) -> int:
    """Jobs of all queues that are waiting or under way."""
    return sum(states.get(state, 0) for states in queue.values() for state in ("queued", "intermediate", "started"))


def _members(redis_queue: "redis.Redis") -> set[str]:
    members: Any = redis_queue.smembers(QUEUES)
    return {member.decode() if isinstance(member, bytes) else str(member) for member in members}
