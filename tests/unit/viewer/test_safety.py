"""What a trial's folder holds can't cost the page, and puts no file of the reader's machine into it."""

import json
import os
from pathlib import Path

import pytest

from incident_arena.analysis.cost import load_prices
from incident_arena.analysis.read import read_jobs
from incident_arena.analysis.report import build as build_report
from incident_arena.analysis.simulate import FRAPPE, Plan, SimModel, simulate
from incident_arena.viewer.build import build
from incident_arena.viewer.packs import decode
from incident_arena.viewer.transcript import transcript

SECRET = "the reader's own secret"


@pytest.fixture
def jobs(tmp_path: Path) -> Path:
    folder = tmp_path / "jobs"
    model = SimModel("m", efforts=("low",))
    simulate(folder, Plan(tasks=FRAPPE[:1], models=(model,), repeats=2, odd=0.0, evidence=True))
    return folder


def _trial(jobs: Path) -> Path:
    return next(path.parent for path in sorted(jobs.glob("*/*/result.json")))


def _page(jobs: Path, out: Path) -> str:
    """All that the page holds, as text."""
    reading = read_jobs([jobs])
    built = build(reading, build_report(reading, load_prices()), load_prices(), out)
    text = built.page.read_text()
    parts = [part for part in text.replace("<", '"').replace(">", '"').split('"') if part.startswith("H4sI")]
    assert parts
    return "\n".join(decode(part).decode() for part in parts)


@pytest.mark.parametrize("level", ["agent", "agent/trajectory.json", "verifier", "artifacts", "artifacts/evidence"])
def test_no_link_brings_a_file_of_the_reader_into_the_page(jobs: Path, tmp_path: Path, level: str):
    trial = _trial(jobs)
    outside = tmp_path / "outside"
    (trial / level).rename(outside)
    for path in [outside] if outside.is_file() else [one for one in outside.rglob("*.json*") if one.is_file()]:
        if "trajectory" in path.name or path == outside:
            steps = [{"step_id": 1, "source": "agent", "message": SECRET}]
            path.write_text(json.dumps({"steps": steps}))
        elif path.name == "actions.jsonl":
            path.write_text(path.read_text().replace("SHOW GRANTS", SECRET))
        elif path.name == "verdict.json":
            path.write_text(path.read_text().replace("does not hold", SECRET).replace("holds", SECRET))
    (trial / level).symlink_to(outside)
    text = _page(jobs, tmp_path / "page.html")
    assert SECRET not in text
    assert trial.name in text


def test_a_fifo_does_not_hold_the_page_up(jobs: Path, tmp_path: Path):
    trial = _trial(jobs)
    (trial / "agent" / "trajectory.json").unlink()
    os.mkfifo(trial / "agent" / "trajectory.json")
    os.mkfifo(trial / "agent" / "oracle.txt")
    os.mkfifo(trial / "trial.log")
    shown = transcript(trial)
    assert shown
    assert "FIFO" in shown.note
    assert shown.logs == []
    assert trial.name in _page(jobs, tmp_path / "page.html")


def test_a_trial_whose_files_nobody_foresaw_costs_itself_alone(jobs: Path, tmp_path: Path, monkeypatch):
    trial = _trial(jobs)

    def raises(folder: Path, *_: object) -> None:
        if folder == trial:
            raise ZeroDivisionError("none foresaw it")

    monkeypatch.setattr("incident_arena.viewer.detail.evidence_of", lambda one: raises(one.folder))
    text = _page(jobs, tmp_path / "page.html")
    assert "none foresaw it" in text


def test_the_page_names_what_is_unreadable(jobs: Path, tmp_path: Path):
    trial = _trial(jobs)
    (trial / "result.json").write_text("[" * 100_000)
    text = _page(jobs, tmp_path / "page.html")
    assert "result.json: Invalid JSON: recursion limit exceeded" in text


@pytest.mark.parametrize(
    "bad",
    [
        3,
        None,
        {"step_id": "second", "source": "agent"},
        {"step_id": 2, "source": {"a": 1}},
        {"step_id": 2, "tool_calls": [{"function_name": 5}]},
        {"step_id": 2, "observation": "seen"},
    ],
)
def test_a_malformed_step_hides_itself_alone(tmp_path: Path, bad: object):
    good = [{"step_id": n, "source": "agent", "message": f"said {n}"} for n in (1, 3)]
    (tmp_path / "agent").mkdir()
    (tmp_path / "agent" / "trajectory.json").write_text(json.dumps({"steps": [good[0], bad, good[1]]}))
    shown = transcript(tmp_path)
    assert shown
    assert [step.source for step in shown.steps] == ["agent", "malformed", "agent"]
    assert [step.text for step in shown.steps][::2] == ["said 1", "said 3"]
    assert shown.steps[1].number == 2
    assert "malformed" in shown.steps[1].text
