"""Churn: every connection that the application has to a store ends, as a network or a proxy ends them."""

import asyncio

from incident_arena.formats.parameters import Parameters as Wanted
from incident_arena.formats.task import Event
from incident_arena.services.referee.parts import Parts
from incident_arena.services.referee.patience import insist


class Parameters(Wanted):
    """None."""


async def run(parts: Parts, event: Event, _parameters: Parameters) -> str:
    """End the connections of the application's account.

    Raises:
        DeadlineError: the store does not answer.
    """
    store = parts.stores[event.component]
    account = store.spec.account
    ended = 0

    async def end() -> None:
        nonlocal ended
        ended = await asyncio.to_thread(store.end_sessions, account)

    await insist(f"the connections of {account} end", end)
    return f"ended {ended} connections"
