"""What the arena needs of an application. One folder of `substrates` is one; its substrate.py has SUBSTRATE.

The folder's Python is mounted into the pods that need it (load, referee) beside the core, which knows none by name.
"""

import importlib
import importlib.util
import sys
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from incident_arena.errors import UserError
from incident_arena.formats.records import RecordState
from incident_arena.formats.task import Invariant, LoadSpec
from incident_arena.stores.base import Stores
from incident_arena.workload.operations import Operations

PACKAGE = "incident_arena.substrates"


@dataclass(frozen=True)
class Backlog:
    """Work that was accepted and is not done: how much waits, and how much is under way."""

    waiting: int
    running: int


class Substrate(ABC):
    """One application."""

    kinds: ClassVar[Sequence[str]]
    """Names of the load's kinds of operation."""
    moves: ClassVar[Mapping[str, Any]] = {}
    """What the application changes by itself in its stores, by the store's name, as the store's kind wants it told."""

    schedules: ClassVar[Sequence[str]] = ()
    """Names of scheduled jobs that `make_due` knows."""
    invariants: ClassVar[Sequence[Invariant]] = ()
    """What must be true of all that the load's clients witness."""

    @abstractmethod
    def operations(self, spec: LoadSpec, target: str, environment: Mapping[str, str]) -> Operations:
        """The load's operations on the application at `target`. Needs a running event loop.

        Args:
            spec: what the task says of the load.
            target: the application's base address.
            environment: of the load's pod; holds the accounts that the chart names.

        Raises:
            UserError: a variable is missing.
        """

    @abstractmethod
    def look_up(self, stores: Stores, names: Collection[str]) -> dict[str, RecordState]:
        """The state of each of these records of the ledger, as the stores have it.

        Raises:
            StoreError: a store does not answer.
            InfrastructureError: a name is of an unknown kind.
        """

    def backlog(self, stores: Stores) -> Backlog:  # noqa: ARG002 - an application without deferred work
        """What waits and runs in the background.

        Raises:
            StoreError: a store does not answer.
        """
        return Backlog(0, 0)

    def jobs(self, stores: Stores) -> dict[str, dict[str, int]]:  # noqa: ARG002 - as `backlog`
        """Deferred work by state in each queue, for the record.

        Raises:
            StoreError: a store does not answer.
        """
        return {}

    def make_due(self, stores: Stores, schedule: str) -> None:
        """Let one of `schedules` be due now.

        Raises:
            StoreError: a store does not answer.
        """
        raise NotImplementedError(schedule, stores)

    def has_run(self, stores: Stores, schedule: str, since: float) -> tuple[bool, str]:
        """Whether one of `schedules` has run to a good end since a moment, and what was seen.

        Raises:
            StoreError: a store does not answer.
        """
        raise NotImplementedError(schedule, stores, since)


def load(name: str, folder: Path | None = None) -> Substrate:
    """An application by its name.

    Args:
        name: of its folder.
        folder: where that is, when it is not one of the product's own.

    Raises:
        UserError: there is none.
    """
    package = f"{PACKAGE}.{name}"
    if folder is not None and package not in sys.modules and importlib.util.find_spec(package) is None:
        _adopt(package, folder)
    try:
        found = importlib.import_module(f"{package}.substrate")
    except ModuleNotFoundError as error:
        if error.name not in {PACKAGE, package, f"{package}.substrate"}:
            raise
        raise UserError(f"substrate {name!r}", "has no substrate.py", "see docs/extend.md") from error
    made: Substrate = found.SUBSTRATE
    return made


def _adopt(package: str, folder: Path) -> None:
    """Make a folder that lies elsewhere a package among the product's own."""
    init = folder / "__init__.py"
    spec = importlib.util.spec_from_file_location(package, init, submodule_search_locations=[str(folder)])
    if spec is None or spec.loader is None or not init.is_file():
        raise UserError(f"substrate {folder.name!r}", f"{folder} has no __init__.py", "see docs/extend.md")
    module = importlib.util.module_from_spec(spec)
    sys.modules[package] = module
    spec.loader.exec_module(module)
