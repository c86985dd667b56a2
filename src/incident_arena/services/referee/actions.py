"""The action log: what the agent did, from the stores' own audits and from the admin interface's."""

from collections.abc import Iterator
from pathlib import Path

from incident_arena.formats.records import Action
from incident_arena.stores import audits
from incident_arena.stores.base import Stores

OPERATOR = "operator"
"""The one account that the agent has in every store."""
ADMIN = "admin"
AGENT = "agent"
"""Who calls the admin interface, as its audit names it."""


def gather(stores: Stores, admin: Path, since: float, until: float) -> list[Action]:
    """All that was done between two moments, in order of time; `admin` is the admin interface's audit folder."""
    found = [action for store in stores.values() for action in store.acts(OPERATOR, since, until)]
    return sorted([*found, *of_admin(admin, since, until)], key=lambda each: each.at)


def sizes(stores: Stores, admin: Path) -> dict[Path, int]:
    """Bytes of each audit file: while they are the same, `gather` finds nothing new."""
    folders = [store.spec.folders["audit"] for store in stores.values() if "audit" in store.spec.folders]
    found = (path for folder in (*folders, admin) for path in folder.glob("*") if path.is_file())
    return {path: path.stat().st_size for path in found}


def of_admin(folder: Path, since: float, until: float) -> Iterator[Action]:
    """The admin interface's audit between two moments; a last line that is still being written is left out."""
    path = folder / "actions.jsonl"
    if path.is_file() and path.stat().st_size > audits.LARGEST:
        yield audits.flooded(ADMIN, AGENT, since)
    elif path.is_file():
        found = (_of_line(line, since) for line in audits.lines(path, whole=True))
        yield from audits.bounded(action for action in found if since <= action.at <= until)


def _of_line(line: str, since: float) -> Action:
    try:
        return Action.model_validate_json(line)
    except ValueError:
        return audits.unreadable(ADMIN, AGENT, line, since)
