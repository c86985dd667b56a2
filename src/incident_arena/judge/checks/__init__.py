"""The checks: one file each, found by folder.

A file defines `CHECK`, a `Spec`; which gate it is in says `gates.MAPPINGS`. Its `decide` is a pure function from a
`Trial` to a `Finding`; when it raises, the check's answer is *unknown*, with the error as its reason.
"""

import importlib
import pkgutil

from incident_arena.formats.verdict import CLASSES
from incident_arena.judge.finding import Spec
from incident_arena.judge.gates import MAPPINGS, ORDER, OURS


def specs() -> tuple[Spec, ...]:
    """All checks, by gate, then in the order of their failure classes, then by name."""
    found: list[Spec] = [
        importlib.import_module(f"{__name__}.{module.name}").CHECK for module in pkgutil.iter_modules(__path__)
    ]
    table = MAPPINGS[OURS]
    return tuple(
        sorted(found, key=lambda spec: (ORDER.index(table[spec.name]), CLASSES.index(spec.failure), spec.name))
    )
