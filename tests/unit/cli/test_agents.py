"""`arena agents`, and what `arena run` refuses before it does anything."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from incident_arena.folders import PACKAGE
from incident_arena.images import agents, build
from incident_arena.settings import Settings


def arena(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "ARENA_HOME": str(home), "COLUMNS": "200"}
    argv = [f"{sys.prefix}/bin/arena", *arguments]
    return subprocess.run(argv, env=environment, capture_output=True, text=True, timeout=100, check=False)


def test_the_list_tells_which_run_and_which_are_built(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    settings.images.mkdir()
    [planned] = build.list_images(settings, ["agent-codex"], PACKAGE)
    planned.image.archive.write_bytes(b"x" * 300_000)
    ended = arena(tmp_path, "agents", "list", "--json")
    assert ended.returncode == 0, ended.stderr
    rows = {row["agent"]: row for row in json.loads(ended.stdout)}
    version = agents.recipes(PACKAGE)["codex"].version
    assert rows["codex"] == {"agent": "codex", "kind": "installed", "version": version, "built": True, "mb": 0.3}
    assert rows["claude-code"]["built"] is False
    assert rows["terminus-2"] == {
        "agent": "terminus-2", "kind": "on the host", "version": None, "built": None, "mb": None,
    }  # fmt: skip
    assert rows["goose"]["kind"] == "not supported"
    shown = arena(tmp_path, "agents", "list")
    assert [line.split() for line in shown.stdout.splitlines() if "codex" in line] == [
        ["codex", "installed", version, "True", "0.3"]
    ]


def test_an_agent_that_is_not_there_is_refused_with_those_that_are(tmp_path: Path) -> None:
    ended = arena(tmp_path, "agents", "build", "claude")
    assert ended.returncode == 2
    assert "agent 'claude': is unknown" in ended.stderr
    assert "claude-code, codex, gemini-cli, mini-swe-agent" in ended.stderr
    assert arena(tmp_path, "agents", "build", "codex@latest").returncode == 2
    assert "has no image of its own" in arena(tmp_path, "agents", "build", "oracle").stderr
    assert not (tmp_path / "images").exists()


def test_a_run_refuses_an_agent_without_a_recipe_before_anything_starts(tmp_path: Path) -> None:
    ended = arena(tmp_path, "run", "frappe/deletes-and-jobs-fail", "--agent", "goose", "--yes")
    assert ended.returncode == 2
    assert "write images/agent_recipes/goose.toml" in ended.stderr
    assert not (tmp_path / "images").exists()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["-a", "codex"], "needs a model"),
        (["-a", "codex", "-m", "gpt-6"], "no provider in front"),
        (["-a", "codex", "-m", "openai/gpt-6", "--agent-env", "OPENAI_API_KEY="], "has no key"),
        (["-a", "codex", "-m", "openai/gpt-6", "--agent-env", "NO_SUCH_KEY"], "is not set"),
    ],
)
def test_a_run_refuses_an_agent_that_could_not_reach_its_model_before_anything_is_built(
    tmp_path: Path, arguments: list[str], told: str
) -> None:
    ended = arena(tmp_path, "run", "frappe/deletes-and-jobs-fail", *arguments, "--yes")
    assert ended.returncode == 2
    assert told in ended.stderr
    assert "remedy" in ended.stderr
    assert "will " not in ended.stderr
    assert not (tmp_path / "images").exists()
