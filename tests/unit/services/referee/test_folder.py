import hashlib
from pathlib import Path

import pytest

from incident_arena.errors import InfrastructureError, UserError
from incident_arena.formats.records import Stage
from incident_arena.services.referee.folder import Evidence, State, read_task


def stages(evidence: Evidence) -> list[Stage]:
    return [Stage.model_validate_json(line) for line in (evidence.folder / "stages.jsonl").read_text().splitlines()]


def test_stages_are_recorded_once_they_ended(tmp_path: Path) -> None:
    evidence = Evidence(tmp_path)
    with evidence.stage("soak") as note:
        note.detail = "calm"
        assert not evidence.has("stages.jsonl")
    (stage,) = stages(evidence)
    assert (stage.name, stage.ok, stage.detail) == ("soak", True, "calm")
    assert 0 <= stage.seconds < 1


def test_a_stage_that_fails_is_recorded_and_goes_on(tmp_path: Path) -> None:
    evidence = Evidence(tmp_path)
    with pytest.raises(InfrastructureError), evidence.stage("drain"):
        raise InfrastructureError("the backlog", "stalls")
    with pytest.raises(KeyError), evidence.stage("reconcile", tolerant=True):
        raise KeyError("x")
    with evidence.stage("churn", tolerant=True) as note:
        raise InfrastructureError("mariadb", "is gone")
    assert not note.ok
    assert [(stage.name, stage.ok, stage.detail) for stage in stages(evidence)] == [
        ("drain", False, "the backlog: stalls"),
        ("reconcile", False, "KeyError: 'x'"),
        ("churn", False, "mariadb: is gone"),
    ]


def test_digests_are_of_evidence_alone(tmp_path: Path) -> None:
    evidence = Evidence(tmp_path)
    evidence.write("snapshots/A.json", "{}")
    evidence.write("manifest.json", "{}")
    evidence.live.append("health.jsonl", State())
    evidence.tell(agent_started=1.0)
    digests = evidence.digests()
    assert list(digests) == ["snapshots/A.json"]
    assert digests["snapshots/A.json"].sha256 == hashlib.sha256(b"{}").hexdigest()


def test_verbs_tell_each_other(tmp_path: Path) -> None:
    evidence = Evidence(tmp_path)
    assert evidence.state == State()
    evidence.tell(agent_started=1.0)
    evidence.tell(agent_ended=2.0)
    assert evidence.state == State(agent_started=1.0, agent_ended=2.0)


def test_a_task_that_is_none_is_a_users_error(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="mount it"):
        read_task(tmp_path / "task.json")
    (tmp_path / "task.json").write_text("{}")
    with pytest.raises(UserError, match="export the task again"):
        read_task(tmp_path / "task.json")
