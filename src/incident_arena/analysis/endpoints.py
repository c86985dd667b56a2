"""Endpoints that speak OpenAI's chat completions or Anthropic's messages: one question, one answer."""

import ipaddress
import json
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlsplit

import aiohttp

from incident_arena.analysis.spent import MOST_TOKENS
from incident_arena.errors import ArenaError, UserError
from incident_arena.plain import one_line

type Api = Literal["openai", "anthropic"]

ANTHROPIC_VERSION = "2023-06-01"
MAX_OUTPUT_TOKENS = 2_000
MAX_ANSWER_BYTES = 4 * 1024 * 1024
OK = 200
TELL_USER = frozenset({401, 403, 404})
TRY_AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})


class BusyError(ArenaError):
    """The endpoint can't answer now, and may later."""


class AnswerError(ArenaError):
    """The endpoint's answer can't be used."""


@dataclass(frozen=True)
class Endpoint:
    """Where a model answers.

    Attributes:
        api: which of the two ways it speaks.
        url: its base: what stands before `/chat/completions`, or before `/v1/messages`.
        model: the model to ask for.
        key: secret, sent as a header; empty where none is needed.
        timeout_s: seconds for one answer.
    """

    api: Api
    url: str
    model: str
    key: str = ""
    timeout_s: float = 300


@dataclass(frozen=True)
class Answer:
    """What came back. `refused`: the model or its provider declined, `text` says what it gave as reason."""

    text: str
    refused: bool
    input_tokens: int | None = None
    output_tokens: int | None = None


def check_address(url: str) -> None:
    """Refuse what no request can go to.

    Raises:
        UserError: it is no http or https address of a host, or it holds a secret or a query.
    """
    reason = ""
    try:
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname or parts.port == 0:
            reason = "it is no http:// or https:// address of a host"
        elif parts.username or parts.password:
            reason = "it holds a user or a password, which errors would show"
        elif parts.query or parts.fragment or not url.isprintable() or " " in url:
            reason = "it holds a query, a fragment or white space"
    except ValueError as error:
        reason = str(error)
    if reason:
        remedy = "name its base, like https://api.example/v1; the key goes into the variable of --key-env"
        raise UserError(f"endpoint '{url}'", reason, remedy)


def is_loopback(url: str) -> bool:
    """The address is this machine's own, which no proxy reaches."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def session(endpoint: Endpoint) -> aiohttp.ClientSession:
    """A session that goes through the host's proxy (HTTPS_PROXY, NO_PROXY), but not to this machine itself."""
    return aiohttp.ClientSession(trust_env=not is_loopback(endpoint.url))


async def ask(client: aiohttp.ClientSession, endpoint: Endpoint, system: str, question: str) -> Answer:
    """Ask once.

    Raises:
        UserError: the endpoint does not know the key, the model or the path.
        BusyError: overloaded, over a rate limit, not reachable, or over the time limit.
        AnswerError: any other refusal of the request, or an answer in another shape.
    """
    url, headers, body = _request(endpoint, system, question)
    thing = f"judge at {endpoint.url}"
    try:
        timeout = aiohttp.ClientTimeout(total=endpoint.timeout_s)
        # A redirect would carry the key to a host that the user never named.
        options: dict[str, Any] = {"timeout": timeout, "allow_redirects": False}
        async with client.post(url, headers=headers, json=body, **options) as response:
            data = await _body(response)
    except TimeoutError as error:
        raise BusyError(thing, f"no answer within {endpoint.timeout_s:g} s") from error
    except (aiohttp.ClientError, OSError, EOFError) as error:
        raise BusyError(thing, f"{type(error).__name__}: {error}") from error
    text = data.decode(errors="replace")
    brief = one_line(text[:1_000])[:300]
    if response.status in TELL_USER:
        raise UserError(thing, f"HTTP {response.status}: {brief}", "check --endpoint, --model and the key's variable")
    if response.status in TRY_AGAIN:
        raise BusyError(thing, f"HTTP {response.status}: {brief}")
    if response.status != OK:
        raise AnswerError(thing, f"HTTP {response.status}: {brief}")
    if len(data) > MAX_ANSWER_BYTES:
        raise AnswerError(thing, f"an answer of over {MAX_ANSWER_BYTES} bytes")
    try:
        document = json.loads(text)
        return _openai(document) if endpoint.api == "openai" else _anthropic(document)
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError) as error:
        raise AnswerError(thing, f"not an answer of the {endpoint.api} API: {brief}") from error


async def _body(response: aiohttp.ClientResponse) -> bytes:
    """The body up to one byte more than an answer may have."""
    data = b""
    while len(data) <= MAX_ANSWER_BYTES and (chunk := await response.content.read(MAX_ANSWER_BYTES + 1 - len(data))):
        data += chunk
    return data


def _request(endpoint: Endpoint, system: str, question: str) -> tuple[str, dict[str, str], dict[str, Any]]:
    base = endpoint.url.rstrip("/")
    if endpoint.api == "openai":
        headers = {"Authorization": f"Bearer {endpoint.key}"} if endpoint.key else {}
        messages = [{"role": "system", "content": system}, {"role": "user", "content": question}]
        return f"{base}/chat/completions", headers, {"model": endpoint.model, "messages": messages}
    headers = {"anthropic-version": ANTHROPIC_VERSION} | ({"x-api-key": endpoint.key} if endpoint.key else {})
    body = {
        "model": endpoint.model,
        "max_tokens": MAX_OUTPUT_TOKENS,
        "system": system,
        "messages": [{"role": "user", "content": question}],
    }
    return f"{base.removesuffix('/v1')}/v1/messages", headers, body


def _openai(document: dict[str, Any]) -> Answer:
    choice = document["choices"][0]
    refusal = choice["message"].get("refusal")
    usage = document.get("usage") or {}
    return Answer(
        text=_text(refusal or choice["message"].get("content")),
        refused=bool(refusal) or choice.get("finish_reason") == "content_filter",
        input_tokens=_count(usage.get("prompt_tokens")),
        output_tokens=_count(usage.get("completion_tokens")),
    )


def _anthropic(document: dict[str, Any]) -> Answer:
    usage = document.get("usage") or {}
    return Answer(
        text=_text(document["content"]),
        refused=document.get("stop_reason") == "refusal",
        input_tokens=_count(usage.get("input_tokens")),
        output_tokens=_count(usage.get("output_tokens")),
    )


def _text(content: object) -> str:
    """Text, or parts of which some are text; halves of surrogate pairs, which no file can hold, are replaced."""
    if content is None:
        return ""
    if isinstance(content, list):
        content = "".join(part.get("text") or "" for part in content if part.get("type") == "text")
    if not isinstance(content, str):
        raise TypeError(type(content).__name__)
    return content.encode("utf-8", "replace").decode()


def _count(value: object) -> int | None:
    return value if type(value) is int and 0 <= value < MOST_TOKENS else None
