"""Errors become one message and an exit status; a verb imports only what it needs."""

import subprocess
import sys
from pathlib import Path

import pytest

from incident_arena.cli import main
from incident_arena.errors import ArenaError, InfrastructureError, UserError


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (UserError("task 'x'", "is unknown", "arena task list"), 2),
        (InfrastructureError("node 'n'", "died", "see its logs"), 3),
    ],
)
def test_an_error_is_one_message_with_its_remedy(
    error: ArenaError, status: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(_arguments: list[str]) -> object:
        raise error

    monkeypatch.setattr(main, "command_line", fail)
    with pytest.raises(SystemExit) as ended:
        main.main()
    assert ended.value.code == status
    said = capsys.readouterr()
    assert said.out == ""
    assert f"{error.thing}: {error.reason}" in said.err
    assert f"remedy {error.remedy}" in said.err


def test_every_verb_is_there() -> None:
    verbs = {command.name for command in main.command_line([]).registered_commands}
    verbs |= {group.name for group in main.command_line([]).registered_groups}
    assert verbs == set(main.VERBS)


def test_a_node_verb_does_not_import_harbor_or_statistics() -> None:
    code = (
        "import sys; from incident_arena.cli.main import command_line; command_line(['node']); "
        "print(*sorted({'harbor', 'scipy', 'polars'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "\n"


def test_an_unknown_node_is_named_with_those_that_exist(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ARENA_HOME", str(tmp_path))
    monkeypatch.setattr(sys, "argv", ["arena", "node", "kubeconfig", "nowhere"])
    with pytest.raises(SystemExit) as ended:
        main.main()
    assert ended.value.code == 2
    assert "node 'nowhere': does not exist; there are: none" in capsys.readouterr().err
