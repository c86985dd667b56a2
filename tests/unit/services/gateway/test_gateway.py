"""The gateway as its pod runs it: mitmproxy with the gate, a CONNECT proxy behind it, a real HTTP server."""

import asyncio
import contextlib
import json
import os
import random
import socket
import ssl
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp
import pytest
import pytest_asyncio
from aiohttp import web

from incident_arena import wait
from incident_arena.egress.connect import ConnectProxy, Target, Tunnel, dial_direct
from incident_arena.node.pki import new_authority
from incident_arena.route import CLIENT, Call

NAME = "model.test"
pytestmark = pytest.mark.asyncio(loop_scope="module")


def free_port() -> int:
    """Below the range that connections take their own ports from: one that is asked until it answers could else be
    answered by itself."""
    for port in random.sample(range(20000, 32000), 50):
        with socket.socket() as taken, contextlib.suppress(OSError):
            taken.bind(("127.0.0.1", port))
            return port
    raise AssertionError("no port is free")


@dataclass
class Gateway:
    port: int
    trust: ssl.SSLContext
    calls: Path
    seen: list[web.Request] = field(default_factory=list)
    tunnels: list[Tunnel] = field(default_factory=list)
    before: int = 0
    """Lines of the log that are of earlier tests."""

    async def ask(self, path: str = "/v1/messages", *, name: str = NAME, host: str = "", **more) -> tuple[int, bytes]:
        connector = aiohttp.TCPConnector(ssl=self.trust, resolver=None)
        async with aiohttp.ClientSession(connector=connector) as session:
            url = f"https://127.0.0.1:{self.port}{path}"
            headers = {"Host": host or name, "x-api-key": "key-1"} | more.pop("headers", {})
            async with session.post(url, server_hostname=name, headers=headers, **more) as answer:
                return answer.status, await answer.read()

    async def logged(self, count: int = 1) -> list[Call]:
        async def probe() -> tuple[bool, str]:
            return len(self.lines()) >= count, f"{len(self.lines())} lines"

        await wait.until_async("the log has the calls", probe, deadline_s=10, every_s=0.05)
        return [Call.model_validate_json(line) for line in self.lines()]

    def lines(self) -> list[str]:
        return self.calls.read_text().splitlines()[self.before :] if self.calls.exists() else []


async def stream(request: web.Request, parts: list[bytes], *, cut: bool) -> web.StreamResponse:
    answer = web.StreamResponse(headers={"content-type": "text/event-stream"})
    answer.enable_chunked_encoding()
    await answer.prepare(request)
    for part in parts:
        await answer.write(part)
    if cut:
        assert request.transport is not None
        request.transport.abort()
    return answer


def application(seen: list[web.Request]) -> web.Application:
    async def messages(request: web.Request) -> web.StreamResponse:
        seen.append(request)
        what = (await request.json()).get("what", "")
        if what.isdigit():
            return web.json_response({"error": "x"}, status=int(what))
        if what == "hang":
            await asyncio.Event().wait()
        if what == "headers":
            await stream(request, [], cut=False)
            await asyncio.Event().wait()
        if what == "slow":
            await asyncio.sleep(0.5)
        parts = {
            "whole": [b"event: message_stop\n", b'data: {"type": "message_', b'stop"}\n\n'],
            "cut": [b'data: {"type": "content_block_delta"}\n\n'],
            "short": [b'data: {"type": "content_block_delta"}\n\n'],
            "refusal": [b'data: {"delta": {"stop_rea', b'son": "refusal"}}\n\n', b'data: {"type":"message_stop"}\n\n'],
            "talk": [
                b'data: {"text": "say \\"stop_reason\\": \\"refusal\\""}\n\n',
                b'data: {"type":"message_stop"}\n\n',
            ],
        }
        if what in parts:
            return await stream(request, parts[what], cut=what == "cut")
        return web.json_response({"host": request.host, "coding": request.headers.get("accept-encoding")})

    app = web.Application()
    app.router.add_post("/{path:.*}", messages)
    return app


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def running(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Gateway]:
    tmp_path = tmp_path_factory.mktemp("gateway")
    authority = new_authority("test")
    (tmp_path / "ca.pem").write_text(authority.pair_pem)
    (tmp_path / "upstream.crt").write_text(authority.certificate_pem)
    made = Gateway(free_port(), ssl.create_default_context(cadata=authority.certificate_pem), tmp_path / "calls.jsonl")
    runner = web.AppRunner(application(made.seen))
    await runner.setup()
    port = free_port()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    proxy = ConnectProxy([Target("127.0.0.1", port)], dial_direct, told=made.tunnels.append)
    proxied = await proxy.start("127.0.0.1")
    dead = free_port()
    upstreams = {NAME: f"http://127.0.0.1:{port}", "dead.test": f"http://127.0.0.1:{dead}"}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "incident_arena.services.gateway",
        env={
            **os.environ, "UPSTREAMS": json.dumps(upstreams), "PROXY": f"127.0.0.1:{proxied}", "PORT": str(made.port),
            "AUTHORITY": str(tmp_path), "LOG": str(tmp_path),
        },
    )  # fmt: skip

    async def up() -> tuple[bool, str]:
        assert process.returncode is None
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", made.port)
        except OSError as error:
            return False, str(error)
        writer.close()
        return True, ""

    try:
        await wait.until_async("the gateway listens", up, deadline_s=30, every_s=0.1)
        yield made
    finally:
        process.terminate()
        await process.wait()
        await proxy.close()
        await runner.cleanup()


