"""What the command line says of a verb. The script `admin` knows none: it makes its commands of this, sent as JSON.

An argument's value goes into the request's path where that has a placeholder of its name, else into the query (GET) or
the body.
"""

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, Literal

type Listed = dict[str, Any]
"""JSON. What is as by default is left out."""


@dataclass(frozen=True)
class Argument:
    """One argument, positional (`component`) or an option (`--lines`)."""

    name: str
    help: str = ""
    type: Literal["text", "number"] = "text"
    takes: Literal["one", "some", "rest", "nothing"] = "one"
    """`some`: one or more; `rest`: whatever follows, options too; `nothing`: an option by itself."""
    metavar: str = ""
    choices: tuple[str, ...] = ()
    default: str | int | None = None
    required: bool = False
    """For an option."""
    into: str = ""
    """What the request calls it; empty: its name. Of several that go into the same one may be given."""
    value: Any = True
    """What stands in the request for an option that takes nothing."""


@dataclass(frozen=True)
class Group:
    """Commands with the same first word. Its arguments stand between that and the second."""

    word: str
    help: str
    arguments: tuple[Argument, ...] = ()


@dataclass(frozen=True)
class Command:
    """One command. It may be one of several for the same verb."""

    name: str
    help: str
    arguments: tuple[Argument, ...] = ()
    group: Group | None = None
    narrows: bool = False
    """Whether a further word picks one name of the answer."""
    fixed: Mapping[str, Any] = field(default_factory=dict)
    """What the body has besides the arguments."""

    @property
    def words(self) -> str:
        """As it is typed, without arguments."""
        return f"{self.group.word} {self.name}" if self.group else self.name


def listed(part: Argument | Group | Command) -> Listed:
    """A part as JSON."""
    shown: Listed = {}
    for each in fields(part):
        value = getattr(part, each.name)
        default = each.default if each.default_factory is MISSING else each.default_factory()
        if value != default:
            shown[each.name] = _plain(value)
    return shown


def _plain(value: Any) -> Any:
    if isinstance(value, Argument | Group | Command):
        return listed(value)
    return [_plain(each) for each in value] if isinstance(value, tuple) else value
