import asyncio
from pathlib import Path

import pytest
from aiohttp.test_utils import TestClient, TestServer
from tests.support.frappe_load import spec
from tests.support.frappe_server import Application

from incident_arena.ledger.writing import Ledger
from incident_arena.services.load.api import Api, LoadStatus, config_hash
from incident_arena.services.load.generator import Generator
from incident_arena.substrates.frappe.operations import Frappe

SPEC = spec(read=20)


@pytest.fixture
async def client(tmp_path: Path, frappe: Frappe):
    await frappe.prepare([])
    generator = Generator(SPEC, frappe, Ledger(tmp_path / "l"))
    api = Api(generator, SPEC, "http://edge:8080", "secret")
    async with TestClient(TestServer(api.application())) as client:
        client.generator = generator
        yield client


async def status(client: TestClient) -> LoadStatus:
    async with client.get("/status") as response:
        assert response.status == 200
        return LoadStatus.model_validate_json(await response.read())


async def test_it_tells_how_the_load_is(client: TestClient, application: Application):
    assert (await status(client)).state == "waiting"
    running = asyncio.create_task(client.generator.run())
    await asyncio.sleep(0.5)
    application.faults.status = 500
    await asyncio.sleep(0.5)
    seen = await status(client)
    client.generator.stop()
    await running
    assert (seen.state, seen.seed, seen.config) == ("running", 1, config_hash(SPEC, "http://edge:8080"))
    kind = seen.kinds["read"]
    assert kind.results["ok"] >= 5
    assert kind.results["indeterminate"] >= 5
    assert "planned" in kind.last_error
    assert kind.last_ok < kind.last_not_ok <= seen.at
    assert 0 <= seen.lateness_p50 <= seen.lateness_p95 < 0.5


@pytest.mark.parametrize("path", ["/pause", "/resume", "/peak"])
@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer other"}, {"Authorization": "secret"}])
async def test_only_the_referee_may_pause(client: TestClient, path: str, headers: dict[str, str]):
    async with client.post(path, headers=headers) as response:
        assert response.status == 401
    assert client.generator.paused is False


@pytest.mark.parametrize(
    ("body", "said"),
    [({"factor": 1, "seconds": 5}, "factor"), ({}, "seconds"), ({"factor": 2, "seconds": 5}, "has not begun")],
)
async def test_a_wrong_peak_is_refused(client: TestClient, body: dict[str, float], said: str):
    async with client.post("/peak", headers={"Authorization": "Bearer secret"}, json=body) as response:
        assert response.status == 400
        assert said in await response.text()


async def test_pause_and_resume(client: TestClient):
    headers = {"Authorization": "Bearer secret"}
    async with client.post("/pause", headers=headers) as response:
        assert response.status == 200
    assert client.generator.paused is True
    async with client.post("/resume", headers=headers) as response:
        assert response.status == 200
    assert client.generator.paused is False


def test_the_hash_tells_loads_apart():
    hashes = {config_hash(load, target) for load in (SPEC, spec(read=21)) for target in ("http://a", "http://b")}
    assert len(hashes) == 4
    assert config_hash(SPEC, "http://a") == config_hash(spec(read=20), "http://a")
