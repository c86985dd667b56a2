"""Answers and faults as bytes on the wire."""

import asyncio
import contextlib
import json
from typing import Any

from aiohttp import web

from incident_arena.endpoint.api import Api
from incident_arena.endpoint.asked import Asked
from incident_arena.endpoint.reply import Reply, new_id
from incident_arena.endpoint.script import Step

RATE_LIMITED = 429
USUAL_RETRY_AFTER_S = 1
GARBAGE = b"\x00\xff<<< neither JSON nor an event >>>\n" * 8


def send_error(api: Api, step: Step) -> web.Response:
    """An HTTP error as the API's provider gives it."""
    assert step.status is not None
    headers = _names()
    after = step.retry_after
    if after is None and step.status == RATE_LIMITED:
        after = USUAL_RETRY_AFTER_S
    if after is not None:
        headers["Retry-After"] = f"{after:g}"
    return web.json_response(api.failure(step), status=step.status, headers=headers)


def send_garbage(asked: Asked) -> web.Response:
    """200 and what no client can read."""
    return web.Response(body=GARBAGE, headers=_headers(stream=asked.stream))


async def send_nothing(request: web.Request, asked: Asked, step: Step, closing: asyncio.Event) -> web.StreamResponse:
    """Headers, then nothing, and the connection is closed; a client that goes away cancels this."""
    response = web.StreamResponse(headers=_headers(stream=asked.stream))
    await response.prepare(request)
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(closing.wait(), None if step.hang is True else step.hang)
    _hang_up(request)
    return response


async def send_reply(request: web.Request, api: Api, asked: Asked, reply: Reply, *, cut: bool) -> web.StreamResponse:
    """The answer, streamed where that was asked for; `cut` breaks it off in its middle."""
    if not asked.stream:
        return await _send_document(request, api.whole(asked, reply), cut=cut)
    if api.name == "gemini" and request.query.get("alt") != "sse":  # its streams are a JSON list unless told otherwise
        return await _send_document(request, [api.whole(asked, reply)], cut=cut)
    chunks = list(api.events(asked, reply))
    response = web.StreamResponse(headers=_headers(stream=True))
    await response.prepare(request)
    for chunk in chunks[: max(1, len(chunks) // 2)] if cut else chunks:
        await response.write(chunk)
    if cut:
        _hang_up(request)
    else:
        await response.write_eof()
    return response


async def _send_document(request: web.Request, document: Any, *, cut: bool) -> web.StreamResponse:
    body = json.dumps(document).encode()
    if not cut:
        return web.Response(body=body, headers=_headers(stream=False))
    response = web.StreamResponse(headers=_headers(stream=False) | {"Content-Length": str(len(body))})
    await response.prepare(request)
    await response.write(body[: len(body) // 2])
    _hang_up(request)
    return response


def _names() -> dict[str, str]:
    """The request's name; providers differ in the header that they give it in."""
    name = new_id("req_")
    return {"request-id": name, "x-request-id": name}


def _headers(*, stream: bool) -> dict[str, str]:
    kind = "text/event-stream" if stream else "application/json"
    return {"Content-Type": kind, "Cache-Control": "no-cache", **_names()}


def _hang_up(request: web.Request) -> None:
    """End the connection with the answer unfinished: what was written still goes out."""
    if request.transport:
        request.transport.close()
