"""A served script."""

import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest
from tests.unit.endpoint.wire import Serve, script

from incident_arena.endpoint.asked import Json
from incident_arena.endpoint.server import Endpoint, serving

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # importing litellm asks the network for prices otherwise


@pytest.fixture
async def serve() -> AsyncIterator[Serve]:
    """Serves the steps it is called with until the test ends."""
    async with AsyncExitStack() as stack:

        async def start(*steps: Json) -> Endpoint:
            return await stack.enter_async_context(serving(script(*steps)))

        yield start
