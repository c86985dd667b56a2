from pathlib import Path

import pytest
from harbor.models.trial.error_policy import ERROR_POLICIES, policy_for

from incident_arena.errors import UserError
from incident_arena.harbor.job import Request, compose, retry


def request(tmp_path: Path, **more: object) -> Request:
    fields: dict[str, object] = {
        "tasks": (tmp_path / "task",), "agent": "oracle", "scripts": (), "model": None, "trials": 3, "parallel": 2,
        "max_retries": 4, "keep": True, "jobs": tmp_path, "name": "n",
    }  # fmt: skip
    return Request(**(fields | more))  # type: ignore[arg-type]


@pytest.mark.parametrize("error", [*ERROR_POLICIES, "CommandError", "TransferError", "RuntimeError", "AnythingElse"])
def test_harbors_own_rule_plays_nothing_again_that_an_agent_can_cause(error: str) -> None:
    assert not retry(3).is_retryable(error)
    assert retry(3).is_retryable("InadmissibleError")


def test_no_error_spares_anyone_the_judge(tmp_path: Path) -> None:
    overridden = compose(request(tmp_path)).override_error_policy
    assert [name for name in ERROR_POLICIES if not policy_for(name, overridden.get(name)).should_grade] == []


def test_the_job_is_as_asked(tmp_path: Path) -> None:
    config = compose(request(tmp_path))
    assert (config.n_attempts, config.n_concurrent_trials, config.retry.max_retries) == (3, 2, 4)
    assert config.environment.import_path == "incident_arena.harbor:ArenaEnvironment"
    assert config.environment.delete is False
    assert [task.path for task in config.tasks] == [tmp_path / "task"]
    assert config.agents[0].name == "oracle"


def test_a_script_makes_the_script_agent(tmp_path: Path) -> None:
    (tmp_path / "fix.sh").write_text("#!/bin/sh\n")
    [agent] = compose(request(tmp_path, scripts=(tmp_path / "fix.sh",))).agents
    assert agent.import_path == "incident_arena.harbor:ScriptAgent"
    assert agent.kwargs == {"script": str(tmp_path / "fix.sh")}


def test_a_script_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"fix\.sh"):
        compose(request(tmp_path, scripts=(tmp_path / "fix.sh",)))


def test_an_agent_may_be_a_class(tmp_path: Path) -> None:
    [agent] = compose(request(tmp_path, agent="harbor.agents.nop:NopAgent", model="m")).agents
    assert (agent.import_path, agent.model_name) == ("harbor.agents.nop:NopAgent", "m")


def test_all_variants_play_and_the_gateway_knows_their_server(tmp_path: Path) -> None:
    variants = (("anthropic/a", "low"), ("anthropic/a", "high"), ("anthropic/b", "low"))
    url = "http://127.0.0.1:8000"
    config = compose(request(tmp_path, agent="claude-code", variants=variants, model_url=url))
    assert [(one.model_name, one.kwargs["reasoning_effort"]) for one in config.agents] == list(variants)
    assert {one.base_url for one in config.agents} == {"https://model.arena.internal"}
    assert config.environment.kwargs["upstreams"] == {"model.arena.internal": url}


def test_trials_at_once_get_cpus_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 5)
    assert compose(request(tmp_path, parallel=2)).environment.kwargs == {"cpus_per_node": 2}
    assert compose(request(tmp_path, parallel=1)).environment.kwargs == {}
    assert compose(request(tmp_path, parallel=9)).environment.kwargs == {"cpus_per_node": 1}


def test_only_who_asks_for_a_seal_gets_one(tmp_path: Path) -> None:
    assert compose(request(tmp_path, seal=True)).environment.kwargs["seal"] is True
    assert "seal" not in compose(request(tmp_path)).environment.kwargs
