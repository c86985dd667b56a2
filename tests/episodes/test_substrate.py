"""A second application, made of its folder alone: the core is told where it stands, and nothing else."""

import json
import os
import sys
from pathlib import Path

import pytest

from incident_arena import proc

pytestmark = [pytest.mark.episode, pytest.mark.timeout(600)]
TALLY = Path(__file__).parents[1] / "substrates" / "tally"


@pytest.mark.parametrize(
    ("task", "agent", "reward", "failure_class"),
    [
        ("writes-refused", "oracle", 1, None),  # draws, and five kinds of challenge
        ("writes-refused", "nop", 0, "never declared"),
        ("complaint-after-rollback", "oracle", 1, None),  # nothing is broken; two scenes
    ],
)
def test_its_tasks_are_played(tmp_path: Path, task: str, agent: str, reward: int, failure_class: str | None) -> None:
    argv = [
        f"{sys.prefix}/bin/arena",
        "run",
        f"tally/{task}",
        "-a",
        agent,
        "--yes",
        "--jobs",
        tmp_path,
        "--json",
    ]
    told = proc.run(argv, deadline_s=580, env={**os.environ, "ARENA_SUBSTRATES": str(TALLY)}, cwd=tmp_path)
    [trial] = json.loads(told.stdout)
    assert (trial["reward"], trial["failure_class"]) == (reward, failure_class), trial["reason"]
