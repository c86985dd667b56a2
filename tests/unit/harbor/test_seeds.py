"""Trial i of every contestant has seed i."""

import json
from pathlib import Path

from incident_arena.harbor.seeds import allot


def trial(job: Path, name: str, agent: str = "codex", model: str = "openai/x", task: str = "/t/a") -> Path:
    folder = job / name
    folder.mkdir(parents=True, exist_ok=True)
    config = {"task": {"path": task}, "trial_name": name, "agent": {"name": agent, "model_name": model}}
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def test_each_contestant_counts_for_itself(tmp_path: Path) -> None:
    records, job = tmp_path / "records", tmp_path / "job"
    assert [allot(records, trial(job, f"x{n}")) for n in range(3)] == [1, 2, 3]
    assert allot(records, trial(job, "y", agent="pi")) == 1
    assert allot(records, trial(job, "z", model="openai/y")) == 1
    assert allot(records, trial(job, "w", task="/t/b")) == 1


def test_a_trial_that_is_played_again_keeps_its_seed(tmp_path: Path) -> None:
    records, job = tmp_path / "records", tmp_path / "job"
    first, second = trial(job, "x1"), trial(job, "x2")
    assert [allot(records, one) for one in (first, second, first, second)] == [1, 2, 1, 2]


def test_seeds_that_are_asked_for_come_first(tmp_path: Path) -> None:
    records, job = tmp_path / "records", tmp_path / "job"
    assert [allot(records, trial(job, f"x{n}"), [4, 2]) for n in range(4)] == [4, 2, 1, 3]


def test_a_trial_whose_configuration_is_gone_has_a_seed_too(tmp_path: Path) -> None:
    (tmp_path / "job" / "x").mkdir(parents=True)
    assert allot(tmp_path / "records", tmp_path / "job" / "x") == 1
