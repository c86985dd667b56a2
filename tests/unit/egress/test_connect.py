"""The CONNECT proxy over real sockets on loopback."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from incident_arena import wait
from incident_arena.egress.connect import (
    ConnectProxy,
    Dial,
    ProxyRefusedError,
    Streams,
    Target,
    Tunnel,
    Via,
    dial_direct,
    dial_via,
)
from incident_arena.errors import UserError


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data.upper())
    writer.close()


@pytest.fixture
async def target() -> AsyncIterator[Target]:
    server = await asyncio.start_server(echo, "127.0.0.1", 0)
    yield Target("127.0.0.1", server.sockets[0].getsockname()[1])
    server.close()


class Proxies:
    def __init__(self) -> None:
        self.told: list[Tunnel] = []
        self.made: list[ConnectProxy] = []

    async def start(self, *allowed: Target, dial: Dial = dial_direct, token: str = "") -> Via:
        proxy = ConnectProxy(allowed, dial, token=token, told=self.told.append)
        self.made.append(proxy)
        return Via("127.0.0.1", await proxy.start("127.0.0.1"), authorization=f"Bearer {token}" if token else "")

    async def ended(self, count: int = 1) -> list[Tunnel]:
        async def probe() -> tuple[bool, str]:
            return len(self.told) >= count, str(self.told)

        await wait.until_async("tunnels are told of", probe, deadline_s=10, every_s=0.01)
        return self.told


@pytest.fixture
async def proxies() -> AsyncIterator[Proxies]:
    made = Proxies()
    yield made
    for proxy in made.made:
        await proxy.close()


async def say(streams: Streams, text: bytes) -> bytes:
    reader, writer = streams
    writer.write(text)
    writer.write_eof()
    answer = await asyncio.wait_for(reader.read(), 10)
    writer.close()
    return answer


async def raw(via: Via, text: bytes) -> bytes:
    reader, writer = await asyncio.open_connection(via.host, via.port)
    writer.write(text)
    writer.write_eof()
    line = await asyncio.wait_for(reader.readline(), 10)
    writer.close()
    return line.strip()


async def test_a_tunnel_carries_bytes_both_ways_and_is_told_of(proxies: Proxies, target: Target) -> None:
    via = await proxies.start(target)
    assert await say(await dial_via(via, target), b"hello") == b"HELLO"
    [tunnel] = await proxies.ended()
    assert (tunnel.target, tunnel.status, tunnel.bytes_out, tunnel.bytes_in, tunnel.error) == (
        str(target), 200, 5, 5, "",
    )  # fmt: skip


async def test_large_content_passes_whole(proxies: Proxies, target: Target) -> None:
    via = await proxies.start(target)
    content = b"x" * (8 << 20)
    assert await say(await dial_via(via, target), content) == content.upper()


async def test_two_proxies_in_a_row(proxies: Proxies, target: Target) -> None:
    inner = await proxies.start(target, token="secret")

    async def dial(to: Target) -> Streams:
        return await dial_via(inner, to)

    outer = await proxies.start(target, dial=dial)
    assert await say(await dial_via(outer, target), b"a") == b"A"


async def test_only_what_is_on_the_list(proxies: Proxies, target: Target) -> None:
    via = await proxies.start(Target("127.0.0.1", 1))
    with pytest.raises(ProxyRefusedError) as refused:
        await dial_via(via, target)
    assert refused.value.status == 403
    [tunnel] = await proxies.ended()
    assert (tunnel.target, tunnel.status, tunnel.error) == (str(target), 403, "not allowed")


@pytest.mark.parametrize("shown", ["", "Bearer other", "Basic secret"])
async def test_without_the_token_nothing(proxies: Proxies, target: Target, shown: str) -> None:
    via = await proxies.start(target, token="secret")
    with pytest.raises(ProxyRefusedError) as refused:
        await dial_via(Via(via.host, via.port, authorization=shown), target)
    assert refused.value.status == 407


@pytest.mark.parametrize(
    ("text", "status"),
    [
        (b"GET http://127.0.0.1/ HTTP/1.1\r\n\r\n", b"405"),
        (b"CONNECT nowhere HTTP/1.1\r\n\r\n", b"400"),
        (b"CONNECT a:99999 HTTP/1.1\r\n\r\n", b"400"),
        (b"CONNECT a:0x50 HTTP/1.1\r\n\r\n", b"400"),
        (b"\x16\x03\x01 not http", b"400"),
        (b"x" * 20000, b"400"),
    ],
)
async def test_what_is_no_connect_is_refused(proxies: Proxies, target: Target, text: bytes, status: bytes) -> None:
    via = await proxies.start(target)
    assert (await raw(via, text)).split()[1:2] == [status]


async def test_a_target_that_is_not_there(proxies: Proxies) -> None:
    gone = Target("127.0.0.1", 1)
    via = await proxies.start(gone)
    with pytest.raises(ProxyRefusedError) as refused:
        await dial_via(via, gone)
    assert refused.value.status == 502


async def test_closing_ends_tunnels(proxies: Proxies, target: Target) -> None:
    via = await proxies.start(target)
    reader, writer = await dial_via(via, target)
    await proxies.made[0].close()
    assert await asyncio.wait_for(reader.read(), 10) == b""
    writer.close()
    [tunnel] = await proxies.ended()
    assert tunnel.error == "ended"
    with pytest.raises(OSError):  # noqa: PT011  whichever the kernel has for it
        await dial_via(via, target)


def test_targets() -> None:
    assert Target.parse("API.example.com:443") == Target("api.example.com", 443)
    assert str(Target.parse("[::1]:80")) == "[::1]:80"
    for wrong in ("", "a", "a:", ":1", "a:0", "a:65536", "a:-1", "a:²"):
        with pytest.raises(ValueError, match="host:port"):
            Target.parse(wrong)


def test_a_proxys_url() -> None:
    assert Via.parse("http://proxy:3128") == Via("proxy", 3128)
    assert Via.parse("proxy:3128") == Via("proxy", 3128)
    assert Via.parse("https://proxy") == Via("proxy", 443, tls=True)
    assert Via.parse("http://us%40er:pass@proxy:1").authorization == "Basic dXNAZXI6cGFzcw=="
    for wrong in ("socks5://proxy:1080", "http://", "http://a:b"):
        with pytest.raises(UserError):
            Via.parse(wrong)
