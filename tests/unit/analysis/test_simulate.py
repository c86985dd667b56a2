"""The simulator writes what Harbor and the judge would write."""

import json

from harbor.models.trajectories import Trajectory
from harbor.models.trial.config import TrialConfig
from harbor.models.trial.result import TrialResult

from incident_arena.analysis.simulate import FRAPPE, MODELS, Plan, simulate
from incident_arena.formats.verdict import CLASSES, Verdict


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
