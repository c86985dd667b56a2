"""`arena run` as a program: what is on standard output, and the exit status."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.support import evidence as evidences
from tests.unit.harbor.conftest import EPISODE, NAME, Stage, checkout, settings, spec, stage

from incident_arena.node import build as node_build

__all__ = ["checkout", "settings", "spec", "stage"]


def arena(stage: Stage, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [f"{sys.prefix}/bin/arena", *arguments],
        cwd=stage.catalogue.root,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


def run(stage: Stage, *arguments: str, **plan: Any) -> subprocess.CompletedProcess[str]:
    stage.plan(**plan)
    return arena(stage, "run", NAME, "--episode", EPISODE, *arguments)


def test_json_is_one_document_with_every_field(stage: Stage) -> None:
    ended = run(stage, "--agent", "oracle", "--json", evidence=stage.evidence())
    assert ended.returncode == 0, ended.stderr
    [trial] = json.loads(ended.stdout)
    assert {"task", "agent", "reward", "gates", "checks", "failure_class", "admissible", "stages", "peak_memory_mb",
            "job_dir"} <= set(trial)  # fmt: skip
    assert (trial["task"], trial["agent"], trial["reward"]) == (NAME, "oracle", 1.0)
    assert {"name", "verdict", "reason"} == set(trial["checks"][0])
    assert {"name", "seconds"} == set(trial["stages"][0])
    assert Path(trial["job_dir"]).parent == stage.catalogue.root / "jobs"


def test_a_zero_is_no_error_and_people_see_why(stage: Stage) -> None:
    nothing = stage.evidence(fixed=dict.fromkeys(evidences.FAULTS), declared=None)
    ended = run(stage, "--agent", "nop", evidence=nothing)
    assert ended.returncode == 0, ended.stderr
    assert "reward: 0" in ended.stdout
    assert "class: never declared" in ended.stdout
    assert "declared" in ended.stdout
    assert "ready" in ended.stderr


def test_an_episode_that_never_starts_is_status_3(stage: Stage) -> None:
    ended = run(stage, "--json", "--max-retries", "0", evidence=stage.evidence(), fail=5)
    assert ended.returncode == 3, ended.stderr
    [trial] = json.loads(ended.stdout)
    assert (trial["reward"], trial["admissible"]) == (None, False)


def test_no_verdict_is_status_3_and_says_why(stage: Stage) -> None:
    ended = run(stage)
    assert ended.returncode == 3
    assert "no verdict: no reward: evidence 'manifest.json'" in ended.stdout


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("run", "frappe/nothing"), "there is no such task"),
        (("run", NAME, "--agent", "nobody", "--episode", EPISODE), "is unknown"),
        (("run", NAME, "--script", "none.sh", "--episode", EPISODE), "there is no such file"),
        (("run", NAME, "--agent", "nobody"), "is unknown"),
        (("run", NAME), "is not ready for episodes"),
        (("task", "export", "x"), "there is no such task"),
    ],
)
def test_a_users_mistake_is_status_2_with_a_remedy(stage: Stage, arguments: tuple[str, ...], told: str) -> None:
    ended = arena(stage, *arguments)
    assert ended.returncode == 2, ended.stderr
    assert told in ended.stderr
    assert "remedy" in ended.stderr
    assert ended.stdout == ""


def test_task_verbs(stage: Stage) -> None:
    assert json.loads(arena(stage, "task", "list", "--json").stdout)[0]["name"] == NAME
    assert "Mend it in 10 minutes." in arena(stage, "task", "show", NAME).stdout
    assert json.loads(arena(stage, "task", "validate", "--json").stdout) == {NAME: []}
    assert arena(stage, "task", "export", NAME).stdout.strip() == f"exported/{NAME}"
    assert (stage.catalogue.root / "exported" / NAME / "tests" / "test.sh").is_file()
    (stage.catalogue.folder(NAME) / "solution" / "solve.sh").unlink()
    assert arena(stage, "task", "validate").returncode == 2


def test_stale_proofs_are_told_and_no_error(stage: Stage) -> None:
    binaries = stage.settings.home / f"bin-{node_build.key()}"
    binaries.mkdir(parents=True)
    for name in ("helm", "coredns", "pause"):
        (binaries / name).write_text("#!/bin/sh\n")  # helm: a chart without images
        (binaries / name).chmod(0o755)
    stage.settings.bin.symlink_to(binaries.name)
    ended = arena(stage, "task", "prove", "--check")
    assert ended.returncode == 0, ended.stderr
    assert "stale: frappe/deletes-and-jobs-fail: solve, " in ended.stderr.replace("\n", " ")
    assert not (stage.catalogue.folder(NAME) / "proof.json").exists()
