"""What the command line says: progress and errors on standard error, results on standard output."""

import json
from typing import Any

from rich.console import Console

console = Console(stderr=True)
output = Console()


def say(text: str) -> None:
    """A line of progress."""
    console.print(text, style="dim", highlight=False, markup=False)


def print_json(document: Any) -> None:
    """The one JSON document of a `--json` run."""
    print(json.dumps(document, indent=1))  # noqa: T201  rich would wrap it
