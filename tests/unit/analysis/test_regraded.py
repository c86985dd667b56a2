"""A trial that is judged again is what its source was: errored, or played on a machine that stood still."""

import json
import shutil
from pathlib import Path

import pytest

from incident_arena.analysis.read import Reading, read_jobs
from incident_arena.analysis.simulate import FRAPPE, Plan, SimModel, simulate
from incident_arena.analysis.stillness import Gap, Stillness
from incident_arena.analysis.trial import Trial

PLAN = Plan(tasks=FRAPPE[:1], models=(SimModel("m", efforts=("low",)),), repeats=3, odd=0.0, evidence=True)


@pytest.fixture
def jobs(tmp_path: Path) -> Path:
    simulate(tmp_path / "jobs", PLAN)
    return tmp_path / "jobs"


def _source(jobs: Path) -> Path:
    """A trial that failed without a declaration."""
    for path in sorted(jobs.glob("*/*/verifier/verdict.json")):
        document = json.loads(path.read_text())
        document |= {
            "declared": None, "reward": 0, "failure_class": "never declared", "inclusive": ["never declared"],
            "checks": [
                {"name": "declared", "gate": "outcome", "verdict": "fail", "reason": "r"},
                {"name": "scope", "gate": "safety", "verdict": "pass", "reason": "r"},
            ],
            "gates": {"outcome": "fail", "safety": "pass"},
        }  # fmt: skip
        path.write_text(json.dumps(document))
        _change(path.parent.parent / "result.json", verifier_result={"rewards": {"reward": 0}})
        return path.parent.parent
    raise AssertionError


def _change(path: Path, **changes: object) -> None:
    document = json.loads(path.read_text())
    document.update(changes)
    path.write_text(json.dumps(document))


def _down(trial: Path) -> None:
    """The way to the model was down at the end, says the gateway."""
    route = {
        "version": 1, "state": "down", "rule": "down at the end", "reason": "the last 11 calls failed",
        "agent_started": 1.0, "agent_ended": 2.0, "calls": 12, "answered": 1, "failed": {"429": 11}, "streak": 11,
        "last": "429", "last_at": 2.0, "refusals": 0, "refused": False, "not_allowed": 0, "hosts": [],
    }  # fmt: skip
    (trial / "route.json").write_text(json.dumps(route))


def _regrade(source: Path, jobs: Path, name: str = "zz-regrade", *, path: bool = True) -> Path:
    """As `harbor job regrade` leaves it: agent/ and artifacts/ are copied, and nothing else of the source."""
    again = jobs / name / f"{source.name.partition('__')[0]}__{name}"
    for part in ("agent", "artifacts", "verifier"):
        shutil.copytree(source / part, again / part)
    result = json.loads((source / "result.json").read_text())
    origin = {"action": "regrade", "type": "local" if path else "hub", "trial_id": result["id"]}
    origin |= {"path": str(source)} if path else {}
    result |= {"id": f"again-{name}", "trial_name": again.name, "agent_execution": None}
    result["config"]["source_trial"] = origin
    (again / "result.json").write_text(json.dumps(result))
    (jobs / name / "result.json").write_text('{"n_total_trials": 1, "finished_at": "2026-10-03T00:00:00"}')
    return again


def _one(reading: Reading, folder: Path) -> Trial:
    return next(one for one in reading.trials if one.folder == folder)


def test_an_errored_trial_that_is_judged_again_stays_errored(jobs):
    source = _source(jobs)
    _down(source)
    again = _regrade(source, jobs)
    reading = read_jobs([jobs])
    one = _one(reading, again)
    assert (one.status, one.reward) == ("errored", None)
    assert one.reason == "the way to the model was down: the last 11 calls failed"
    assert _one(reading, source).status == "superseded"
    assert len(reading.judged) == 2


def test_the_source_is_found_beside_a_job_that_is_read_alone(jobs):
    source = _source(jobs)
    _down(source)
    again = _regrade(source, jobs)
    reading = read_jobs([again.parent])
    assert [(one.folder, one.status) for one in reading.trials] == [(again, "errored")]
    assert not [note for note in reading.notes if "are gone" in note]


