"""Tally as the arena sees it."""

from collections.abc import Collection, Mapping
from typing import Any, ClassVar

from incident_arena.substrates.tally.operations import KINDS, Tally

from incident_arena.application import Substrate
from incident_arena.errors import InfrastructureError
from incident_arena.formats.records import RecordState
from incident_arena.formats.task import Invariant, LoadSpec
from incident_arena.stores.base import Stores
from incident_arena.stores.redis.store import RedisStore
from incident_arena.workload.operations import Operations

STORE = "notes-store"
PREFIX = "note/"


class TallySubstrate(Substrate):
    """Notes, each a hash in Redis."""

    kinds: ClassVar[tuple[str, ...]] = KINDS
    invariants: ClassVar[tuple[Invariant, ...]] = (Invariant(name="a note stays as it was", rule="once", of=PREFIX),)
    moves: ClassVar[Mapping[str, Any]] = {STORE: ("note:",)}

    def operations(self, spec: LoadSpec, target: str, environment: Mapping[str, str]) -> Operations:
        """The application has no accounts."""
        del environment
        return Tally(spec, target)

    def look_up(self, stores: Stores, names: Collection[str]) -> dict[str, RecordState]:
        """`note/<id>` is the field `text` of the hash `note:<id>`."""
        store = stores[STORE]
        assert isinstance(store, RedisStore)
        found: dict[str, RecordState] = {}
        for name in sorted(names):
            if not name.startswith(PREFIX):
                raise InfrastructureError(f"record {name!r}", "is of an unknown kind", f"known is {PREFIX}")
            text = store.redis.command("HGET", f"note:{name.removeprefix(PREFIX)}", "text")
            found[name] = RecordState(exists=text is not None, value=None if text is None else str(text))
        return found


SUBSTRATE = TallySubstrate()
