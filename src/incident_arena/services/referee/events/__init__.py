"""Events: what is done to the application although it breaks nothing.

As a challenge, once the agent is gone, to see whether the repair holds; as a scene, before the agent comes.

One file a kind, found by its name. It has `Parameters`, what a task says of it, and
`async def run(parts, event, parameters) -> str`, which does it and says what came of it; it raises an ArenaError when
the application does not come through. A kind that goes on by itself also has `begin`, like `run` but without waiting
for its end: a scene of it lasts into the agent's time. One that needs to know how things were has
`async def prepare(parts, event, parameters)`, called once, at snapshot A.
"""

import importlib
import pkgutil
from types import ModuleType
from typing import TYPE_CHECKING

from incident_arena.errors import UserError
from incident_arena.formats import parameters
from incident_arena.formats.parameters import Parameters
from incident_arena.formats.task import Event

if TYPE_CHECKING:
    from incident_arena.services.referee.parts import Parts


def kinds() -> tuple[str, ...]:
    """Names of all kinds, sorted."""
    return tuple(sorted(module.name for module in pkgutil.iter_modules(__path__)))


def read(event: Event) -> Parameters:
    """An event's parameters, as its kind wants them.

    Raises:
        UserError: unknown kind, or the parameters are wrong; all that is wrong at once.
    """
    wanted: type[Parameters] = _module(event).Parameters
    return parameters.read(f"event {event.stage!r}", wanted, event.parameters)


async def run(parts: "Parts", event: Event) -> str:
    """Carry out a challenge.

    Raises:
        ArenaError: the application does not come through.
    """
    said: str = await _module(event).run(parts, event, read(event))
    return said


async def begin(parts: "Parts", event: Event) -> str:
    """Let a scene happen.

    Raises:
        ArenaError: it did not.
    """
    module = _module(event)
    said: str = await getattr(module, "begin", module.run)(parts, event, read(event))
    return said


async def prepare(parts: "Parts", event: Event) -> None:
    """Let an event look at how things are before anything is broken."""
    module = _module(event)
    if hasattr(module, "prepare"):
        await module.prepare(parts, event, read(event))


def _module(event: Event) -> ModuleType:
    if event.kind not in kinds():
        raise UserError(f"event {event.kind!r}", "there is no such kind", f"one of: {', '.join(kinds())}")
    return importlib.import_module(f"{__name__}.{event.kind}")
