"""An answer, in words common to all four APIs, and its token figures."""

import json
import math
import secrets
from dataclasses import dataclass
from typing import Any

from incident_arena.endpoint.asked import Asked, Json

CHARACTERS_PER_TOKEN = 4
PIECE = 24
"""Characters in one delta: a text comes in several, as a model's does."""
REFUSAL = "I can't help with that request."


@dataclass(frozen=True)
class Usage:
    """Tokens. `cached` (read from a cache) and `written` (to it) are parts of `input`."""

    input: int
    cached: int
    written: int
    output: int

    @property
    def fresh(self) -> int:
        """Input that no cache had a part in."""
        return self.input - self.cached - self.written

    @property
    def total(self) -> int:
        """Input and output."""
        return self.input + self.output


@dataclass(frozen=True)
class Call:
    """A call of a tool. `kind` is the tool's."""

    name: str
    arguments: Json
    kind: str = "function"


@dataclass(frozen=True)
class Reply:
    """A text, a call, or both; or a refusal ("model" or "filter")."""

    usage: Usage
    text: str = ""
    call: Call | None = None
    refused: str = ""


def tokens(characters: int) -> int:
    """Tokens of a text of so many characters, rounded up."""
    return math.ceil(characters / CHARACTERS_PER_TOKEN)


def usage_of(asked: Asked, text: str, call: Call | None) -> Usage:
    """The figures of an answer: they follow from the request and the answer alone.

    What was in the request before this one comes from the cache. A client that marks what to cache pays for
    writing half of the rest, so that all the fields that a price list knows are used.
    """
    wanted, cached = tokens(asked.size), tokens(asked.known)
    written = (wanted - cached) // 2 if asked.marks_cache else 0
    said = len(text) + (len(call.name) + len(json.dumps(call.arguments)) if call else 0)
    return Usage(input=wanted, cached=cached, written=written, output=max(1, tokens(said)))


def new_id(prefix: str) -> str:
    """An identifier as the providers make them."""
    return prefix + secrets.token_hex(12)


def event(document: Any, name: str = "") -> bytes:
    """One server-sent event."""
    data = document if isinstance(document, str) else json.dumps(document)
    return (f"event: {name}\n" if name else "").encode() + f"data: {data}\n\n".encode()


def pieces(text: str) -> list[str]:
    """A text in the pieces in which it is streamed."""
    return [text[at : at + PIECE] for at in range(0, len(text), PIECE)]
