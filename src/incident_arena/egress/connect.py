"""A CONNECT proxy that tunnels to the targets on its list and nowhere else, and how one dials through such a proxy.

Only what it needs of HTTP/1.1 (RFC 9110, 9.3.6): one CONNECT for each connection, then bytes in both directions.
"""

import asyncio
import base64
import contextlib
import hmac
import ssl
import time
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from incident_arena.errors import InfrastructureError, UserError

HEAD_BYTES = 16 * 1024
HEAD_S = 10.0
DIAL_S = 20.0
CHUNK = 64 * 1024
DRAIN_S = 5.0
REASONS = {
    200: "Connection established",
    400: "Bad Request",
    403: "Forbidden",
    405: "Method Not Allowed",
    407: "Proxy Authentication Required",
    502: "Bad Gateway",
    504: "Gateway Timeout",
}
OK, BAD, FORBIDDEN, NO_METHOD, NO_TOKEN, UNREACHED, LATE = 200, 400, 403, 405, 407, 502, 504

type Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
type Dial = Callable[["Target"], Awaitable[Streams]]
type Told = Callable[["Tunnel"], None]


@dataclass(frozen=True, order=True)
class Target:
    """A host and a port, as CONNECT names them."""

    host: str
    port: int

    @classmethod
    def parse(cls, text: str) -> "Target":
        """Read `host:port`.

        Raises:
            ValueError: it is not that.
        """
        host, colon, port = text.rpartition(":")
        if not colon or not host or not port.isascii() or not port.isdigit() or not 0 < int(port) < 1 << 16:
            raise ValueError(f"{text!r} is not host:port")
        return cls(host.strip("[]").lower(), int(port))

    def __str__(self) -> str:
        """As CONNECT has it."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(frozen=True)
class Tunnel:
    """One connection that has ended. Bytes are from the client to the target (out) and back (in)."""

    at: float
    seconds: float
    target: str
    status: int
    bytes_out: int
    bytes_in: int
    error: str = ""


@dataclass(frozen=True)
class Via:
    """A CONNECT proxy to dial through. `authorization` is the value of Proxy-Authorization; empty: none."""

    host: str
    port: int
    tls: bool = False
    authorization: str = ""

    @classmethod
    def parse(cls, url: str) -> "Via":
        """Read a proxy's URL; user and password in it become Basic authorization.

        Raises:
            UserError: it is no URL of an HTTP proxy.
        """
        try:
            parts = urlsplit(url if "://" in url else f"http://{url}")
            port = parts.port
        except ValueError as error:
            raise UserError("the machine's proxy", f"{error}", "set HTTPS_PROXY to http://host:port") from error
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise UserError(
                "the machine's proxy", f"{parts.scheme}://{parts.hostname} is no HTTP proxy", "set HTTPS_PROXY to one"
            )
        authorization = ""
        if parts.username is not None:
            pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}".encode()
            authorization = f"Basic {base64.b64encode(pair).decode()}"
        tls = parts.scheme == "https"
        return cls(parts.hostname, port or (443 if tls else 80), tls, authorization)


class ProxyRefusedError(InfrastructureError):
    """A proxy on the way answered CONNECT with another status than 200; `status` is its answer."""

    def __init__(self, via: Via, target: Target, status: int) -> None:
        self.status = status
        super().__init__(f"proxy {via.host}:{via.port}", f"answered {status} to CONNECT {target}")


async def dial_direct(target: Target) -> Streams:
    """Open a TCP connection.

    Raises:
        OSError: it can't be opened.
    """
    return await asyncio.open_connection(target.host, target.port)


async def dial_via(via: Via, target: Target, trust: ssl.SSLContext | None = None) -> Streams:
    """Open a tunnel to `target` through a proxy.

    Args:
        via: the proxy.
        target: what it shall connect to.
        trust: whom to believe that it is the proxy, where that is reached by TLS.

    Raises:
        OSError: the proxy can't be reached, or hung up.
        ProxyRefusedError: it won't.
    """
    context = (trust or ssl.create_default_context()) if via.tls else None
    reader, writer = await asyncio.open_connection(via.host, via.port, ssl=context)
    try:
        lines = [f"CONNECT {target} HTTP/1.1", f"Host: {target}"]
        if via.authorization:
            lines.append(f"Proxy-Authorization: {via.authorization}")
        writer.write("\r\n".join([*lines, "", ""]).encode())
        await writer.drain()
        head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), DIAL_S)
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError) as error:
        writer.close()
        raise ConnectionError(f"proxy {via.host}:{via.port} did not answer CONNECT") from error
    except BaseException:
        writer.close()
        raise
    if (status := _status(head)) != OK:
        writer.close()
        raise ProxyRefusedError(via, target, status)
    return reader, writer


def _status(head: bytes) -> int:
    parts = head.split(b"\r\n", 1)[0].split()
    return int(parts[1]) if len(parts) > 1 and parts[1].isdigit() else BAD


class ConnectProxy:
    """Tunnels to allowed targets.

    Args:
        allowed: the only targets.
        dial: how one is reached.
        token: what a client must show as `Proxy-Authorization: Bearer …`; empty: nothing.
        told: called with each connection that has ended.
    """

    def __init__(
        self, allowed: Collection[Target], dial: Dial, *, token: str = "", told: Told = lambda _tunnel: None
    ) -> None:
        """See the class."""
        self._allowed = frozenset(allowed)
        self._dial = dial
        self._token = token
        self._told = told
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.Task[None]] = set()

    async def start(self, address: str, port: int = 0) -> int:
        """Listen; returns the port.

        Raises:
            OSError: the address is not there or the port is taken.
        """
        self._server = await asyncio.start_server(self._accept, address, port, limit=HEAD_BYTES)
        return int(self._server.sockets[0].getsockname()[1])

    async def close(self) -> None:
        """Stop listening and end every tunnel; a second call does nothing."""
        if self._server is None:
            return
        self._server.close()
        self._server = None
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        at, started = time.time(), time.monotonic()
        target, status, error = "", BAD, ""
        counts = [0, 0]
        try:
            target, status, upstream, error = await self._admit(reader)
            writer.write(f"HTTP/1.1 {status} {REASONS[status]}\r\n\r\n".encode())
            await writer.drain()
            if upstream is not None:
                error = await _splice((reader, writer), upstream, counts)
        except (OSError, TimeoutError) as failure:
            error = type(failure).__name__
        except asyncio.CancelledError:
            error = "ended"
        finally:
            self._open.discard(task)
            writer.close()
            self._told(Tunnel(at, time.monotonic() - started, target, status, counts[0], counts[1], error))

    async def _admit(self, reader: asyncio.StreamReader) -> tuple[str, int, Streams | None, str]:
        """Read the request: its target, the answer's status, the way there if there is one, and what went wrong."""
        try:
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), HEAD_S)
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError):
            return "", BAD, None, "no request"
        first, *lines = head.decode("latin-1").split("\r\n")
        method, _, rest = first.partition(" ")
        named = rest.partition(" ")[0]
        status, error = self._refused(method, named, lines)
        if error:
            return named[:200], status, None, error
        status, upstream, error = await self._reach(Target.parse(named))
        return named[:200], status, upstream, error

    def _refused(self, method: str, named: str, lines: list[str]) -> tuple[int, str]:
        """The answer's status, and why a request is refused; empty when it is not."""
        if method != "CONNECT":
            return NO_METHOD, "not CONNECT"
        if self._token and not hmac.compare_digest(_bearer(lines).encode(), self._token.encode()):
            return NO_TOKEN, "no token"
        try:
            target = Target.parse(named)
        except ValueError:
            return BAD, "no target"
        return (OK, "") if target in self._allowed else (FORBIDDEN, "not allowed")

    async def _reach(self, target: Target) -> tuple[int, Streams | None, str]:
        try:
            return OK, await asyncio.wait_for(self._dial(target), DIAL_S), ""
        except TimeoutError:
            return LATE, None, "timeout"
        except ProxyRefusedError as error:
            return UNREACHED, None, f"proxy answered {error.status}"
        except OSError as error:
            return UNREACHED, None, type(error).__name__


def _bearer(lines: list[str]) -> str:
    for line in lines:
        name, _, value = line.partition(":")
        if name.strip().lower() == "proxy-authorization":
            return value.strip().removeprefix("Bearer ")
    return ""


async def _splice(client: Streams, upstream: Streams, counts: list[int]) -> str:
    """Carry bytes both ways until both sides are done; returns what broke it, if anything did."""

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, index: int) -> None:
        while data := await reader.read(CHUNK):
            counts[index] += len(data)
            writer.write(data)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()

    ways = [
        asyncio.ensure_future(carry(client[0], upstream[1], 0)),
        asyncio.ensure_future(carry(upstream[0], client[1], 1)),
    ]
    try:
        done, _ = await asyncio.wait(ways, return_when=asyncio.FIRST_EXCEPTION)
        broken = next((way.exception() for way in done if way.exception()), None)
        return type(broken).__name__ if broken else ""
    finally:
        for way in ways:
            way.cancel()
        await asyncio.gather(*ways, return_exceptions=True)
        upstream[1].close()
        with contextlib.suppress(OSError, TimeoutError):
            await asyncio.wait_for(upstream[1].wait_closed(), DRAIN_S)
