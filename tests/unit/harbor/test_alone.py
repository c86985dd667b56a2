"""Several trials of one job through real Harbor: what goes wrong in one is that one's error alone."""

import json
from pathlib import Path

import pytest
from tests.support import evidence as evidences
from tests.support.bad_agents import WAYS
from tests.unit.harbor.conftest import Stage

from incident_arena.harbor import again
from incident_arena.harbor.outcome import Outcome

pytestmark = pytest.mark.timeout(600)  # whole jobs of many trials, on a machine that may be busy
AGENT = "tests.support.bad_agents:BadAgent"
JUDGED = ["cancels itself", "exits", "raises", "times out", "reads its logs"]


def play(stage: Stage, *ways: str, **plan: object) -> dict[str, Outcome]:
    """One trial for each way in which its agent fails, and one between them that repairs; by the way."""
    (stage.tmp / "ways").write_text("".join(f"{way}\n" for way in ways))
    stage.monkeypatch.setenv(WAYS, str(stage.tmp / "ways"))
    idle = evidences.build(fixed=dict.fromkeys(evidences.FAULTS), declared=None).write(stage.tmp / "idle")
    request = stage.request(agent=AGENT, trials=len(ways), parallel=2, max_retries=1)
    ended = stage.play(request, evidence=stage.evidence(), idle=str(idle), **plan)
    return {str(number): one for number, one in enumerate(ended)}


def test_however_an_agent_fails_it_is_judged_and_so_are_its_neighbours(stage: Stage) -> None:
    ended = play(stage, JUDGED[0], "", *JUDGED[1:]).values()
    assert sorted((one.reward, one.attempts) for one in ended) == [(0, 1)] * len(JUDGED) + [(1, 1)]
    assert {one.failure_class for one in ended} == {None, "never declared"}
    assert stage.calls.count("freeze") == stage.calls.count("collect") == stage.calls.count("stop") == len(ended)
    for one in ended:
        assert (Path(one.job_dir) / one.trial / "result.json").is_file()


def test_an_agent_that_is_not_set_up_has_no_verdict_and_its_neighbour_has(stage: Stage) -> None:
    bad, good = sorted(play(stage, "is not set up", "").values(), key=lambda one: one.reward is not None)
    assert (bad.reward, bad.attempts, good.reward) == (None, 1, 1)
    assert "RecursionError: setup" in bad.reason


def test_a_trial_of_which_nothing_can_be_told_ends_the_job_after_the_others(stage: Stage) -> None:
    with pytest.raises(ExceptionGroup) as caught:
        play(stage, "is not made", "")
    assert "no agent today" in str(caught.value.exceptions[0])
    [result] = (stage.tmp / "jobs" / "job").glob("*/result.json")
    assert json.loads(result.read_text())["verifier_result"]["rewards"]["reward"] == 1


@pytest.mark.parametrize(("step", "judged"), [("start", False), ("freeze", False), ("stop", True)])
def test_so_is_an_environment_that_fails_in_no_known_way(stage: Stage, step: str, judged: bool) -> None:  # noqa: FBT001
    ended = play(stage, "", "", bursts=step).values()
    rewards = [one.reward for one in ended]
    assert sorted(rewards, key=str) == ([1, 1] if judged else [1, None])
    assert [one.attempts for one in ended] == [1, 1]


def test_a_retry_that_can_not_be_decided_is_none(stage: Stage) -> None:
    def burst(*_: object) -> bool:
        raise ZeroDivisionError

    stage.monkeypatch.setattr(again, "is_deserved", burst)
    assert [(one.reward, one.attempts) for one in play(stage, "", "raises").values()].count((1, 1)) == 1
    assert stage.calls.count("start") == 2
