"""Job folders to trials: every folder is accounted for, and nothing is guessed."""

import json
from collections import Counter
from pathlib import Path

import pytest
from harbor.models.job.result import JobResult
from harbor.models.trial.config import TrialConfig
from harbor.models.trial.result import TrialResult

from incident_arena.analysis.evidence import Evidence, evidence_of, trial_verdict
from incident_arena.analysis.harbor_files import trajectory_tail
from incident_arena.analysis.read import read_jobs
from incident_arena.analysis.simulate import FRAPPE, MODELS, Plan, SimModel, simulate
from incident_arena.analysis.trial import Trial, _check_columns, frame
from incident_arena.errors import UserError
from incident_arena.formats.task import Policy
from incident_arena.formats.verdict import Verdict
from incident_arena.judge.gates import gates, graded

SMALL = Plan(tasks=FRAPPE[:2], models=MODELS[:2], repeats=2, odd=0.0)


def _first(folder: Path, **changes: object) -> tuple[Path, dict[str, object]]:
    trial = next(path.parent for path in sorted(folder.glob("*/*/result.json")))
    result = json.loads((trial / "result.json").read_text())
    result.update(changes)
    (trial / "result.json").write_text(json.dumps(result))
    return trial, result


def _trial(folder: Path, trials: list[Trial]) -> Trial:
    return next(trial for trial in trials if trial.folder == folder)


def test_finds_what_was_simulated(tmp_path):
    truth = simulate(tmp_path, Plan(tasks=FRAPPE, repeats=2, odd=0.4, running=True))
    reading = read_jobs([tmp_path])
    assert Counter(trial.status for trial in reading.trials) == truth.statuses
    assert set(truth.statuses) == {
        "judged", "errored", "inadmissible", "unknown", "crashed", "running", "foreign", "unreadable",
    }  # fmt: skip
    judged = reading.judged
    assert Counter((trial.who, trial.task) for trial in judged) == truth.trials
    passes = Counter((trial.who, trial.task) for trial in judged if trial.reward)
    assert passes == +truth.passes
    assert sum(trial.refused for trial in judged) == truth.refused > 0
    classes = Counter(trial.failure_class for trial in judged if trial.failure_class)
    assert classes == truth.exclusive


def test_every_status_is_said(tmp_path):
    truth = simulate(tmp_path, Plan(tasks=FRAPPE, repeats=2, odd=0.4, running=True))
    notes = "\n".join(read_jobs([tmp_path]).notes)
    for status, count in truth.statuses.items():
        if status != "judged":
            assert f"{count} of {truth.total} trials {status}" in notes


def test_a_trial_that_is_not_judged_has_a_reason(tmp_path):
    simulate(tmp_path, Plan(tasks=FRAPPE, repeats=2, odd=0.4, running=True))
    for trial in read_jobs([tmp_path]).trials:
        assert trial.status == "judged" or trial.reason
        assert trial.status == "judged" or trial.reward is None


def test_frame_has_every_field():
    assert _check_columns() == set()


def test_frame_has_a_row_for_each_trial(tmp_path):
    truth = simulate(tmp_path, SMALL)
    table = frame(read_jobs([tmp_path]).trials)
    assert table.height == truth.total
    assert table["reward"].sum() == sum(truth.passes.values())
    assert table["completion"].max() == 1.0


def test_job_folder_trial_folder_and_folder_of_jobs(tmp_path):
    truth = simulate(tmp_path, SMALL)
    jobs = sorted(tmp_path.iterdir())
    assert len(read_jobs([tmp_path]).trials) == truth.total == 40
    assert len(read_jobs(jobs).trials) == truth.total
    trial = next(path.parent for path in jobs[0].glob("*/result.json"))
    assert [one.name for one in read_jobs([trial]).trials] == [trial.name]


def test_a_job_given_twice_counts_once_and_is_said(tmp_path):
    truth = simulate(tmp_path, SMALL)
    reading = read_jobs([tmp_path, next(tmp_path.iterdir())])
    assert len(reading.judged) == truth.total
    assert any("given twice" in note for note in reading.notes)


def test_a_copied_trial_counts_once(tmp_path):
    simulate(tmp_path, SMALL)
    trial, result = _first(tmp_path)
    copy = trial.with_name("copy")
    copy.mkdir()
    (copy / "result.json").write_text(json.dumps(result))
    (copy / "verifier").mkdir()
    (copy / "verifier" / "verdict.json").write_bytes((trial / "verifier" / "verdict.json").read_bytes())
    statuses = Counter(one.status for one in read_jobs([tmp_path]).trials)
    assert statuses["superseded"] == 1
    assert statuses["judged"] == 40


def test_a_regrade_replaces_its_source(tmp_path):
    simulate(tmp_path, SMALL)
    trial, result = _first(tmp_path)
    again = tmp_path / "zz-regrade" / "again__1"
    (again / "verifier").mkdir(parents=True)
    config = {**result["config"], "source_trial": {"action": "regrade", "type": "local", "trial_id": result["id"]}}
    (again / "result.json").write_text(
        json.dumps({**result, "id": "another", "config": config, "agent_execution": None})
    )
    (again / "verifier" / "verdict.json").write_bytes((trial / "verifier" / "verdict.json").read_bytes())
    (tmp_path / "zz-regrade" / "result.json").write_text('{"n_total_trials": 1}')
    reading = read_jobs([tmp_path])
    assert _trial(trial, reading.trials).status == "superseded"
    assert _trial(again, reading.trials).status == "judged"
    assert len(reading.judged) == 40


