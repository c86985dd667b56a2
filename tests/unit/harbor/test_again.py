"""Trials whose model could not be reached, through Harbor: played again, kept, and told; others are not."""

import json
from pathlib import Path

import pytest
from tests.support.failing_agent import FAILURES, ROUTE
from tests.unit.analysis.test_errored import DOWN, HELD, route
from tests.unit.harbor.conftest import Stage

from incident_arena.analysis.read import read_jobs
from incident_arena.harbor.outcome import Outcome
from incident_arena.route import Route

AGENT = "tests.support.failing_agent:FailingAgent"
ON_HOST = "tests.support.failing_agent:FailingHostAgent"
PRINTING = "tests.support.failing_agent:PrintingAgent"


def play(
    stage: Stage,
    failures: int,
    seen: Route | None,
    *,
    declared: bool = False,
    retries: int = 2,
    ends: str = "badly",
) -> Outcome:
    """One trial whose first attempts fail."""
    left, kept = stage.tmp / "failures", stage.tmp / "kept.json"
    left.write_text("x" * failures)
    stage.monkeypatch.setenv(FAILURES, str(left))
    stage.monkeypatch.setenv("ARENA_EXIT", ends)
    if seen is not None:
        kept.write_text(seen.model_dump_json())
        stage.monkeypatch.setenv(ROUTE, str(kept))
    evidence = stage.evidence() if declared else stage.evidence(declared=None)
    # Without the gateway's record only an agent on the host is believed.
    request = stage.request(agent=AGENT if seen or declared else ON_HOST, model="gpt-6-sol", max_retries=retries)
    [one] = stage.play(request, evidence=evidence)
    return one


@pytest.mark.parametrize(("seen", "ends"), [(None, "badly"), (DOWN, "badly"), (DOWN, "well")])
def test_an_errored_trial_is_played_again_and_what_it_spent_is_kept(
    stage: Stage, seen: Route | None, ends: str
) -> None:
    one = play(stage, 1, seen, ends=ends)
    assert (one.reward, one.errored, one.attempts) == (0, False, 2)
    reading = read_jobs([Path(one.job_dir)])
    assert [trial.status for trial in reading.trials] == ["judged"]
    assert [(line.attempt, line.input_tokens, line.output_tokens) for line in reading.attempts] == [(1, 1000, 20)]
    assert all(line.model == "gpt-6-sol" and line.errored for line in reading.attempts)


@pytest.mark.parametrize(("seen", "ends"), [(None, "badly"), (DOWN, "badly"), (DOWN, "well")])
def test_errored_to_the_last_attempt_has_no_verdict_and_a_reason(stage: Stage, seen: Route | None, ends: str) -> None:
    one = play(stage, 9, seen, retries=1, ends=ends)
    assert (one.reward, one.errored, one.attempts) == (None, True, 2)
    assert ("because down at the end" if seen else "429 from the provider") in one.reason
    reading = read_jobs([Path(one.job_dir)])
    [trial] = reading.trials
    assert (trial.status, trial.reason, trial.reward) == ("errored", one.reason, None)
    assert [line.attempt for line in reading.attempts] == [1]


@pytest.mark.parametrize(("seen", "declared"), [(HELD, False), (DOWN, True), (None, True)])
def test_what_counts_is_not_played_again(stage: Stage, seen: Route | None, declared: bool) -> None:  # noqa: FBT001
    """The agent's program may print what it likes: with a way that held, or a declaration, there is a verdict."""
    one = play(stage, 9, seen, declared=declared)
    assert (one.reward, one.errored, one.attempts) == (int(declared), False, 1)
    [trial] = read_jobs([Path(one.job_dir)]).trials
    assert (trial.status, trial.reward, trial.exception) == ("judged", int(declared), "ApiRateLimitError")
    result = json.loads((Path(one.job_dir) / one.trial / "result.json").read_text())
    assert result["exception_info"]["exception_type"] == "ApiRateLimitError"


def test_a_wrong_key_is_said_and_not_tried_again(stage: Stage) -> None:
    one = play(stage, 9, route("down", "never answered", **{"401": 2}))
    assert (one.reward, one.errored, one.attempts) == (None, True, 1)


@pytest.mark.parametrize("seen", [None, HELD, route("held", "flood", 20)])
def test_an_agent_that_prints_an_error_of_the_network_keeps_its_zero(stage: Stage, seen: Route | None) -> None:
    """Harbor finds a class that it retries in what the program printed."""
    if seen is not None:
        (stage.tmp / "kept.json").write_text(seen.model_dump_json())
        stage.monkeypatch.setenv(ROUTE, str(stage.tmp / "kept.json"))
    request = stage.request(agent=PRINTING, model="gpt-6-sol", max_retries=2)
    [one] = stage.play(request, evidence=stage.evidence(declared=None))
    result = json.loads((Path(one.job_dir) / one.trial / "result.json").read_text())
    assert result["exception_info"]["exception_type"] == "NetworkConnectionError"
    assert (one.reward, one.errored, one.attempts) == (0, False, 1)
    assert stage.calls.count("start") == 1
    [trial] = read_jobs([Path(one.job_dir)]).trials
    assert (trial.status, trial.reward) == ("judged", 0)


def test_a_start_that_failed_is_no_second_chance_for_what_followed(stage: Stage) -> None:
    request = stage.request(agent=PRINTING, model="gpt-6-sol", max_retries=2)
    [one] = stage.play(request, evidence=stage.evidence(declared=None), fail=1)
    assert (one.reward, one.attempts) == (0, 2)
