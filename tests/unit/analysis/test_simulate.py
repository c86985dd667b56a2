"""The simulator writes what Harbor and the judge would write."""

import csv
import io
import json
from collections import Counter

from harbor.models.trajectories import Trajectory
from harbor.models.trial.config import TrialConfig
from harbor.models.trial.result import TrialResult

from incident_arena.analysis.cells import grids
from incident_arena.analysis.cost import load_prices
from incident_arena.analysis.pictures import pictures
from incident_arena.analysis.read import read_jobs
from incident_arena.analysis.render import csv_tables
from incident_arena.analysis.report import build
from incident_arena.analysis.simulate import FRAPPE, MODELS, NO_FAULT, Plan, simulate
from incident_arena.formats.verdict import CLASSES, Verdict
from incident_arena.viewer.board import tables


def test_harbor_reads_its_files(tmp_path):
    simulate(tmp_path, Plan(tasks=FRAPPE[:2], models=MODELS[:1], repeats=4, odd=0.5, hostile=True))
    results = [TrialResult.model_validate_json(path.read_text()) for path in tmp_path.glob("*/*/result.json")]
    assert len(results) > 20
    for path in tmp_path.glob("*/*/config.json"):
        TrialConfig.model_validate_json(path.read_text())
    for path in tmp_path.glob("*/*/agent/trajectory.json"):
        Trajectory.model_validate_json(path.read_text())


def test_the_same_seed_writes_the_same_bytes(tmp_path):
    plan = Plan(tasks=FRAPPE[:1], models=MODELS[:1], repeats=2, evidence=True)
    folders = (tmp_path / "one", tmp_path / "two")
    for folder in folders:
        simulate(folder, plan)
    first, second = ({p.relative_to(f): p.read_bytes() for p in f.rglob("*") if p.is_file()} for f in folders)
    assert first == second
    assert len(first) > 100


def test_verdicts_are_consistent(tmp_path):
    simulate(tmp_path, Plan(tasks=FRAPPE, models=MODELS[:3], odd=0.0))
    classes = set()
    for path in tmp_path.glob("*/*/verifier/verdict.json"):
        verdict = Verdict.model_validate_json(path.read_text())
        assert verdict.reward == int(set(verdict.gates.values()) == {"pass"})
        assert (verdict.failure_class is None) == (verdict.reward == 1)
        classes.add(verdict.failure_class)
        if verdict.failure_class:
            assert verdict.inclusive[0] == verdict.failure_class
            assert [one for one in CLASSES if one in verdict.inclusive] == list(verdict.inclusive)
    assert classes == {None, *CLASSES}


def test_limit_stops_it(tmp_path):
    assert simulate(tmp_path, Plan(limit=7)).total == 7
    assert len(list(tmp_path.glob("*/*/"))) == 7


def test_hostile_text_is_there(tmp_path):
    simulate(tmp_path, Plan(tasks=FRAPPE[:1], models=MODELS[:1], repeats=1, odd=0.0, hostile=True))
    path = next(tmp_path.glob("*/*/agent/trajectory.json"))
    message = json.loads(path.read_text())["steps"][0]["message"]
    assert "<script>" in message
    assert "\u0007" in message


def test_spoiled_trials_are_found_for_what_they_are(tmp_path):
    truth = simulate(tmp_path, Plan(tasks=(*FRAPPE[:3], NO_FAULT), repeats=2, odd=0.6, spoiled=True, hostile=True))
    reading = read_jobs([tmp_path])
    assert Counter(one.status for one in reading.trials) == truth.statuses
    assert truth.statuses["inconsistent"] > 5
    assert truth.statuses["unreadable"] > 10
    assert Counter((one.who, one.task) for one in reading.judged) == truth.trials
    assert Counter((one.who, one.task) for one in reading.judged if one.reward) == +truth.passes
    for told in (
        "versions of it are pooled (checksums", "versions of it are pooled by model", "no tracking of them",
        "several versions of the product are pooled", "trials over 2 providers are pooled",
        "negative tokens", "a reported cost that is not a number", "trials inconsistent: ",
    ):  # fmt: skip
        assert any(told in note for note in reading.notes), told
    bad = [one for one in reading.trials if one.status in {"unreadable", "inconsistent"}]
    report = build(reading, load_prices())
    assert [(row.trial, row.file) for row in report.unusable] == [(one.folder.name, one.file) for one in bad]
    assert all(row.reason and row.file != "-" for row in report.unusable)


def test_what_is_simulated_says_so_wherever_it_is_shown(tmp_path):
    simulate(tmp_path, Plan(tasks=FRAPPE[:1], models=MODELS[:2], repeats=1))
    report = build(read_jobs([tmp_path]), load_prices())
    assert report.simulated == len(report.trials) == 10
    assert all(grid.title.endswith("(simulated)") for grid in grids(report))
    assert all(table.title.endswith("(simulated)") for table in tables(report))
    assert pictures(report)
    assert all(picture.title.endswith("(simulated)") for picture in pictures(report))
    assert report.notes[0].startswith("simulated: 10 of 10 trials were made up by the simulator")
    assert all(row.simulated for row in report.trials)
    tables_ = {name: list(csv.DictReader(io.StringIO(text))) for name, text in csv_tables(report).items()}
    assert {name for name, rows in tables_.items() if {row.get("simulated") for row in rows} != {"True"}} == {"notes"}
    real = report.model_copy(update={"simulated": 0})
    assert "simulated" not in csv_tables(real)["main"].splitlines()[0]


def test_its_models_are_no_real_ones():
    prices = load_prices()
    for model in MODELS:
        assert model.name is not None
        assert model.name.startswith("simulated-")
        assert model.agent.startswith("simulated-")
        assert prices.of(model.name) is None
