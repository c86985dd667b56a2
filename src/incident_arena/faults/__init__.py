"""Faults: one file a component, found by folder.

Each file has a tuple FAULTS of base.Fault. Nothing else knows a fault by its name.
"""

import importlib
import pkgutil
from collections.abc import Iterator
from typing import Any

from pydantic import ValidationError

from incident_arena.errors import UserError
from incident_arena.faults.base import Fault, Parameters
from incident_arena.formats.task import PlantedFault


def names() -> tuple[str, ...]:
    """Names of all faults, sorted."""
    return tuple(sorted(fault.name for fault in _all()))


def get(name: str) -> Fault[Any]:
    """The fault of a name.

    Raises:
        UserError: there is none; lists those that exist.
    """
    for fault in _all():
        if fault.name == name:
            return fault
    raise UserError(f"fault '{name}'", "there is no such fault", f"one of: {', '.join(names())}")


def validate(planted: PlantedFault) -> Parameters:
    """Read a task's parameters as the fault's own.

    Raises:
        UserError: unknown fault, or its parameters are wrong; all that is wrong at once, with what is valid.
    """
    fault = get(planted.name)
    try:
        parameters: Parameters = fault.parameters.model_validate(planted.parameters)
    except ValidationError as error:
        wrong = "; ".join(
            f"{'.'.join(str(part) for part in each['loc']) or 'parameters'}: {each['msg']}"
            for each in error.errors(include_url=False)
        )
        valid = ", ".join(fault.parameters.model_fields)
        raise UserError(f"fault '{planted.name}'", wrong, f"its parameters: {valid}") from error
    return parameters


def _all() -> Iterator[Fault[Any]]:
    for module in pkgutil.iter_modules(__path__):
        yield from getattr(importlib.import_module(f"{__name__}.{module.name}"), "FAULTS", ())
