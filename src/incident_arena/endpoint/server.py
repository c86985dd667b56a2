"""The HTTP server of a scripted endpoint."""

import asyncio
import contextlib
import dataclasses
import json
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from aiohttp import web

from incident_arena.endpoint.api import Api
from incident_arena.endpoint.asked import Asked, Json
from incident_arena.endpoint.journal import Entry, Journal
from incident_arena.endpoint.player import Move, Player
from incident_arena.endpoint.protocols import say
from incident_arena.endpoint.reply import Reply, tokens, usage_of
from incident_arena.endpoint.routes import count, plain, route
from incident_arena.endpoint.script import Script, Step
from incident_arena.endpoint.sending import send_error, send_garbage, send_nothing, send_reply
from incident_arena.errors import InfrastructureError

LOOPBACK = "127.0.0.1"
LARGEST_BODY = 256 * 2**20
BAD_REQUEST = 400
CLIENT_HEADERS = ("Authorization", "x-api-key", "x-goog-api-key", "session_id", "session-id", "x-session-id")
PATIENCE_S = 1.0
"""How long open connections are waited for at the end."""


@dataclasses.dataclass(frozen=True)
class Endpoint:
    """A running endpoint: where it listens, and what was asked of it so far."""

    url: str
    port: int
    journal: Journal


@contextlib.asynccontextmanager
async def serving(
    script: Script, *, host: str = LOOPBACK, port: int = 0, log: Path | None = None
) -> AsyncIterator[Endpoint]:
    """Serve a script while the context lasts. Port 0 takes a free one.

    Raises:
        UserError: the log can't be written.
        InfrastructureError: the address can't be listened on.
    """
    journal = Journal(log)
    runner = web.AppRunner(
        _Handler(script, journal).app(), access_log=None, handler_cancellation=True, shutdown_timeout=PATIENCE_S
    )
    await runner.setup()
    try:
        site = web.TCPSite(runner, host, port)
        try:
            await site.start()
        except OSError as error:
            raise InfrastructureError(f"address {host}:{port}", f"can't be listened on: {error.strerror}") from None
        taken: int = runner.addresses[0][1]
        shown = f"[{host}]" if ":" in host else host
        yield Endpoint(f"http://{shown}:{taken}", taken, journal)
    finally:
        await runner.cleanup()
        journal.close()


class _Handler:
    """Answers requests, each with one line in the journal."""

    def __init__(self, script: Script, journal: Journal) -> None:
        self._player = Player(script)
        self._journal = journal
        self._closing = asyncio.Event()

    def app(self) -> web.Application:
        app = web.Application(client_max_size=LARGEST_BODY)
        app.router.add_route("*", "/{path:.*}", self._handle)

        async def close(_app: web.Application) -> None:
            self._closing.set()

        app.on_shutdown.append(close)
        return app

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        upgrade = request.headers.get("Upgrade", "").lower() == "websocket"
        found = route(request.method, request.path, upgrade=upgrade)
        api = found.api
        if api is None or found.what not in {"answer", "count"}:
            status, document = plain(found)
            return self._plain(request, status, document, api)
        try:
            body = json.loads(await request.read())
        except ValueError:
            body = None
        if not isinstance(body, dict):
            return self._refuse(request, api, "The body is no JSON object.")
        asked = api.read(body, found.model)
        if found.what == "count":
            return self._plain(request, 200, count(api, tokens(asked.size)), api)
        asked = dataclasses.replace(asked, stream=asked.stream or found.stream)
        move = self._player.move(asked, _key(request))
        try:
            reply = self._reply(asked, move)
        except LookupError as error:
            return self._refuse(request, api, str(error))
        self._log(request, api, asked, move, reply)
        return await self._send(request, api, asked, move.step, reply)

    def _reply(self, asked: Asked, move: Move) -> Reply | None:
        """What is said; None for a fault in which nothing is."""
        step = move.step
        if step.refuse:
            return Reply(usage_of(asked, "", None), refused="filter" if step.refuse == "filter" else "model")
        if step.cut:
            step = self._player.answer_after(move)
        if not step.is_turn:
            return None
        text, call = say(step, asked)
        return Reply(usage_of(asked, text, call), text=text, call=call)

    async def _send(
        self, request: web.Request, api: Api, asked: Asked, step: Step, reply: Reply | None
    ) -> web.StreamResponse:
        if reply is not None:
            return await send_reply(request, api, asked, reply, cut=bool(step.cut))
        if step.status is not None:
            return send_error(api, step)
        if step.hang is not None:
            return await send_nothing(request, asked, step, self._closing)
        return send_garbage(asked)

    def _plain(self, request: web.Request, status: int, document: Json, api: Api | None = None) -> web.Response:
        """An answer that the script has no part in."""
        self._note(request, status, api)
        return web.json_response(document, status=status)

    def _refuse(self, request: web.Request, api: Api, why: str) -> web.Response:
        return self._plain(request, BAD_REQUEST, api.failure(Step(status=BAD_REQUEST, message=why)), api)

    def _log(self, request: web.Request, api: Api, asked: Asked, move: Move, reply: Reply | None) -> None:
        figures: dict[str, int] = {}
        if reply and not move.step.cut:
            figures = {
                "input_tokens": reply.usage.input,
                "cached_tokens": reply.usage.cached,
                "cache_write_tokens": reply.usage.written,
                "output_tokens": reply.usage.output,
            }
        self._note(
            request,
            move.step.status or 200,
            api,
            model=asked.model,
            stream=asked.stream,
            conversation=move.conversation,
            step=move.number,
            kind="beside" if move.beside else move.step.kind if move.number else "over",
            **figures,
        )

    def _note(self, request: web.Request, status: int, api: Api | None, **more: Any) -> None:
        name = api.name if api else ""
        entry = Entry(time=time.time(), method=request.method, path=request.path, api=name, status=status, **more)
        self._journal.write(entry)


def _key(request: web.Request) -> str:
    """What tells one client from another; only its hash is kept."""
    found = [request.headers.get(name, "") for name in CLIENT_HEADERS]
    return "\0".join([*found, request.query.get("key", "")])
