"""A request for an answer, in words common to all four APIs.

What others send is taken as it comes: a part that is not of the expected shape counts as absent.
"""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

type Json = dict[str, Any]


@dataclass(frozen=True)
class Tool:
    """A tool that the request offers. `kind`: "function", or a type of its own that needs a call of its own."""

    name: str
    schema: Json
    kind: str = "function"


@dataclass(frozen=True)
class Turn:
    """One turn of the model, as the client remembers it."""

    text: str
    calls: int


@dataclass(frozen=True)
class Line:
    """One message or item of the conversation. `mine`: the model's."""

    mine: bool
    user: bool
    text: str
    calls: int
    size: int


@dataclass(frozen=True)
class Asked:
    """One request.

    `size` and `known` are characters: of all that the model would read, and of that which it read in the request
    before this one. `session` is what the client itself calls the session, where it says so.
    """

    model: str
    stream: bool
    tools: tuple[Tool, ...]
    turns: tuple[Turn, ...]
    system: str
    first: str
    newest: str
    size: int
    known: int
    session: str = ""
    form: Json | None = None
    """JSON Schema that the answer has to keep to."""
    wants_usage: bool = True
    """Whether a stream has to tell the usage."""
    marks_cache: bool = False


type Reader = Callable[[Json, str], Asked]
"""Reads a body; the text is the model that the path named."""


def size_of(document: Any) -> int:
    """Characters of a document as compact JSON."""
    return len(json.dumps(document, ensure_ascii=False, separators=(",", ":")))


def dicts(value: Any) -> list[Json]:
    """The objects in a list; none where there is no list."""
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def table(value: Any) -> Json:
    """An object; an empty one where there is none."""
    return value if isinstance(value, dict) else {}


def words(content: Any) -> str:
    """The text of a message's content, which is a string or a list of parts."""
    if isinstance(content, str):
        return content
    found = [part.get("text") for part in dicts(content)]
    return "\n".join(text for text in found if isinstance(text, str))


def conversation(lines: Iterable[Line], frame: Any) -> Json:
    """What an Asked says of a conversation; `frame` is what goes before it at each request (system, tools).

    Neighbouring lines of the model are one turn: some APIs have an item for each call and each text.
    """
    turns: list[Turn] = []
    before = None
    known = 0
    size = size_of(frame)
    users: list[str] = []
    for line in lines:
        if line.mine:
            calls = line.calls
            text = line.text
            if before is not None and before.mine:
                last = turns.pop()
                calls, text = calls + last.calls, "\n".join(filter(None, (last.text, text)))
            else:
                known = size
            turns.append(Turn(text, calls))
        elif line.user:
            users.append(line.text)
        size += line.size
        before = line
    return {
        "turns": tuple(turns),
        "first": users[0] if users else "",
        "newest": users[-1] if users else "",
        "size": size,
        "known": known,
    }
