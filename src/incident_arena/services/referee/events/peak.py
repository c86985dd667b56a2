"""Peak: for some time the load sends several times as much, as on a busy morning."""

import time
from typing import Annotated

from pydantic import Field

from incident_arena.formats.parameters import Parameters as Wanted
from incident_arena.formats.task import Event
from incident_arena.services.referee import draining
from incident_arena.services.referee.figures import Figures
from incident_arena.services.referee.parts import Parts
from incident_arena.services.referee.patience import StalledError, insist

LAST_ENDS_S = 30.0


class Parameters(Wanted):
    """How much more, for how long, and of which kinds."""

    factor: Annotated[float, Field(gt=1, le=20)]
    """Of the rate that the task has anyway."""
    seconds: Annotated[float, Field(gt=0, le=1800)]
    kinds: tuple[str, ...] = ()
    """Those that rise; all when it is empty."""


async def begin(parts: Parts, _event: Event, parameters: Parameters) -> str:
    """Raise the load, and go on while it lasts.

    Raises:
        DeadlineError: the load does not answer.
    """
    told = parameters.model_dump(mode="json")
    await insist("the load rises", lambda: parts.load.peak(told))
    return f"{parameters.factor:g} times the load for {parameters.seconds:g} s"


async def run(parts: Parts, event: Event, parameters: Parameters) -> str:
    """Raise the load, wait for its end, and see that what was due in it succeeded as often as ever.

    How long it took is not judged: slower than on a quiet day is no failure.

    Raises:
        StalledError: a judged kind fell below its floor.
        DeadlineError: operations of the peak never ended.
    """
    figures = Figures(parts.config.ledger, parts.task)
    started = time.time()
    said = await begin(parts, event, parameters)
    await draining.passing("the peak", parameters.seconds)
    ended = time.time()
    await draining.ended("the peak", figures, started, ended, LAST_ENDS_S)
    well, seen = figures.in_bounds(started, ended)
    if not well:
        raise StalledError("the peak", f"was not borne: {seen}")
    return said
