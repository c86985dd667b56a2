"""Faults, found by folder: `stores/<kind>/faults/<aspect>.py` has one, its FAULT (stores.fault.Fault).

A task names a fault `<component>.<aspect>`. `kinds` says which kind of store each component is.
"""

import importlib
import pkgutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from incident_arena import stores
from incident_arena.errors import UserError
from incident_arena.formats import parameters
from incident_arena.formats.parameters import Parameters
from incident_arena.formats.task import Permit, PlantedFault
from incident_arena.stores.base import Stores
from incident_arena.stores.fault import Fault

type Kinds = Mapping[str, str]


@dataclass(frozen=True)
class Planted:
    """One fault of a task, with its parameters read."""

    name: str
    component: str
    fault: Fault[Any, Any]
    parameters: Parameters

    @property
    def repairs(self) -> tuple[Permit, ...]:
        """The differences that a repair makes."""
        return self.fault.repairs(self.component, self.parameters)


def names(kinds: Kinds) -> tuple[str, ...]:
    """Names of all faults that an application with these stores can have, sorted."""
    return tuple(sorted(f"{component}.{aspect}" for component, kind in kinds.items() for aspect in aspects(kind)))


def aspects(kind: str) -> tuple[str, ...]:
    """Names of a kind's faults, sorted.

    Raises:
        UserError: there is no such kind.
    """
    package = stores.part(kind, "faults")
    return () if package is None else tuple(sorted(module.name for module in pkgutil.iter_modules(package.__path__)))


def unplanted(planted: Iterable[Planted], opened: Stores) -> tuple[Planted, ...]:
    """Every fault that these stores can have and that is not among `planted`, as it is looked at elsewhere."""
    kinds = {name: store.kind for name, store in opened.items()}
    found = []
    for name in sorted(set(names(kinds)) - {each.name for each in planted}):
        component, _, aspect = name.rpartition(".")
        fault = _fault(kinds[component], aspect)
        found.append(Planted(name, component, fault, fault.elsewhere(opened[component])))
    return tuple(found)


def read(planted: PlantedFault, kinds: Kinds) -> Planted:
    """A task's fault, by its name and with its parameters read as the fault's own.

    Raises:
        UserError: unknown fault, or its parameters are wrong; all that is wrong at once, with what is valid.
    """
    component, _, aspect = planted.name.rpartition(".")
    kind = kinds.get(component)
    if kind is None or aspect not in aspects(kind):
        raise UserError(f"fault '{planted.name}'", "there is no such fault", f"one of: {', '.join(names(kinds))}")
    fault = _fault(kind, aspect)
    given: Parameters = parameters.read(f"fault '{planted.name}'", fault.parameters, planted.parameters)
    return Planted(planted.name, component, fault, given)


def _fault(kind: str, aspect: str) -> Fault[Any, Any]:
    fault: Fault[Any, Any] = importlib.import_module(f"{stores.__name__}.{kind}.faults.{aspect}").FAULT
    return fault
