"""Challenges: what is done to the application once the agent is gone, to see whether the repair holds.

One file a kind, found by its name: `async def run(parts, challenge) -> str` does it and says what came of it. It raises
an ArenaError when the application does not come through, which is evidence.
"""

import importlib
import pkgutil
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from incident_arena.errors import UserError
from incident_arena.formats.task import Challenge

if TYPE_CHECKING:
    from incident_arena.services.referee.parts import Parts

type Run = "Callable[[Parts, Challenge], Awaitable[str]]"


def kinds() -> tuple[str, ...]:
    """Names of all kinds, sorted."""
    return tuple(sorted(module.name for module in pkgutil.iter_modules(__path__)))


def get(kind: str) -> Run:
    """What carries out challenges of a kind.

    Raises:
        UserError: there is no such kind; lists those that exist.
    """
    if kind not in kinds():
        raise UserError(f"challenge {kind!r}", "there is no such kind", f"one of: {', '.join(kinds())}")
    run: Run = importlib.import_module(f"{__name__}.{kind}").run
    return run