def test_a_failed_regrade_replaces_nothing(tmp_path):
    simulate(tmp_path, SMALL)
    trial, result = _first(tmp_path)
    again = tmp_path / "zz-regrade" / "again__1"
    again.mkdir(parents=True)
    config = {**result["config"], "source_trial": {"action": "regrade", "type": "local", "trial_id": result["id"]}}
    broken = {**result, "id": "another", "config": config, "agent_execution": None, "verifier_result": None}
    (again / "result.json").write_text(json.dumps(broken))
    (tmp_path / "zz-regrade" / "result.json").write_text('{"n_total_trials": 1}')
    reading = read_jobs([tmp_path])
    assert _trial(trial, reading.trials).status == "judged"
    assert _trial(again, reading.trials).status == "crashed"


def test_rewards_that_contradict_each_other_count_for_nothing(tmp_path):
    simulate(tmp_path, SMALL)
    trial, _ = _first(tmp_path, verifier_result={"rewards": {"reward": 0.5}})
    read = _trial(trial, read_jobs([tmp_path]).trials)
    assert read.status == "inconsistent"
    assert "reward.json says 0.5" in read.reason


def test_a_verdict_of_another_version_is_not_guessed_at(tmp_path):
    simulate(tmp_path, SMALL)
    trial, _ = _first(tmp_path)
    path = trial / "verifier" / "verdict.json"
    path.write_text(path.read_text().replace('"version":1', '"version":2', 1))
    read = _trial(trial, read_jobs([tmp_path]).trials)
    assert (read.status, read.reward) == ("unreadable", None)
    assert "version" in read.reason


def test_gates_and_reward_are_of_one_policy_the_suites(tmp_path):
    """A right repair that nobody declared, in a suite that records declarations only."""
    simulate(tmp_path, SMALL)
    trial, _ = _first(tmp_path, verifier_result={"rewards": {"reward": 1}})
    path = trial / "verifier" / "verdict.json"
    found = Verdict.model_validate_json(path.read_text())
    checks = tuple(
        check.model_copy(update={"verdict": "fail" if check.name == "declared" else "pass"}) for check in found.checks
    )
    policy = Policy(declaring="recorded")
    answers = gates(checks, policy)
    changes = {
        "policy": policy, "checks": checks, "gates": answers, "graded": graded(checks, admissible=True), "reward": 1,
        "failure_class": None, "inclusive": (), "declared": None,
    }  # fmt: skip
    path.write_text(found.model_copy(update=changes).model_dump_json())
    read = _trial(trial, read_jobs([tmp_path]).trials)
    assert (read.status, read.reason) == ("judged", "")
    assert (read.reward, read.outcome, read.safety) == (1, "pass", "pass")
    assert (read.paper_outcome, read.paper_safety, read.reward_undeclared) == ("pass", "pass", 1)


def test_an_empty_result_is_said(tmp_path):
    simulate(tmp_path, SMALL)
    trial, _ = _first(tmp_path)
    (trial / "result.json").write_text("")
    assert _trial(trial, read_jobs([tmp_path]).trials).status == "unreadable"


@pytest.mark.parametrize(
    ("text", "ended", "status"), [(None, True, "crashed"), (None, False, "running"), ("{", True, "unreadable")]
)
def test_a_folder_in_which_nothing_began(tmp_path, text, ended, status):
    simulate(tmp_path, SMALL)
    job = next(path for path in sorted(tmp_path.iterdir()))
    if not ended:
        (job / "result.json").write_text('{"n_total_trials": 21}')
    (job / "new__1").mkdir()
    if text:
        (job / "new__1" / "config.json").write_text(text)
    read = _trial(job / "new__1", read_jobs([tmp_path]).trials)
    assert read.status == status
    assert "config.json" in read.reason + read.file


def test_trials_without_a_folder_are_said(tmp_path):
    simulate(tmp_path, SMALL)
    job = next(path for path in sorted(tmp_path.iterdir()))
    (job / "result.json").write_text('{"n_total_trials": 25, "finished_at": "2026-10-01T00:00:00Z"}')
    assert f"job {job.name}: 5 of 25 trials have no folder" in read_jobs([tmp_path]).notes


@pytest.mark.parametrize("make", [True, False])
def test_a_wrong_path_is_the_users_error(tmp_path, make):
    if make:
        (tmp_path / "jobs" / "empty").mkdir(parents=True)
    with pytest.raises(UserError, match="jobs"):
        read_jobs([tmp_path / "jobs"])


def test_an_agent_without_a_model_goes_by_its_name(tmp_path):
    simulate(tmp_path, Plan(tasks=FRAPPE[:1], models=(SimModel(None, "oracle", "1", None, 9.0, ()),), odd=0.0))
    assert {(trial.who, trial.model, trial.effort) for trial in read_jobs([tmp_path]).trials} == {
        ("oracle", None, None)
    }


