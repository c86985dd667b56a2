"""A served script."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack

import pytest
from tests.unit.endpoint.wire import script

from incident_arena.endpoint.asked import Json
from incident_arena.endpoint.server import Endpoint, serving

type Serve = Callable[..., Awaitable[Endpoint]]


@pytest.fixture
async def serve() -> AsyncIterator[Serve]:
    """Serves the steps it is called with until the test ends."""
    async with AsyncExitStack() as stack:

        async def start(*steps: Json) -> Endpoint:
            return await stack.enter_async_context(serving(script(*steps)))

        yield start
