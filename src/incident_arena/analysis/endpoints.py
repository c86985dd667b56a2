"""Endpoints that speak OpenAI's chat completions or Anthropic's messages: one question, one answer."""

import asyncio
import json
from dataclasses import dataclass
from typing import Any, Literal

import aiohttp

from incident_arena.errors import ArenaError, UserError

type Api = Literal["openai", "anthropic"]

ANTHROPIC_VERSION = "2023-06-01"
MAX_OUTPUT_TOKENS = 2_000
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


async def ask(session: aiohttp.ClientSession, endpoint: Endpoint, system: str, question: str) -> Answer:
    """Ask once.

    Raises:
        UserError: the endpoint does not know the key, the model or the path.
        BusyError: overloaded, over a rate limit, or not reachable.
        AnswerError: any other refusal of the request, or an answer in another shape.
    """
    url, headers, body = _request(endpoint, system, question)
    thing = f"judge at {endpoint.url}"
    try:
        timeout = aiohttp.ClientTimeout(total=endpoint.timeout_s)
        async with session.post(url, headers=headers, json=body, timeout=timeout) as response:
            text = await response.text()
    except (aiohttp.ClientError, TimeoutError, asyncio.IncompleteReadError) as error:
        raise BusyError(thing, f"{type(error).__name__}: {error}") from error
    brief = " ".join(text.split())[:300]
    if response.status in TELL_USER:
        raise UserError(thing, f"HTTP {response.status}: {brief}", "check --endpoint, --model and the key's variable")
    if response.status in TRY_AGAIN:
        raise BusyError(thing, f"HTTP {response.status}: {brief}")
    if response.status != OK:
        raise AnswerError(thing, f"HTTP {response.status}: {brief}")
    try:
        document = json.loads(text)
        return _openai(document) if endpoint.api == "openai" else _anthropic(document)
    except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
        raise AnswerError(thing, f"not an answer of the {endpoint.api} API: {brief}") from error


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
        text=refusal or choice["message"].get("content") or "",
        refused=bool(refusal) or choice.get("finish_reason") == "content_filter",
        input_tokens=usage.get("prompt_tokens"),
        output_tokens=usage.get("completion_tokens"),
    )


def _anthropic(document: dict[str, Any]) -> Answer:
    usage = document.get("usage") or {}
    return Answer(
        text="".join(part.get("text", "") for part in document["content"] if part.get("type") == "text"),
        refused=document.get("stop_reason") == "refusal",
        input_tokens=usage.get("input_tokens"),
        output_tokens=usage.get("output_tokens"),
    )
