"""Faults, found by folder: `stores/<kind>/faults.py` has those of a kind, in a tuple FAULTS of base.Fault.

A task names a fault `<component>.<aspect>`. `kinds` says which kind of store each component is.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from incident_arena import stores
from incident_arena.errors import UserError
from incident_arena.faults.base import Fault, Parameters
from incident_arena.formats.task import Permit, PlantedFault

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
    return tuple(sorted(f"{component}.{fault.aspect}" for component, kind in kinds.items() for fault in of_kind(kind)))


def of_kind(kind: str) -> tuple[Fault[Any, Any], ...]:
    """A kind's faults.

    Raises:
        UserError: there is no such kind.
    """
    module = stores.part(kind, "faults")
    return () if module is None else tuple(module.FAULTS)


def read(planted: PlantedFault, kinds: Kinds) -> Planted:
    """A task's fault, by its name and with its parameters read as the fault's own.

    Raises:
        UserError: unknown fault, or its parameters are wrong; all that is wrong at once, with what is valid.
    """
    component, _, aspect = planted.name.rpartition(".")
    known = of_kind(kinds[component]) if component in kinds else ()
    fault = next((fault for fault in known if fault.aspect == aspect), None)
    if fault is None:
        raise UserError(f"fault '{planted.name}'", "there is no such fault", f"one of: {', '.join(names(kinds))}")
    try:
        parameters: Parameters = fault.parameters.model_validate(planted.parameters)
    except ValidationError as error:
        wrong = "; ".join(
            f"{'.'.join(str(part) for part in each['loc']) or 'parameters'}: {each['msg']}"
            for each in error.errors(include_url=False)
        )
        valid = ", ".join(fault.parameters.model_fields)
        raise UserError(f"fault '{planted.name}'", wrong, f"its parameters: {valid}") from error
    return Planted(planted.name, component, fault, parameters)