def test_a_folder_of_jobs_that_was_moved_still_has_the_source(jobs, tmp_path):
    source = _source(jobs)
    _down(source)
    again = _regrade(source, jobs)
    jobs.rename(tmp_path / "moved")
    assert [one.status for one in read_jobs([tmp_path / "moved" / again.parent.name]).trials] == ["errored"]


def test_what_harbor_downloaded_is_the_source(jobs):
    source = _source(jobs)
    _down(source)
    again = _regrade(source, jobs, path=False)
    cached = again.parent / ".sources" / json.loads((source / "result.json").read_text())["id"] / source.name
    cached.parent.mkdir(parents=True)
    source.rename(cached)
    assert [one.status for one in read_jobs([again.parent]).trials] == ["errored"]


def test_a_source_that_is_gone_is_said(jobs):
    source = _source(jobs)
    _down(source)
    again = _regrade(source, jobs)
    shutil.rmtree(source)
    reading = read_jobs([jobs])
    assert _one(reading, again).status == "judged"
    said = f"1 trials were judged again and their source trials are gone ({again.parent.name}/{again.name}): whether"
    assert any(note.startswith(said) for note in reading.notes)


def test_nothing_else_on_the_machine_is_opened(jobs, tmp_path):
    source = _source(jobs)
    _down(source)
    again = _regrade(source, jobs)
    elsewhere = tmp_path / "elsewhere" / "job" / source.name
    elsewhere.parent.mkdir(parents=True)
    source.rename(elsewhere)
    for path, trial_id in ((str(elsewhere), None), ("../../elsewhere/job", None), (None, "../../../elsewhere/job")):
        config = json.loads((again / "result.json").read_text())["config"]
        config["source_trial"] = {"action": "regrade", "type": "local", "trial_id": trial_id, "path": path}
        _change(again / "result.json", config=config)
        reading = read_jobs([jobs])
        assert _one(reading, again).status == "judged"
        assert any("are gone" in note for note in reading.notes)


def test_a_trial_that_is_judged_again_and_again(jobs):
    source = _source(jobs)
    _down(source)
    second = _regrade(source, jobs, "zy-regrade")
    third = _regrade(second, jobs, "zz-regrade")
    reading = read_jobs([jobs])
    assert _one(reading, third).status == "errored"
    assert _one(reading, second).status == _one(reading, source).status == "superseded"
    assert read_jobs([third.parent]).trials[0].status == "errored"


def test_a_link_to_itself_beside_it_is_one_row(jobs: Path) -> None:
    source = _source(jobs)
    again = _regrade(source, jobs)
    (source.parent / "loop").symlink_to("loop")
    reading = read_jobs([jobs])
    assert [one.name for one in reading.trials if one.status == "unreadable"] == ["loop"]
    assert _one(reading, again).status == "judged"
    assert _one(reading, source).status == "superseded"


def test_trials_that_name_each_other_as_source_end(jobs):
    source = _source(jobs)
    again = _regrade(source, jobs)
    config = json.loads((source / "result.json").read_text())["config"]
    config["source_trial"] = {"action": "regrade", "type": "local", "trial_id": "again-zz-regrade", "path": str(again)}
    _change(source / "result.json", config=config)
    assert len(read_jobs([jobs]).trials) == 4


def test_a_declaration_is_judged_whatever_the_source_says(jobs):
    source = _source(jobs)
    again = _regrade(source, jobs)
    _down(source)
    path = again / "verifier" / "verdict.json"
    _change(path, declared=5.0)
    assert _one(read_jobs([jobs]), again).status == "judged"


def test_a_machine_that_stood_still_stays_so(jobs):
    source = _source(jobs)
    manifest = json.loads((source / "artifacts" / "evidence" / "manifest.json").read_text())
    start = manifest["agent_ended"] + 1_000
    for name in ("ledger.jsonl", "health.jsonl", "observations.jsonl"):
        with (source / "artifacts" / "evidence" / name).open("a") as file:
            file.write(json.dumps({"at": start + 600}) + "\n")
    still = Stillness(gaps=(Gap(at=start, seconds=500),))
    (source / "machine.json").write_text(still.model_dump_json())
    again = _regrade(source, jobs)
    one = _one(read_jobs([jobs]), again)
    assert (one.status, one.reason, one.reward) == ("inadmissible", "the machine stood still for 500 s", None)
