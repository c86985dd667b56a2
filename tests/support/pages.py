"""The commands that README and docs tell to type, as their pages have them."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROGRAMS = ("./arena", "./test", "make", ".venv/bin/python", ".venv/bin/harbor")
VARIABLES = re.compile(r"^(?:\w+=\S+ )+")
OPTIONAL = re.compile(r"\[([^\]]*)\]")
FENCES = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)


def pages(root: Path) -> list[str]:
    """README and all of docs/, by their paths below a checkout."""
    return ["README.md", *sorted(str(page.relative_to(root)) for page in (root / "docs").rglob("*.md"))]


def commands(page: Path) -> list[str]:
    """Lines of code blocks that begin with one of our programs, variables set before it kept; trailing \\ joined."""
    found, fenced = [], False
    for line in re.sub(r"\\\n\s*", "", page.read_text()).splitlines():
        if line.startswith("```"):
            fenced = not fenced
        elif fenced or line.startswith("    "):
            text = line.strip()
            if program(text) in PROGRAMS:
                found.append(text)
    return found


def shell_lines(page: Path) -> list[str]:
    """Every line of the blocks that are marked as shell, comments and blank lines left out."""
    blocks = [block for language, block in FENCES.findall(page.read_text()) if language in {"sh", "bash", "console"}]
    lines = [line.strip() for block in blocks for line in re.sub(r"\\\n\s*", "", block).splitlines()]
    return [line for line in lines if line and not line.startswith("#")]


def program(text: str) -> str:
    """What a command starts."""
    return VARIABLES.sub("", text).split(" ")[0]


def whole(text: str) -> str:
    """A command with each part that may be left out typed."""
    return OPTIONAL.sub(r"\1", text)
