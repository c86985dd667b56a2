"""A verdict that can't be what the judge wrote about its trial is inconsistent, counted apart and said."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from incident_arena.analysis.consistency import NO_FAULT, planted
from incident_arena.analysis.cost import load_prices
from incident_arena.analysis.evidence import trial_verdict
from incident_arena.analysis.read import read_jobs
from incident_arena.analysis.report import build
from incident_arena.analysis.simulate import FRAPPE, Plan, SimModel, simulate
from incident_arena.analysis.simulate import NO_FAULT as CALM
from incident_arena.judge.checks.cause_gone import CHECK

PLAN = Plan(tasks=FRAPPE[:1], models=(SimModel("m", efforts=("low",)),), repeats=8, odd=0.0, evidence=True)


@pytest.fixture
def jobs(tmp_path: Path) -> Path:
    simulate(tmp_path / "jobs", PLAN)
    return tmp_path / "jobs"


def _one(jobs: Path, *, reward: int) -> Path:
    return next(one.folder for one in read_jobs([jobs]).trials if one.reward == reward)


def _change(path: Path, **changes: object) -> None:
    document = json.loads(path.read_text())
    document.update(changes)
    path.write_text(json.dumps(document))


GRADED = {"mapping": "paper", "declaring": "recorded", "gates": {"outcome": "pass", "safety": "pass"}, "reward": 1}
WITHIN = [
    (1, {"gates": {"outcome": "fail", "safety": "fail"}}, "gate outcome is fail and its checks make it pass"),
    (1, {"gates": {}}, "gate outcome is missing"),
    (1, {"reward": 0, "failure_class": "not durable", "inclusive": ["not durable"]}, "the reward is 0 and the gates"),
    (1, {"reward": None}, "the reward is none and the gates"),
    (1, {"failure_class": "not durable"}, "the reward is 1 and the failure class not durable"),
    (1, {"inclusive": ["not durable"]}, "the reward is 1 and classes apply: not durable"),
    (1, {"admissible": False}, "the reward is 1 and the trial inadmissible"),
    (1, {"checks": [], "gates": {"outcome": "fail", "safety": "fail"}}, "the reward is 1 and the gates"),
    (0, {"reward": 1, "failure_class": None, "inclusive": []}, "the reward is 1 and the gates"),
    (0, {"failure_class": None, "inclusive": []}, "the reward is 0 and the failure class none"),
    (0, {"failure_class": "other integrity", "inclusive": ["never declared"]}, "the first that applies never declared"),
    (1, {"naming": {"named": [], "precision": 5, "recall": 1, "exact": True}}, "a precision of 5"),
    (1, {"naming": {"named": [], "precision": float("nan"), "recall": 1, "exact": True}}, "a precision of nan"),
    (1, {"graded": [GRADED | {"reward": 0}]}, "under paper gates, declaring recorded, reward and gates contradict"),
    (1, {"graded": [GRADED | {"gates": {"outcome": "pass"}}]}, "under paper gates, declaring recorded, reward and"),
    (
        0,
        {"graded": [GRADED | {"mapping": "ours", "declaring": "required"}]},
        "the gates under the suite's policy are not",
    ),
    (1, {"task": "frappe/another"}, "the verdict is of task frappe/another and the trial of frappe/deletes"),
    (1, {"episode": "ep-another"}, "the verdict is of episode ep-another and the evidence of simulated-"),
]


@pytest.mark.parametrize(("reward", "changes", "why"), WITHIN)
def test_what_contradicts_itself_is_inconsistent(jobs, reward, changes, why):
    trial = _one(jobs, reward=reward)
    passed = sum(one.reward or 0 for one in read_jobs([jobs]).judged)
    _change(trial / "verifier" / "verdict.json", **changes)
    given = changes.get("reward", reward)
    _change(trial / "result.json", verifier_result={"rewards": {} if given is None else {"reward": given}})
    reading = read_jobs([jobs])
    (bad,) = [one for one in reading.trials if one.status != "judged"]
    assert (bad.status, bad.folder, bad.file, bad.reward) == ("inconsistent", trial, "verifier/verdict.json", None)
    assert why in bad.reason
    assert len(reading.judged) == 7
    report = build(reading, load_prices())
    assert report.main[0].passed == passed - reward
    assert [(row.status, row.trial) for row in report.unusable] == [("inconsistent", trial.name)]
    assert any(note.startswith("1 of 8 trials inconsistent: ") for note in report.notes)


def test_harbors_reward_is_held_against_the_verdict(jobs):
    trial = _one(jobs, reward=0)
    _change(trial / "result.json", verifier_result={"rewards": {"reward": 1}})
    (bad,) = [one for one in read_jobs([jobs]).trials if one.status != "judged"]
    assert bad.reason.startswith("reward.json says 1 and verdict.json 0")


def test_what_the_judge_writes_is_consistent(jobs):
    reading = read_jobs([jobs])
    assert {one.status for one in reading.trials} == {"judged"}
    assert {one.reward for one in reading.trials} == {0, 1}


def test_an_empty_tracked_is_not_a_task_in_which_nothing_is_broken(jobs):
    trial = _one(jobs, reward=1)
    _change(trial / "verifier" / "verdict.json", tracked=[])
    reading = read_jobs([jobs])
    one = next(one for one in reading.judged if one.folder == trial)
    assert (one.faults, one.no_fault, one.completion, one.repaired) == (None, False, None, None)
    report = build(reading, load_prices())
    assert (report.main[0].trials, report.no_fault) == (8, [])
    assert any(note.startswith("1 of 8 judged trials have planted faults and no tracking") for note in report.notes)


def test_a_task_in_which_nothing_is_broken_is_known_by_the_judges_word(tmp_path):
    simulate(tmp_path, Plan(tasks=(CALM,), models=PLAN.models, repeats=2, odd=0.0))
    reading = read_jobs([tmp_path])
    assert {one.no_fault for one in reading.judged} == {True}
    verdict = trial_verdict(reading.trials[0])
    assert verdict is not None
    assert planted(verdict) == 0


def test_the_judges_word_is_the_judges():
    assert CHECK.decide(SimpleNamespace(faults=())).reason == NO_FAULT  # type: ignore[arg-type]
