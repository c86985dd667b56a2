"""What the verbs are made of: a route prepares an act from a call, and the server audits it and lets it take effect."""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from incident_arena.errors import UserError
from incident_arena.mistakes import mistakes
from incident_arena.verbs.command import Command

type Answer = dict[str, Any]
"""What a verb answers: one JSON object."""

type Kind = Literal["read", "change", "declare"]


class Refusal(UserError):  # noqa: N818 - it is an answer as much as an error
    """The admin interface does not do what was asked; `status` is the HTTP status that says so."""

    def __init__(self, thing: str, reason: str, remedy: str = "", *, status: int = 400) -> None:
        """As ArenaError; `status` is from 400 to 599."""
        super().__init__(thing, reason, remedy)
        self.status = status


class Body(BaseModel):
    """A request's JSON body; an unknown field is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


@dataclass(frozen=True)
class Call:
    """A request, taken apart: placeholders of the path, query, JSON body."""

    path: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] = field(default_factory=dict)

    def parse[T: Body](self, model: type[T]) -> T:
        """The body as `model`.

        Raises:
            Refusal: with every problem of the body, by field.
        """
        try:
            return model.model_validate(dict(self.body), strict=True)
        except ValidationError as error:
            problems = "; ".join(mistakes(error, "body"))
            fields = ", ".join(model.model_fields) or "none"
            raise Refusal("the request's body", problems, f"its fields are: {fields}") from error

    def option(self, name: str, choices: tuple[str, ...]) -> str:
        """A query parameter with a closed set of values; the first is the default.

        Raises:
            Refusal: another value.
        """
        value = self.query.get(name, choices[0])
        if value not in choices:
            raise Refusal(f"{name}={value}", "is not a choice", f"choose one of: {', '.join(choices)}")
        return value

    def number(self, name: str, default: int, most: int) -> int:
        """A query parameter that is a whole number from 1 to `most`.

        Raises:
            Refusal: it is not.
        """
        text = self.query.get(name, str(default))
        if not (text.isascii() and text.isdecimal() and 1 <= int(text) <= most):
            raise Refusal(f"{name}={text}", "is not a number in range", f"give a whole number from 1 to {most}")
        return int(text)


@dataclass(frozen=True)
class Act:
    """A validated act that has not taken effect yet. `what` and `detail` go into the audit."""

    what: str
    detail: str
    effect: Callable[[], Awaitable[Answer]]


@dataclass(frozen=True)
class Route:
    """One verb: its name in the audit, method and path (aiohttp's `{placeholder}`), kind, and what it is for.

    `commands` are the ways in which the command line offers it.
    """

    what: str
    method: Literal["GET", "PUT", "POST", "DELETE"]
    path: str
    kind: Kind
    prepare: Callable[[Call], Awaitable[Act]]
    help: str
    commands: tuple[Command, ...]


def detail(**parts: Any) -> str:
    """An audit detail: compact JSON with sorted keys."""
    return json.dumps(parts, sort_keys=True, separators=(",", ":"))


def one_of(thing: str, name: str, choices: Mapping[str, Any]) -> str:
    """`name`, if it is among `choices`.

    Raises:
        Refusal: 404, with the valid names.
    """
    if name not in choices:
        raise Refusal(
            f"{thing} {name!r}", "is not one of those managed here", f"choose: {', '.join(choices)}", status=404
        )
    return name
