"""`arena run --experiment` and `--dry-run` as a program, on the fake cluster."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.support import evidence as evidences
from tests.unit.cli.test_run import arena, checkout, settings, spec, stage
from tests.unit.harbor.conftest import EPISODE, NAME, Stage

from incident_arena import wait

__all__ = ["checkout", "settings", "spec", "stage"]

ROOT = Path(__file__).parents[3]
AGENT = "tests.support.agents:Solver"
LONG_S = 600


def write(stage: Stage, efforts: str, trials: int) -> Path:
    file = stage.catalogue.root / "e.toml"
    file.write_text(
        f'version = 1\ntasks = ["{NAME}"]\ntrials = {trials}\n[[agents]]\nagent = "{AGENT}"\n'
        f'models = ["openai/gpt-6-sol"]\nefforts = {efforts}\nkwargs = {{ hold = "{stage.tmp}/hold" }}\n'
    )
    return file


def plan(stage: Stage, **more: Any) -> None:
    """Who solves gets the evidence of that, who does nothing that of an incident."""
    idle = evidences.build(fixed=dict.fromkeys(evidences.FAULTS), declared=None).write(stage.tmp / "idle")
    stage.plan(evidence=stage.evidence(), idle=str(idle), **more)


def play(stage: Stage, *arguments: str) -> subprocess.Popen[str]:
    argv = [f"{sys.prefix}/bin/arena", "run", "--experiment", "e.toml", "--job", "x", "--episode", EPISODE, "--json"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [*argv, *arguments], cwd=stage.catalogue.root, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, start_new_session=True,
    )  # fmt: skip


def verdicts(stage: Stage) -> dict[str, bytes]:
    folder = stage.catalogue.root / "jobs" / "x"
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("verdict.json"))}


@pytest.mark.timeout(LONG_S)
def test_what_was_interrupted_goes_on_and_what_has_a_verdict_stays(stage: Stage) -> None:
    write(stage, '["low", "high"]', 1)
    plan(stage)
    hold = stage.tmp / "hold"
    hold.write_text("")
    first = play(stage)
    try:
        wait.until("the agent works", lambda: (hold.read_text() == "reached", ""), deadline_s=LONG_S / 2)
        first.send_signal(signal.SIGINT)
        _, told = first.communicate(timeout=LONG_S / 4)
    finally:
        first.kill()
    assert first.returncode == 130, told
    assert "to go on: arena run --experiment e.toml --jobs jobs --job x" in told
    before = verdicts(stage)
    assert len(before) == 3  # oracle, nop, low
    assert stage.calls.count("start") == stage.calls.count("stop") == 4

    hold.unlink()
    second = play(stage)
    said, told = second.communicate(timeout=LONG_S / 2)
    assert second.returncode == 0, told
    assert "3 of 4 trials are played, 1 to go" in told
    document = json.loads(said)
    assert [(row["agent"], row["effort"], row["played"]) for row in document["rows"]] == [
        ("oracle", None, 1), ("nop", None, 1), (AGENT, "low", 1), (AGENT, "high", 1),
    ]  # fmt: skip
    assert document["failed_controls"] == []
    assert [one["reward"] for one in document["trials"]] == [1]
    after = verdicts(stage)
    assert len(after) == 4
    assert before.items() <= after.items()

    write(stage, '["low", "high", "max"]', 1)
    third = play(stage)
    said, told = third.communicate(timeout=LONG_S / 2)
    assert third.returncode == 0, told
    assert [one["reward"] for one in json.loads(said)["trials"]] == [1]
    assert after.items() <= verdicts(stage).items()
    report = arena(stage, "report", "jobs/x", "--format", "json")
    assert report.returncode == 0, report.stderr
    assert len({Path(path).parents[2].name for path in verdicts(stage)}) == 5  # a job each
    assert stage.calls.count("collect") == 5


@pytest.mark.timeout(LONG_S)
def test_controls_that_come_out_wrong_are_told_loudly_with_status_3(stage: Stage) -> None:
    write(stage, '["low"]', 1)
    plan(stage, fail=9)
    failed = play(stage)
    said, told = failed.communicate(timeout=LONG_S / 2)
    assert failed.returncode == 3, told
    assert "3 trials have no verdict" in told
    assert len(json.loads(said)["failed_controls"]) == 2
    stage.plan(evidence=stage.evidence())  # whoever plays, the incident is over
    again = play(stage)
    said, told = again.communicate(timeout=LONG_S / 2)
    assert again.returncode == 3, told
    assert "THE CONTROLS FAILED" in told
    assert json.loads(said)["failed_controls"] == [f"{NAME}: nop scored 1; it must score 0"]


def dry(*arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "ARENA_HOME": "/nonexistent", "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [f"{sys.prefix}/bin/arena", "run", *arguments, "--dry-run"],
        cwd=cwd, env=environment, capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip


def commands() -> list[str]:
    text = (ROOT / "docs" / "experiments.md").read_text()
    blocks = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line.startswith("./arena run")]


@pytest.mark.parametrize("command", commands())
def test_each_command_of_the_page_plans_what_it_says(command: str) -> None:
    arguments = [one for one in shlex.split(command, comments=True)[2:] if one not in {"--dry-run", "--yes"}]
    ended = dry(*arguments, "--json")
    assert ended.returncode == 0, ended.stderr
    document = json.loads(ended.stdout)
    assert document["trials"]["to_play"] == document["trials"]["wanted"] > 0
    assert document["hours"]["at_most"] > document["hours"]["at_least"] > 0
    assert not Path("/nonexistent").exists()


def test_a_dry_run_is_a_table_with_hours_and_dollars(stage: Stage) -> None:
    write(stage, '["low", "high"]', 3)
    ended = dry("--experiment", "e.toml", "-n", "2", cwd=stage.catalogue.root)
    assert ended.returncode == 0, ended.stderr
    assert "trials: 8 to play of 8" in ended.stdout
    assert re.search(r"hours: \d+\.\d, 2 at once", ended.stdout)
    assert re.search(r"models: \$[1-9]", ended.stdout)
    assert "assumed for openai/gpt-6-sol: 2.81 million tokens" in ended.stdout
    assert not (stage.catalogue.root / "jobs").exists()
    assert stage.calls == []


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "none is named"),
        (("--experiment", "none.toml"), "No such file"),
        (("--experiment", "e.toml", NAME), "not TASK"),
        (("--experiment", "e.toml", "-k", "3", "--effort", "low"), "not --effort, --trials"),
        ((NAME, "--agent", "nop", "--effort", "low"), "has no efforts"),
        ((NAME, "--script", "none.sh"), "there is no such file"),
    ],
)
def test_what_does_not_go_together_is_refused(stage: Stage, arguments: tuple[str, ...], told: str) -> None:
    write(stage, '["low"]', 1)
    ended = dry(*arguments, cwd=stage.catalogue.root)
    assert ended.returncode == 2, ended.stderr
    assert told in ended.stderr
    assert "remedy" in ended.stderr
