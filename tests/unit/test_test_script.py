"""`./test`, with stand-ins for all that it starts: what it runs, in which order, and what ends it."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CHECKS = ["ruff check", "ruff format --check --quiet", "mypy", "lint-imports"]
UNIT = "pytest -q tests/unit"
EPISODES = "pytest -q tests/node tests/episodes"
LONG = [f"--ignore=tests/episodes/test_{name}.py" for name in ("harbor", "play", "pages")]
PACKAGES = ("mariadbd", "redis-server", "chromium", "tmux")


@pytest.fixture
def script(tmp_path: Path) -> Path:
    shutil.copy(ROOT / "test", tmp_path / "test")
    for program in (
        "arena",
        *(f".venv/bin/{each.split()[0]}" for each in (*CHECKS, UNIT)),
        *(f"bin/{one}" for one in PACKAGES),
    ):
        stand_in = tmp_path / program
        stand_in.parent.mkdir(parents=True, exist_ok=True)
        stand_in.write_text(
            f'#!/bin/sh\necho "{stand_in.name} $*" >>{tmp_path}/said\ntest ! -e {tmp_path}/fail-{stand_in.name}\n'
        )
        stand_in.chmod(0o755)
    for tool in ("sh", "dirname", "env"):
        found = shutil.which(tool)
        assert found
        (tmp_path / "bin" / tool).symlink_to(found)
    return tmp_path


def run(script: Path, *options: str) -> tuple[int, list[str], str]:
    environment = {"PATH": str(script / "bin")}
    ended = subprocess.run(
        [script / "test", *options], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    said = script / "said"
    return ended.returncode, said.read_text().splitlines() if said.exists() else [], ended.stderr


def lines(*commands: str) -> list[str]:
    return ["arena --help", *(command if " " in command else f"{command} " for command in commands)]


@pytest.mark.parametrize(
    ("options", "commands"),
    [
        (["--yes"], [*CHECKS, "arena setup --yes", UNIT, "pytest -q tests/browser", " ".join([EPISODES, *LONG])]),
        (["--episodes", "--yes"], [*CHECKS, "arena setup --yes", UNIT, "pytest -q tests/browser", EPISODES]),
        (["--unit"], [*CHECKS, UNIT]),
    ],
)
def test_each_step_is_run_in_its_order(script: Path, options: list[str], commands: list[str]) -> None:
    status, said, _ = run(script, *options)
    assert (status, said) == (0, lines(*commands))


@pytest.mark.parametrize(("failing", "ran"), [("ruff", 2), ("mypy", 4), ("pytest", 7)])
def test_a_step_that_fails_ends_it(script: Path, failing: str, ran: int) -> None:
    (script / f"fail-{failing}").touch()
    status, said, _ = run(script, "--yes")
    assert status != 0
    assert len(said) == ran
    assert said[-1].startswith(failing)


def test_what_is_missing_is_said_before_anything_runs(script: Path) -> None:
    (script / "bin" / "tmux").unlink()
    status, said, told = run(script)
    assert (status, said) == (2, [])
    assert "will install the Debian packages tmux" in told
    assert "remedy: repeat with --yes" in told


def test_an_unknown_option_is_refused(script: Path) -> None:
    assert run(script, "--fast")[:2] == (2, [])
