"""What README and docs tell to type exists: each verb, option and file, without uv, which nobody has installed."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer
from tests.support.pages import PROGRAMS, ROOT, VARIABLES, commands, pages, program, shell_lines, whole
from typer.core import TyperGroup

from incident_arena.cli.main import command_line

PAGES = [*(ROOT / page for page in pages(ROOT)), *sorted((ROOT / "src").rglob("README.md"))]
INLINE = re.compile(r"`((?:\w+=\S+ )*(?:\./arena|\./test|\.venv/bin/\w+) [^`]+)`")


def written(page: Path) -> list[str]:
    """The commands of a page: of its code blocks, and those within its text."""
    return [*commands(page), *INLINE.findall(page.read_text().replace("\n", " "))]


ALL = [pytest.param(text, id=f"{page.name}: {text[:60]}") for page in PAGES for text in written(page)]


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
    named, *words = shlex.split(VARIABLES.sub("", whole(text)), comments=True)
    match named:
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
def test_a_shell_block_holds_commands_of_ours_alone(page: Path) -> None:
    """So that none is overlooked by the tests of commands."""
    assert [line for line in shell_lines(page) if program(line) not in PROGRAMS] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_nothing_that_is_not_installed_is_asked_for(page: Path) -> None:
    assert "uv run" not in page.read_text()
