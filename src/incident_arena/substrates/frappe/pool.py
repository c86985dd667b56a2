"""The load's own records: what it made, what it believes of them, and which of them an operation is using."""

from collections import deque
from collections.abc import Collection, Iterable

from incident_arena.formats.records import LedgerLine
from incident_arena.ledger.reading import DELETED, operations


class Pool:
    """Records that the load has made and may change and delete, by name, oldest first.

    `None` as a value: not known, since an update may or may not have taken effect. A record whose deletion was tried
    without success is a suspect: it is used again only when there is nothing else to delete.
    """

    def __init__(self) -> None:
        """Begin with nothing."""
        self._values: dict[str, str | None] = {}
        self._updated: set[str] = set()
        self._suspects: deque[str] = deque()
        self._busy: set[str] = set()

    def __len__(self) -> int:
        """How many records may be changed."""
        return len(self._values)

    def add(self, name: str, value: str) -> None:
        """A record was made."""
        self._values[name] = value

    def to_update(self) -> str | None:
        """Take the newest record that has not been changed, else the one changed longest ago; None: there is none."""
        free = [name for name in self._values if name not in self._busy]
        return self._take(next((name for name in reversed(free) if name not in self._updated), next(iter(free), None)))

    def to_delete(self) -> str | None:
        """Take the oldest record that has been changed, else the oldest, else a suspect; None: there is none."""
        free = [name for name in self._values if name not in self._busy]
        chosen = next((name for name in free if name in self._updated), next(iter(free), None))
        if chosen is None:
            chosen = next((name for name in self._suspects if name not in self._busy), None)
        return self._take(chosen)

    def to_read(self, turn: int) -> tuple[str, str] | None:
        """Take a record whose value is known, and that value; None: there is none."""
        known = [(name, value) for name, value in self._values.items() if value is not None and name not in self._busy]
        if not known:
            return None
        name, value = known[turn % len(known)]
        self._busy.add(name)
        return name, value

    def is_suspect(self, name: str) -> bool:
        """Whether its deletion was tried before: it may be gone already."""
        return name in self._suspects

    def free(self, name: str) -> None:
        """The operation that took it has ended."""
        self._busy.discard(name)

    def updated(self, name: str, value: str | None) -> None:
        """An update has ended; it goes to the end of the line. None: whether it took effect is not known."""
        if name in self._values:
            del self._values[name]
            self._values[name] = value
            self._updated.add(name)

    def deleted(self, name: str) -> None:
        """It is gone."""
        self._values.pop(name, None)
        self._updated.discard(name)
        if name in self._suspects:
            self._suspects.remove(name)

    def suspected(self, name: str) -> None:
        """Its deletion has ended, and it may be gone or not."""
        self.deleted(name)
        self._suspects.append(name)

    def replay(self, lines: Iterable[LedgerLine], doctype: str, kinds: Collection[str]) -> None:
        """Take in what operations of these kinds did in an earlier process."""
        prefix = f"{doctype}/"
        for operation in operations(lines).values():
            if operation.kind not in kinds or operation.intent is None or operation.result in ("shed", "failed"):
                continue
            sure, effect = operation.result == "ok", operation.intent.effect
            for name in (record.removeprefix(prefix) for record in operation.records if record.startswith(prefix)):
                if effect == DELETED and sure:
                    self.deleted(name)
                elif effect == DELETED:
                    self.suspected(name)
                else:
                    new = name not in self._values
                    self._values[name] = effect if sure else None
                    if not new:
                        self._updated.add(name)

    def _take(self, name: str | None) -> str | None:
        if name is not None:
            self._busy.add(name)
        return name
