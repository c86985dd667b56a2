"""What became of the records and jobs that the ledger names, as the stores say."""

import time
from collections.abc import Iterable
from pathlib import Path

from incident_arena.application import Substrate
from incident_arena.formats.records import LedgerLine, Reconciled, Witness
from incident_arena.ledger import reading, seeds
from incident_arena.stores.base import Stores

MARGIN = 0.25
"""Seconds by which the moment of the look is set back: a line is written just after the moment that it names."""


def reconcile(ledger: Path, substrate: Substrate, stores: Stores, job_s: float) -> Reconciled:
    """Look up every record that the ledger or the list of seeds beside it names, and count the jobs.

    Args:
        ledger: the ledger's file.
        substrate: knows where each kind of record is.
        stores: of an account that may read everything.
        job_s: seconds that a background job may take before its effect is due.

    Raises:
        LedgerError: the ledger or its seeds can't be read.
        InfrastructureError: a store does not answer, or the ledger names a kind of record without a source.
    """
    taken = time.time() - MARGIN
    lines = reading.read(ledger)
    seeded = seeds.load(ledger.parent).records
    found = substrate.look_up(stores, {*names_of(lines), *seeded})
    touched = reading.touches(lines, taken, job_s)
    deleted = {name for name, its in touched.items() if any(each.effect == reading.DELETED for each in its)}
    missing = tuple(name for name in seeded if not found[name].exists and name not in deleted)
    return Reconciled(taken=taken, records=found, queue=substrate.jobs(stores), seeds_missing=missing)


def names_of(lines: Iterable[LedgerLine]) -> set[str]:
    """All records that a ledger names."""
    return {name for line in lines if not isinstance(line, Witness) for name in line.records}
