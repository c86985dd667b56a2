"""What README and docs tell to type exists: each verb, option and file, without uv, which nobody has installed."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.core import TyperGroup

from incident_arena.cli.main import command_line

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "src").rglob("README.md"))]
PROGRAMS = ("./arena", "./test", "make", ".venv/bin/python", ".venv/bin/harbor")
OPTIONAL = re.compile(r"\[[^\]]*\]")


def commands(page: Path) -> list[str]:
    """Lines of code blocks that begin with one of our programs, after variables; comments and trailing \\ taken off."""
    found, fenced = [], False
    for line in re.sub(r"\\\n\s*", "", page.read_text()).splitlines():
        if line.startswith("```"):
            fenced = not fenced
        elif fenced or line.startswith("    "):
            text = re.sub(r"^(\w+=\S+ )+", "", line.strip())
            if text.split(" ")[0] in PROGRAMS:
                found.append(text)
    return found


ALL = [pytest.param(text, id=f"{page.name}: {text[:60]}") for page in PAGES for text in commands(page)]


@pytest.fixture(scope="module")
def arena() -> TyperGroup:
    made = typer.main.get_command(command_line([]))
    assert isinstance(made, TyperGroup)
    return made


def parse(command: Any, arguments: list[str]) -> None:
    """Take a command line apart as it would be, without running it."""
    context = command.make_context(command.name, arguments)
    if isinstance(command, TyperGroup):
        name, made, rest = command.resolve_command(context, [*context._protected_args, *context.args])
        assert made is not None, name
        parse(made, rest)


def check_arena(arena: TyperGroup, words: list[str]) -> None:
    parse(arena, words)


@pytest.mark.parametrize("text", ALL)
def test_a_command_of_the_docs_can_be_typed(arena: TyperGroup, text: str) -> None:
    # What may be left out is typed, each part of it.
    program, *words = shlex.split(OPTIONAL.sub(lambda part: part[0][1:-1], text), comments=True)
    match program:
        case "./arena":
            check_arena(arena, words)
        case "./test":
            script = (ROOT / "test").read_text()
            assert all(f"{word})" in script for word in words)
        case "make":
            targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
            assert words[0] in targets
        case ".venv/bin/python" if words[0] == "-m":
            module = words[1].replace(".", "/")
            assert (ROOT / "src" / f"{module}.py").exists() or (ROOT / "src" / module / "__main__.py").exists()
        case ".venv/bin/python":
            assert (ROOT / words[0]).exists()


def test_there_are_commands_to_check() -> None:
    assert len(ALL) > 25


@pytest.mark.parametrize("wrong", ["./arena fly", "./arena run x --no-such-option", "./arena report"])
def test_a_wrong_command_would_be_seen(arena: TyperGroup, wrong: str) -> None:
    with pytest.raises(Exception, match=r"(?i)no such|missing"):
        check_arena(arena, shlex.split(wrong)[1:])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_nothing_that_is_not_installed_is_asked_for(page: Path) -> None:
    assert "uv run" not in page.read_text()
