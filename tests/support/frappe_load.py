"""The load's operations on a small application on loopback (frappe_server.py); a conftest.py imports the fixtures."""

from collections.abc import AsyncIterator

import pytest
from aiohttp.test_utils import TestServer
from tests.support.frappe_server import PASSWORD, Application

from incident_arena.formats.task import KindLoad, LoadSpec
from incident_arena.substrates.frappe.api import Accounts
from incident_arena.substrates.frappe.operations import Frappe

ACCOUNTS = Accounts("load", "secret", PASSWORD)


def spec(timeout: float = 2.0, effect_timeout: float = 1.5, in_flight: int = 128, **rates: float) -> LoadSpec:
    """A load of these kinds (`sign_in=2` is the kind `sign-in` at two a second)."""
    return LoadSpec(
        timeout=timeout,
        effect_timeout=effect_timeout,
        in_flight=in_flight,
        kinds={kind.replace("_", "-"): KindLoad(rate=rate) for kind, rate in rates.items()},
    )


@pytest.fixture
async def application() -> Application:
    return Application()


@pytest.fixture
async def server(application: Application) -> AsyncIterator[TestServer]:
    async with TestServer(application.routes()) as server:
        yield server


@pytest.fixture
async def frappe(server: TestServer) -> AsyncIterator[Frappe]:
    frappe = Frappe(spec(), str(server.make_url("/")), ACCOUNTS)
    yield frappe
    await frappe.close()
