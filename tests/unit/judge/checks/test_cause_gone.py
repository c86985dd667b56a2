from collections.abc import Callable

import pytest
from tests.support.evidence import AGENT_END, FAULTS, GRANTS, QUEUE, START, Episode, build

from incident_arena.judge.finding import Finding

type Decide = Callable[[Episode, str], Finding]


def see(episode: Episode, fault: str, start: float, end: float, state: str) -> Episode:
    """Let an observer see `state` in [start, end]."""
    episode.observations = [
        one.model_copy(update={"state": state})
        if one.fault == fault and START + start <= one.at <= START + end
        else one
        for one in episode.observations
    ]
    return episode


def test_clear(decide: Decide) -> None:
    assert decide(build(), "cause-gone").verdict == "pass"


@pytest.mark.parametrize("fault", FAULTS)
def test_one_cause_left(decide: Decide, fault: str) -> None:
    found = decide(build(fixed={fault: None}), "cause-gone")
    assert (found.verdict, found.reason) == ("fail", f"{fault} still there")
    assert found.classes == ("cause or damage left",)
    assert found.at == START + 197


def test_a_cause_that_comes_back_before_the_soak_is_left(decide: Decide) -> None:
    assert decide(see(build(), GRANTS, 201, 202, "planted"), "cause-gone").verdict == "fail"


def test_one_that_comes_back_in_the_soak_is_another_checks(decide: Decide) -> None:
    assert decide(see(build(), GRANTS, 205, 290, "planted"), "cause-gone").verdict == "pass"


def test_a_cause_there_until_the_agents_end_alone_is_gone(decide: Decide) -> None:
    assert decide(see(build(), GRANTS, 60, AGENT_END - 0.1, "planted"), "cause-gone").verdict == "pass"


def test_a_blind_observer_is_unknown(decide: Decide) -> None:
    found = decide(see(build(), QUEUE, 196, 290, "unknown"), "cause-gone")
    assert (found.verdict, found.reason) == ("unknown", "redis-queue.config could not be observed")


def test_one_blind_look_is_nothing(decide: Decide) -> None:
    assert decide(see(build(), QUEUE, 197, 198, "unknown"), "cause-gone").verdict == "pass"


def test_blind_last_looks_do_not_outweigh_one_that_saw(decide: Decide) -> None:
    found = decide(see(build(), QUEUE, 199, 205, "unknown"), "cause-gone")
    assert (found.verdict, found.reason) == ("pass", "every planted fault was clear")


def test_blind_last_looks_hide_no_cause(decide: Decide) -> None:
    episode = see(see(build(), QUEUE, 197, 198, "planted"), QUEUE, 199, 205, "unknown")
    assert decide(episode, "cause-gone").verdict == "fail"


def test_no_look_at_all_is_unknown(decide: Decide) -> None:
    episode = build()
    episode.observations = [one for one in episode.observations if one.at < START + 196]
    assert decide(episode, "cause-gone").verdict == "unknown"


def test_a_cause_seen_left_outweighs_a_blind_one(decide: Decide) -> None:
    assert decide(see(build(fixed={GRANTS: None}), QUEUE, 196, 290, "unknown"), "cause-gone").verdict == "fail"
