"""Data stores: one folder a technology, found by its name. See base.py for what is in one."""

import importlib
import importlib.util
import pkgutil
from pathlib import Path
from types import ModuleType

from incident_arena.errors import UserError
from incident_arena.stores.base import Account, Store, StoreSpec


def kinds() -> tuple[str, ...]:
    """Names of all kinds, sorted."""
    return tuple(sorted(module.name for module in pkgutil.iter_modules(__path__) if module.ispkg))


def part(kind: str, name: str) -> ModuleType | None:
    """A module of a kind's folder (`faults`, `admin`, `store`); None where it has none.

    Raises:
        UserError: there is no such kind; lists those that exist.
    """
    folder(kind)
    path = f"{__name__}.{kind}.{name}"
    return importlib.import_module(path) if importlib.util.find_spec(path) else None


def folder(kind: str) -> Path:
    """Where a kind's files are.

    Raises:
        UserError: there is no such kind.
    """
    if kind not in kinds():
        raise UserError(f"store of kind {kind!r}", "there is no such kind", f"one of: {', '.join(kinds())}")
    return Path(__path__[0]) / kind


def grows(kind: str) -> bool:
    """Whether stores of a kind have a way to grow.

    Raises:
        UserError: there is no such kind.
    """
    module = part(kind, "store")
    return module is not None and bool(module.STORE.grows)


def connect(spec: StoreSpec, account: Account, timeout_s: float = 5.0) -> Store:
    """A store by what the chart says of it; connections open when they are first used.

    Raises:
        UserError: there is no such kind, or it is none that a chart names.
    """
    module = part(spec.kind, "store")
    if module is None:
        raise UserError(f"store {spec.name!r}", f"kind {spec.kind!r} is none that a chart can name")
    made: Store = module.STORE(spec, account, timeout_s)
    return made
