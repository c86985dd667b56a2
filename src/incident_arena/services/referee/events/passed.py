"""Passed: something was broken for a while and was put right before anybody was called."""

import asyncio
from typing import Annotated

from pydantic import Field

from incident_arena import faults
from incident_arena.errors import InfrastructureError
from incident_arena.formats.parameters import Parameters as Wanted
from incident_arena.formats.records import Scalar
from incident_arena.formats.task import Event, PlantedFault
from incident_arena.services.referee.draining import passing
from incident_arena.services.referee.looks import look
from incident_arena.services.referee.parts import Parts


class Parameters(Wanted):
    """Which aspect of the component, how, and for how long."""

    aspect: str
    seconds: Annotated[float, Field(gt=0, le=600)]
    parameters: dict[str, Scalar | list[str]] = Field(default_factory=dict)


def planted(event: Event, parameters: Parameters, kinds: faults.Kinds) -> faults.Planted:
    """The fault that it was.

    Raises:
        UserError: there is no such fault, or its parameters are wrong.
    """
    name = f"{event.component}.{parameters.aspect}"
    return faults.read(PlantedFault(name=name, parameters=parameters.parameters), kinds)


async def run(parts: Parts, event: Event, parameters: Parameters) -> str:
    """Break it, let the load meet it, and put it right again.

    Raises:
        StoreError: the component refused.
        InfrastructureError: its observer does not see it come or go.
    """
    broken = planted(event, parameters, parts.config.kinds)
    store = parts.stores[broken.component]
    for act, wanted in ((broken.fault.plant, "planted"), (broken.fault.lift, "clear")):
        await asyncio.to_thread(act, store, broken.parameters)
        seen = await look(parts.stores, broken)
        if seen.state != wanted:
            raise InfrastructureError(f"event '{event.stage}'", f"the fault should be {wanted}, and is: {seen.seen}")
        if wanted == "planted":
            await passing("the fault that passes", parameters.seconds)
    return f"{broken.fault.describe(broken.parameters)}, for {parameters.seconds:g} s"
