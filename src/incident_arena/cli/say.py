"""What the command line says: progress and errors on standard error, results on standard output."""

import contextlib
import json
from collections.abc import Callable, Iterator
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from incident_arena.plain import json_safe, plain


class PlainConsole(Console):
    """A console on which text is text.

    Names of folders, agents' output and endpoints' answers are printed by every verb. Styles are set apart from text
    here, so that no text needs to hold an escape sequence or markup: the ones that come in it are shown, not obeyed.
    """

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, markup=False, emoji=False)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        """As rich does, without control characters in what is text."""
        for segment in super().render(renderable, options):
            if segment.control or segment.text.isprintable():
                yield segment
            else:
                yield Segment(plain(segment.text), segment.style)


console = PlainConsole(stderr=True)
output = PlainConsole()


def say(text: str) -> None:
    """A line of progress, never broken: commands and paths in it can be copied, and found by a program."""
    console.print(Text(text), style="dim", highlight=False, soft_wrap=True)


@contextlib.contextmanager
def working(title: str) -> Iterator[Callable[[str], None]]:
    """Lines of progress, each kept; on a terminal the last one moves below them until the block ends."""
    with console.status(Text(title)) as status:

        def show(text: str) -> None:
            say(text)
            status.update(Text(text))

        yield show


def print_json(document: Any) -> None:
    """The one JSON document of a `--json` run."""
    print(json_safe(json.dumps(document, indent=1)))  # noqa: T201  rich would wrap it