def test_evidence_is_loaded_on_demand(tmp_path):
    simulate(tmp_path, Plan(tasks=FRAPPE[:1], models=MODELS[:1], repeats=1, odd=0.0, evidence=True))
    trial = read_jobs([tmp_path]).trials[0]
    evidence = evidence_of(trial)
    assert evidence is not None
    manifest = evidence.manifest()
    assert manifest is not None
    assert manifest.task == trial.task
    task = evidence.task()
    assert task is not None
    assert [fault.name for fault in task.faults] == ["mariadb.grants", "redis-queue.config"]
    assert [stage.name for stage in evidence.stages()][-1] == "snapshot D"
    for lines in (evidence.ledger(), evidence.observations(), evidence.actions(), evidence.health()):
        assert next(iter(lines))
    assert all(evidence.snapshot(label) for label in "ABCD")
    assert evidence.reconciled()
    verdict = trial_verdict(trial)
    assert verdict is not None
    assert verdict.reward == trial.reward


def test_no_evidence_is_none(tmp_path):
    simulate(tmp_path, SMALL)
    trial = read_jobs([tmp_path]).trials[0]
    assert evidence_of(trial) is None
    assert list(Evidence(tmp_path).ledger()) == []


FAKE = '{\n  "final_metrics": {"total_steps": 999}'


@pytest.mark.parametrize("indent", [2, None])
def test_totals_come_from_the_end_of_a_trajectory(tmp_path, indent):
    steps = [
        {"step_id": 1, "source": "user", "message": FAKE},
        {
            "step_id": 2,
            "source": "agent",
            "message": "x" * 100_000,
            "extra": {"stop_reason": "end_turn"},
            "tool_calls": [{"arguments": {"final_metrics": {"total_steps": 888}, "stop_reason": "refusal"}}],
        },
    ]
    metrics = {"total_steps": 2, "extra": {"total_cache_creation_input_tokens": 7}}
    (tmp_path / "agent").mkdir()
    text = json.dumps({"steps": steps, "final_metrics": metrics}, indent=indent)
    (tmp_path / "agent" / "trajectory.json").write_text(text)
    tail = trajectory_tail(tmp_path)
    assert (tail.turns, tail.cache_write_tokens, tail.stop_reason) == (2, 7, "end_turn")


def test_a_providers_stop_reason_is_a_refusal(tmp_path):
    simulate(tmp_path, SMALL)
    trial, _ = _first(tmp_path)
    path = trial / "agent" / "trajectory.json"
    document = json.loads(path.read_text())
    document["steps"][-1]["extra"] = {"stop_reason": "refusal"}
    path.write_text(json.dumps(document, indent=2))
    assert _trial(trial, read_jobs([tmp_path]).trials).refused


def test_no_trajectory_has_no_totals(tmp_path):
    assert trajectory_tail(tmp_path / "none").turns is None
    (tmp_path / "agent").mkdir()
    (tmp_path / "agent" / "trajectory.json").write_text("[1, 2")
    assert trajectory_tail(tmp_path).turns is None


def test_files_as_harbor_itself_writes_them_read_the_same(tmp_path):
    truth = simulate(tmp_path, Plan(tasks=FRAPPE[:2], models=MODELS[:2], repeats=3, odd=0.4))
    before = read_jobs([tmp_path]).trials
    for path in tmp_path.glob("*/*/result.json"):
        path.write_text(TrialResult.model_validate_json(path.read_text()).model_dump_json(indent=4))
    for path in tmp_path.glob("*/result.json"):
        path.write_text(JobResult.model_validate_json(path.read_text()).model_dump_json(indent=4))
    for path in tmp_path.glob("*/*/config.json"):
        path.write_text(TrialConfig.model_validate_json(path.read_text()).model_dump_json(indent=4))
    assert read_jobs([tmp_path]).trials == before
    assert len(before) == truth.total


def test_what_was_played_again_is_found(tmp_path):
    truth = simulate(tmp_path, Plan(tasks=FRAPPE, repeats=2, odd=0.4))
    attempts = read_jobs([tmp_path]).attempts
    assert len(attempts) == truth.again > 0
    assert sum(one.input_tokens or 0 for one in attempts) == truth.again_tokens
    assert all(one.errored and one.admissible for one in attempts)


def test_the_last_attempt_is_counted_by_its_folder_alone(tmp_path):
    simulate(tmp_path, SMALL)
    trial, result = _first(tmp_path)
    line = {"trial": trial.name, "task": "frappe/a", "admissible": True, "errored": "x: y", "id": result["id"]}
    (trial.parent / "arena-records.jsonl").write_text(json.dumps(line) + "\n")
    assert read_jobs([tmp_path]).attempts == []


def test_a_damaged_route_is_unreadable(tmp_path):
    simulate(tmp_path, SMALL)
    trial, _ = _first(tmp_path)
    (trial / "route.json").write_text("{")
    found = _trial(trial, read_jobs([tmp_path]).trials)
    assert found.status == "unreadable"
    assert found.file == "route.json"
