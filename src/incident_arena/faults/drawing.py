"""A task as one trial plays it: what its seed draws, and what repairs that."""

import random
from collections.abc import Mapping

from incident_arena import faults
from incident_arena.formats.records import Scalar
from incident_arena.formats.task import PlantedFault, TaskSpec


def played(spec: TaskSpec, kinds: faults.Kinds, seed: int) -> TaskSpec:
    """A task with its faults' values drawn, and what repairs them permitted before what the task itself permits.

    The same seed draws the same, whoever plays; what has no draws is the same with every seed.

    Args:
        spec: as the catalogue or an exported folder has it.
        kinds: of the application's stores, by their names.
        seed: the trial's, from 1.

    Raises:
        UserError: a fault is unknown, or its parameters are wrong.
    """
    planted = [_drawn(each, seed) for each in spec.faults]
    repairs = [permit for each in planted for permit in faults.read(each, kinds).repairs]
    return spec.model_copy(update={"faults": planted, "permitted": [*repairs, *spec.permitted], "seed": seed})


def variants(planted: PlantedFault) -> list[PlantedFault]:
    """The fault with each value that may be drawn, once; itself alone when nothing is drawn."""
    first = {name: values[0] for name, values in planted.draws.items()}
    single = [{name: value} for name, values in planted.draws.items() for value in values] or [{}]
    return [_with(planted, first | each) for each in single]


def _drawn(planted: PlantedFault, seed: int) -> PlantedFault:
    # Each parameter by itself, so that one more in a task leaves the others' draws as they are.
    return _with(
        planted,
        {
            name: random.Random(f"{seed}/{planted.name}/{name}").choice(values)  # noqa: S311  to be repeated, no secret
            for name, values in planted.draws.items()
        },
    )


def _with(planted: PlantedFault, values: Mapping[str, Scalar | list[str]]) -> PlantedFault:
    return planted.model_copy(update={"parameters": {**planted.parameters, **values}, "draws": {}})
