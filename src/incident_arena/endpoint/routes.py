"""Which paths there are. Clients differ in whether their base URL holds the version, so it may be missing."""

import re
from dataclasses import dataclass
from typing import Literal

from incident_arena.endpoint import anthropic, chat, gemini, responses
from incident_arena.endpoint.api import Api
from incident_arena.endpoint.asked import Json

MODEL = "scripted"
"""The one model that is listed; a request may ask for any."""
_VERSION = re.compile(r"^/v1(beta|alpha)?(?=/)")
_GEMINI = re.compile(r"^/models/(?P<model>[^:]+):(?P<action>\w+)$")
_ANSWERS = {"/messages": anthropic.API, "/responses": responses.API, "/chat/completions": chat.API}
_COUNTS = {"/messages/count_tokens": anthropic.API, "/responses/input_tokens": responses.API}
_GEMINI_ACTIONS: dict[str, tuple[Literal["answer", "count"], bool]] = {
    "generateContent": ("answer", False),
    "streamGenerateContent": ("answer", True),
    "countTokens": ("count", False),
}


@dataclass(frozen=True)
class Route:
    """What a request is for. `model` and `stream` where the path tells them."""

    what: Literal["answer", "count", "models", "root", "socket", "unknown"]
    api: Api | None = None
    model: str = ""
    stream: bool = False


def route(method: str, path: str, *, upgrade: bool) -> Route:
    """The route of a request."""
    if upgrade:
        return Route("socket")
    short = _VERSION.sub("", path)
    if method == "POST":
        return _posted(short)
    if method in {"GET", "HEAD"} and short in {"/", ""}:
        return Route("root")
    if method == "GET" and short == "/models":
        return Route("models", gemini.API if path.startswith("/v1beta") else None)
    return Route("unknown")


def _posted(path: str) -> Route:
    if api := _ANSWERS.get(path):
        return Route("answer", api)
    if api := _COUNTS.get(path):
        return Route("count", api)
    named = _GEMINI.match(path)
    if named and named["action"] in _GEMINI_ACTIONS:
        what, stream = _GEMINI_ACTIONS[named["action"]]
        return Route(what, gemini.API, named["model"], stream)
    return Route("unknown")


def plain(found: Route) -> tuple[int, Json]:
    """Status and document of what isn't answered by a model."""
    match found.what:
        case "root":
            return 200, {}
        case "models":
            return 200, _models(found.api)
        case "socket":
            # codex opens a web socket first: 426 alone makes it go on over HTTP at once
            return 426, {"error": {"type": "upgrade_required", "message": "There are no web sockets here; use HTTP."}}
    return 404, {"error": {"type": "not_found_error", "message": "There is no such path."}}


def _models(api: Api | None) -> Json:
    """The list of models; OpenAI's and Anthropic's share a path, so theirs has the fields of both."""
    if api is gemini.API:
        methods = ["generateContent", "countTokens"]
        return {"models": [{"name": f"models/{MODEL}", "supportedGenerationMethods": methods}]}
    entry = {"id": MODEL, "object": "model", "created": 0, "owned_by": "incident-arena"}
    entry |= {"type": "model", "display_name": MODEL, "created_at": "2026-01-01T00:00:00Z"}
    return {"object": "list", "data": [entry], "has_more": False, "first_id": MODEL, "last_id": MODEL}


def count(api: Api, tokens: int) -> Json:
    """The answer to a count of tokens."""
    return {"totalTokens": tokens} if api is gemini.API else {"input_tokens": tokens}
