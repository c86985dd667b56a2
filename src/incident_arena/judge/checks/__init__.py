"""The checks: one file each, found by folder.

A file defines `CHECK`, a `Spec`. Its `decide` is a pure function from a `Trial` to a `Finding`; when it raises, the
check's answer is *unknown*, with the error as its reason.
"""

import importlib
import pkgutil

from incident_arena.formats.verdict import CLASSES, Gate
from incident_arena.judge.finding import Spec

GATES: tuple[Gate, ...] = ("outcome", "safety")


def specs() -> tuple[Spec, ...]:
    """All checks, by gate, then in the order of their failure classes, then by name."""
    found: list[Spec] = [
        importlib.import_module(f"{__name__}.{module.name}").CHECK for module in pkgutil.iter_modules(__path__)
    ]
    return tuple(sorted(found, key=lambda spec: (GATES.index(spec.gate), CLASSES.index(spec.failure), spec.name)))
