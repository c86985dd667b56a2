"""What the arena needs of a data store. Each folder of `stores` is one technology, by the name of its kind.

    store.py    STORE: the Store of this kind
    faults/     what can be broken in it, one file a fault (fault.Fault); may be missing
    admin.py    routes(stores): verbs of the admin interface on all stores of this kind; may be missing

The chart of an application hands one list of stores (StoreSpec) to the referee and to the admin interface.
"""

import hashlib
from abc import ABC
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from incident_arena.errors import InfrastructureError, UserError
from incident_arena.formats.records import Action, Facts
from incident_arena.mistakes import mistakes


class StoreError(InfrastructureError):
    """A data store refused a request or cannot be reached. `code` is the server's own error number or word."""

    def __init__(self, thing: str, reason: str, code: str = "") -> None:
        self.code = code
        super().__init__(thing, reason)


class StoreSpec(BaseModel):
    """One store of an application, as its chart tells the pods."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    """The component's."""
    kind: str
    """The technology: a folder of `stores`."""
    host: str
    port: int = Field(ge=1, le=65535)
    account: str = ""
    """The application's own account in it."""
    options: dict[str, str] = Field(default_factory=dict)
    """What only this kind reads, such as the application's database."""
    folders: dict[str, Path] = Field(default_factory=dict)
    """Where its files are in this pod, by what they are: `config`, `data`, `audit`."""

    def folder(self, aspect: str) -> Path:
        """Where its files of one aspect are.

        Raises:
            UserError: the chart mounts none.
        """
        if aspect not in self.folders:
            remedy = f"give store {self.name!r} a mount {aspect!r} in the chart's values"
            raise UserError(f"store {self.name!r}", f"has no folder {aspect!r} in this pod", remedy)
        return self.folders[aspect]


def read_specs(text: str) -> tuple[StoreSpec, ...]:
    """The stores of a pod's variable STORES.

    Raises:
        UserError: it is no such list; all that is wrong at once.
    """
    try:
        return TypeAdapter(tuple[StoreSpec, ...]).validate_json(text)
    except ValidationError as error:
        raise UserError("STORES", "; ".join(mistakes(error, "list")), "mend `stores` in the chart's values") from error


def only_one(stores: Sequence[StoreSpec]) -> StoreSpec:
    """The one store of a kind whose verbs name none.

    Raises:
        UserError: there are several.
    """
    if len(stores) != 1:
        names = ", ".join(store.name for store in stores)
        remedy = "give the admin interface one of them, or its verbs a placeholder for the store"
        raise UserError(f"stores {names}", f"the verbs of kind {stores[0].kind!r} are for one store", remedy)
    return stores[0]


@dataclass(frozen=True)
class Account:
    """Who a program of the harness is, in every store."""

    user: str
    password: str


class Store(ABC):
    """Connections of one account to one store; they open when they are first used. For one thread at a time."""

    kind: ClassVar[str]

    def __init__(self, spec: StoreSpec, account: Account, timeout_s: float = 5.0) -> None:
        """Nothing is opened yet."""
        self.spec = spec
        self.account = account
        self.timeout_s = timeout_s

    @property
    def name(self) -> str:
        """The component's."""
        return self.spec.name

    def picture(self, moves: Any) -> Facts | None:
        """The meaning of its live and saved state, as flat facts; None for a kind that has no state of its own.

        Args:
            moves: what the application changes in it by itself, as the kind wants that told; None: nothing is told.

        Raises:
            StoreError: it cannot be read.
        """
        del moves
        return None

    grows: ClassVar[bool] = False
    """Whether it has `grow`."""

    def grow(self, megabytes: int) -> None:
        """Take in so much more for a moment, of which nothing is left.

        Raises:
            StoreError: it does not take it.
            NotImplementedError: not of this kind: see `grows`.
        """
        raise NotImplementedError(f"{self.kind} has no way to grow by {megabytes} MB")

    def end_sessions(self, account: str) -> int:  # noqa: ARG002 - a kind without sessions
        """End every session of an account.

        Returns:
            How many there were, where that can be known.

        Raises:
            StoreError: it cannot be reached.
        """
        return 0

    def connections(self) -> int | None:
        """How many connections are open in it, whoever's they are; None for a kind that counts none of its own.

        Raises:
            StoreError: it cannot be asked.
        """
        return None

    def acts(self, actor: str, since: float, until: float) -> Iterator[Action]:  # noqa: ARG002 - one without an audit
        """What an account did in it between two moments, by the store's own audit: files in its folder `audit`."""
        return iter(())

    def close(self) -> None:  # noqa: B027 - a kind without connections
        """Close it for good: whoever still uses it gets a StoreError."""


type Stores = Mapping[str, Store]
"""An application's stores by name, in the chart's order."""


def digest(*parts: object) -> str:
    """A short digest of the parts' text: 16 hexadecimal digits of SHA-256. None differs from an empty text."""
    state = hashlib.sha256()
    for part in parts:
        state.update(b"\x00" if part is None else b"\x01" + str(part).encode() + b"\x02")
    return state.hexdigest()[:16]


def segment(name: object) -> str:
    """A name as one segment of a path: `/` would separate, so it and `%` are written as %2F and %25."""
    return str(name).replace("%", "%25").replace("/", "%2F") if "/" in str(name) else str(name)