@pytest.fixture
def gateway(running: Gateway) -> Gateway:
    """As if nothing had been asked yet."""
    running.seen.clear()
    running.tunnels.clear()
    running.before = len(running.calls.read_text().splitlines()) if running.calls.exists() else 0
    running.trust.check_hostname = True
    return running


async def test_an_allowed_name_reaches_its_upstream_and_is_logged_without_its_key(gateway: Gateway) -> None:
    status, body = await gateway.ask(json={"model": "m"})
    assert status == 200
    assert json.loads(body)["coding"] == "identity"
    [call] = await gateway.logged()
    assert (call.host, call.status, call.method, call.allowed, call.model_call, call.whole) == (
        NAME, 200, "POST", True, True, True,
    )  # fmt: skip
    assert call.bytes_in == len(body)
    assert call.bytes_out == len(json.dumps({"model": "m"}))
    assert call.credential
    assert "key-1" not in gateway.calls.read_text()


async def test_keys_and_models_are_told_apart(gateway: Gateway) -> None:
    for headers, model in (({}, "a"), ({"x-api-key": "key-2"}, "a"), ({}, "b"), ({}, "a")):
        await gateway.ask(json={"model": model}, headers=headers)
    calls = await gateway.logged(4)
    assert [call.credential == calls[0].credential for call in calls] == [True, False, True, True]
    assert [call.asked == calls[0].asked for call in calls] == [True, True, False, True]


@pytest.mark.parametrize(
    ("name", "host"), [("other.test", "other.test"), ("other.test", NAME), (NAME, "other.test"), (NAME, f"{NAME}:80")]
)
async def test_what_is_not_on_the_list_goes_nowhere(gateway: Gateway, name: str, host: str) -> None:
    gateway.trust.check_hostname = False
    status, body = await gateway.ask(name=name, host=host, json={})
    assert status == 403
    assert b"allow-list" in body
    [call] = await gateway.logged()
    assert (call.allowed, call.host) == (False, name)
    assert gateway.seen == []


async def test_without_tls_nothing_passes(gateway: Gateway) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", gateway.port)
    writer.write(f"POST /v1/messages HTTP/1.1\r\nHost: {NAME}\r\nContent-Length: 2\r\n\r\n{{}}".encode())
    assert b"403" in await asyncio.wait_for(reader.readline(), 10)
    writer.close()
    assert gateway.seen == []


async def test_connect_is_no_way_out(gateway: Gateway) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", gateway.port)
    writer.write(b"CONNECT example.test:443 HTTP/1.1\r\nHost: example.test:443\r\n\r\n")
    assert b" 200" not in await asyncio.wait_for(reader.readline(), 10)
    writer.close()
    assert [tunnel for tunnel in gateway.tunnels if "example" in tunnel.target] == []


async def test_a_websocket_is_told_to_use_http(gateway: Gateway) -> None:
    headers = {"Upgrade": "websocket", "Connection": "Upgrade"}
    status, _ = await gateway.ask("/v1/responses", json={}, headers=headers)
    assert status == 426
    assert gateway.seen == []


@pytest.mark.parametrize(
    ("what", "whole", "error", "refusal"),
    [
        ("whole", True, "", ""), ("refusal", True, "", "refusal"), ("talk", True, "", ""), ("short", False, "cut", ""),
        ("cut", False, "cut", ""),
    ],
)  # fmt: skip
async def test_what_a_stream_says_of_itself(
    gateway: Gateway, what: str, *, whole: bool, error: str, refusal: str
) -> None:
    try:
        await gateway.ask(json={"what": what})
    except aiohttp.ClientError:
        assert what == "cut"
    [call] = await gateway.logged()
    assert (call.status, call.whole, call.error, call.refusal) == (200, whole, error, refusal)


async def test_the_providers_own_status_comes_through(gateway: Gateway) -> None:
    assert (await gateway.ask(json={"what": "529"}))[0] == 529
    [call] = await gateway.logged()
    assert (call.status, call.whole) == (529, True)


@pytest.mark.parametrize(("what", "status"), [("hang", 0), ("headers", 200)])
async def test_a_client_that_hangs_up_is_no_failure_of_the_provider_but_how_long_it_waited_is_told(
    gateway: Gateway, what: str, status: int
) -> None:
    with pytest.raises(TimeoutError):
        await gateway.ask(json={"what": what}, timeout=aiohttp.ClientTimeout(total=2))
    [call] = await gateway.logged()
    assert (call.status, call.error, call.bytes_in) == (status, CLIENT, 0)
    assert 0.5 < call.waited <= call.seconds


async def test_a_wait_ends_with_the_answers_first_byte(gateway: Gateway) -> None:
    await gateway.ask(json={"what": "slow"})
    [call] = await gateway.logged()
    assert 0.5 <= call.waited <= call.seconds


async def test_a_request_that_never_came_whole_waited_for_nothing(gateway: Gateway) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", gateway.port, ssl=gateway.trust, server_hostname=NAME)
    writer.write(f"POST /v1/messages HTTP/1.1\r\nHost: {NAME}\r\nContent-Length: 20\r\n\r\n{{".encode())
    await asyncio.sleep(0.5)
    writer.close()
    del reader
    [call] = await gateway.logged()
    assert (call.error, call.waited) == (CLIENT, 0)


async def test_an_upstream_that_is_not_there(gateway: Gateway) -> None:
    status, _ = await gateway.ask(name="dead.test", json={})
    assert status == 502
    [call] = await gateway.logged()
    assert (call.status, call.allowed) == (0, True)
    assert call.error
