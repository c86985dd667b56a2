"""Where the records that the load's ledger names are found in the database.

`Doctype/name` by its table, and `job/…` by what the background job leaves: a deletion's job removes the record's
versions, a mention's job makes a notification that ends with the mention's mark.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import batched

from incident_arena.errors import InfrastructureError
from incident_arena.formats.records import RecordState
from incident_arena.stores.mariadb.client import Sql, quoted

BATCH = 1000
"""Names in one query."""


@dataclass(frozen=True)
class Source:
    """A query for the names that exist and the value that the load writes; `{database}` and `{names}` are filled in."""

    prefix: str
    query: str


SOURCES = (
    Source("ToDo/", "SELECT name, description FROM {database}.`tabToDo` WHERE name IN {names}"),
    Source("Note/", "SELECT name, title FROM {database}.`tabNote` WHERE name IN {names}"),
    Source("Comment/", "SELECT name, NULL FROM {database}.`tabComment` WHERE name IN {names}"),
    Source(
        "job/Version/",
        "SELECT DISTINCT docname, NULL FROM {database}.`tabVersion` WHERE ref_doctype = 'ToDo' AND docname IN {names}",
    ),
    Source(
        "job/Notification Log/",
        "SELECT DISTINCT SUBSTRING_INDEX(SUBSTRING_INDEX(email_content, '</div>', 1), ' ', -1) AS mark, NULL"
        " FROM {database}.`tabNotification Log` HAVING mark IN {names}",
    ),
)


def look_up(sql: Sql, database: str, names: Iterable[str]) -> dict[str, RecordState]:
    """The state of each of these records, in the order of names.

    Raises:
        StoreError: the database does not answer.
        InfrastructureError: a name is of a kind without a source.
    """
    asked: dict[Source, list[str]] = defaultdict(list)
    for name in sorted(names):
        source = next((source for source in SOURCES if name.startswith(source.prefix)), None)
        if source is None:
            kinds = ", ".join(source.prefix for source in SOURCES)
            raise InfrastructureError(f"record {name!r}", "is of an unknown kind", f"known are {kinds}")
        asked[source].append(name)
    states = {name: RecordState(exists=False) for its in asked.values() for name in its}
    for source, its in asked.items():
        for batch in batched(its, BATCH):
            short = tuple(name.removeprefix(source.prefix) for name in batch)
            listed = f"({', '.join(['%s'] * len(short))})"
            for name, value in sql.query(source.query.format(database=quoted(database), names=listed), short):
                states[f"{source.prefix}{name}"] = RecordState(exists=True, value=None if value is None else str(value))
    return states
