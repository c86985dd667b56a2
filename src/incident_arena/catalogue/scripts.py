"""A task's scripts: right fixes in solution/, wrong ones in wrong/ with the class that each must get.

What the scripts of one application share is `library.sh` in the substrate's folder; it may be missing. The export puts
it beside the solution, and it is uploaded with a script that is played: `. "$(dirname "$0")/library.sh"`.
"""

from dataclasses import dataclass
from pathlib import Path

from incident_arena.errors import UserError
from incident_arena.formats.verdict import CLASSES, FailureClass

LIBRARY = "library.sh"
HEAD_LINES = 5
_CLASS = "# class:"
_REPEAT = "# repeat:"


@dataclass(frozen=True)
class WrongFix:
    """A script that must score 0 for one reason."""

    path: Path
    failure_class: FailureClass
    repeat: int = 1
    """How often it is played in a proof; more than once where timing matters."""


def right_fixes(folder: Path) -> list[Path]:
    """Scripts that must score 1: solve.sh first."""
    scripts = sorted((folder / "solution").glob("*.sh"))
    return sorted(scripts, key=lambda path: path.name != "solve.sh")


def wrong_fixes(folder: Path) -> list[WrongFix]:
    """Wrong fixes by name.

    Raises:
        UserError: a script does not say its class among its first lines, or there is no such class.
    """
    return [_wrong(path) for path in sorted((folder / "wrong").glob("*.sh"))]


def _wrong(path: Path) -> WrongFix:
    told = [line.removeprefix(_CLASS).strip() for line in _head(path) if line.startswith(_CLASS)]
    named = [one for one in CLASSES if told == [one]]
    if not named:
        reason = f"has class {told[0]!r}" if told else "does not say its class"
        raise UserError(f"wrong/{path.name}", reason, f"among its first lines: {_CLASS} one of {', '.join(CLASSES)}")
    repeats = [line.removeprefix(_REPEAT).strip() for line in _head(path) if line.startswith(_REPEAT)]
    if repeats and not repeats[0].isdigit():
        raise UserError(f"wrong/{path.name}", f"has repeat {repeats[0]!r}", f"{_REPEAT} a number")
    return WrongFix(path, named[0], int(repeats[0]) if repeats else 1)


def _head(path: Path) -> list[str]:
    return path.read_text().splitlines()[:HEAD_LINES]
