"""Frappe as the arena sees it; substrates/frappe/README.md describes it."""

from collections.abc import Collection, Mapping
from typing import Any, ClassVar

from incident_arena.application import Backlog, Substrate
from incident_arena.errors import UserError
from incident_arena.formats.records import RecordState
from incident_arena.formats.task import LoadSpec
from incident_arena.stores.base import Stores
from incident_arena.stores.mariadb.client import Sql
from incident_arena.stores.mariadb.store import MariaDbStore
from incident_arena.stores.rq import layout
from incident_arena.stores.rq.store import RqStore
from incident_arena.substrates.frappe import moving, records, schedules
from incident_arena.substrates.frappe.api import Accounts, Names
from incident_arena.substrates.frappe.operations import KINDS, Frappe
from incident_arena.workload.operations import Operations

DATABASE, JOBS = "mariadb", "jobs"
"""Names of the stores in the chart."""
REQUIRED = ("LOAD_API_SECRET", "LOAD_USERS_PASSWORD")


class FrappeSubstrate(Substrate):
    """The application with its records in MariaDB, and its jobs in RQ."""

    kinds: ClassVar[tuple[str, ...]] = KINDS
    schedules: ClassVar[tuple[str, ...]] = tuple(schedules.METHODS)
    moves: ClassVar[Mapping[str, Any]] = {
        DATABASE: moving.ROWS,
        "redis-queue": (layout.KEYS,),
        "redis-cache": ("site|",),
    }

    def operations(self, spec: LoadSpec, target: str, environment: Mapping[str, str]) -> Operations:
        """FRAMEWORK_PACKAGE names the framework's package, LOAD_API_KEY the load's account."""
        missing = [name for name in REQUIRED if not environment.get(name)]
        if missing:
            raise UserError(f"variable {missing[0]}", "is not set", "set it from the episode's accounts")
        accounts = Accounts(
            environment.get("LOAD_API_KEY", "load"), environment["LOAD_API_SECRET"], environment["LOAD_USERS_PASSWORD"]
        )
        return Frappe(spec, target, accounts, Names(environment.get("FRAMEWORK_PACKAGE", Names.package)))

    def look_up(self, stores: Stores, names: Collection[str]) -> dict[str, RecordState]:
        """See records.SOURCES."""
        return records.look_up(*self._database(stores), names)

    def make_due(self, stores: Stores, schedule: str) -> None:
        """See schedules.METHODS."""
        schedules.make_due(*self._database(stores), schedule)

    def has_run(self, stores: Stores, schedule: str, since: float) -> tuple[bool, str]:
        """By what the job wrote after `make_due`."""
        del since
        return schedules.has_run(*self._database(stores), schedule)

    def backlog(self, stores: Stores) -> Backlog:
        """Of all of RQ's queues."""
        counts = self._jobs(stores).backlog()
        return Backlog(*counts)

    def jobs(self, stores: Stores) -> dict[str, dict[str, int]]:
        """Of all of RQ's queues."""
        return self._jobs(stores).jobs()

    def _database(self, stores: Stores) -> tuple[Sql, str]:
        database = stores[DATABASE]
        assert isinstance(database, MariaDbStore)
        return database.sql, database.database

    def _jobs(self, stores: Stores) -> RqStore:
        jobs = stores[JOBS]
        assert isinstance(jobs, RqStore)
        return jobs


SUBSTRATE = FrappeSubstrate()
