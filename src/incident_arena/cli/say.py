"""What the command line says: progress and errors on standard error, results on standard output."""

import contextlib
import json
from collections.abc import Callable, Iterator
from typing import Any

from rich.console import Console
from rich.markup import escape

console = Console(stderr=True)
output = Console()


def say(text: str) -> None:
    """A line of progress."""
    console.print(text, style="dim", highlight=False, markup=False)


@contextlib.contextmanager
def working(title: str) -> Iterator[Callable[[str], None]]:
    """Lines of progress, each kept; on a terminal the last one moves below them until the block ends."""
    with console.status(title) as status:

        def show(text: str) -> None:
            say(text)
            status.update(escape(text))

        yield show


def print_json(document: Any) -> None:
    """The one JSON document of a `--json` run."""
    print(json.dumps(document, indent=1))  # noqa: T201  rich would wrap it
