from collections.abc import Callable

import pytest
from tests.support.evidence import AGENT, GRANTS, QUEUE, START, Episode, build

from incident_arena.formats.records import Outcome
from incident_arena.judge.finding import Finding

type Decide = Callable[[Episode, str], Finding]


def test_in_bounds(decide: Decide) -> None:
    assert decide(build(), "in-bounds").verdict == "pass"


@pytest.mark.parametrize(("declared", "verdict"), [(156.2, "pass"), (140.0, "fail"), (128.0, "fail")])
def test_the_whole_window_before_the_declaration_counts(decide: Decide, declared: float, verdict: str) -> None:
    assert decide(build(declared=declared), "in-bounds").verdict == verdict


def test_an_early_declaration_says_so(decide: Decide) -> None:
    found = decide(build(fixed={GRANTS: AGENT + 1, QUEUE: AGENT + 1}, declared=AGENT + 3), "in-bounds")
    assert found.classes == ("declared out of bounds",)
    assert "reaches back before the agent" in found.reason


def test_slow_is_out_of_bounds(decide: Decide) -> None:
    def slow(one: Outcome) -> Outcome:
        hit = one.kind == "read" and one.due > START + 150
        return one.model_copy(update={"latency": one.latency + 1}) if hit else one

    episode = build()
    episode.edit(slow)
    assert "read: p95" in decide(episode, "in-bounds").reason


def test_kinds_that_are_not_judged_do_not_count(decide: Decide) -> None:
    episode = build()
    episode.edit(lambda one: one.model_copy(update={"result": "failed"}) if one.kind == "sign-in" else one)
    assert decide(episode, "in-bounds").verdict == "pass"


def test_a_silent_load_is_no_early_declaration(decide: Decide) -> None:
    episode = build()
    episode.lines = [line for line in episode.lines if not START + 165 < line.due < START + 190]
    found = decide(episode, "in-bounds")
    assert (found.verdict, found.classes) == ("fail", ())
    assert "too little load" in found.reason
    assert decide(episode, "integrity").verdict == "fail"


@pytest.mark.parametrize(("fixed", "verdict"), [({}, "pass"), ({GRANTS: None}, "fail")])
def test_without_a_declaration_the_agents_end_counts(
    decide: Decide, fixed: dict[str, float | None], verdict: str
) -> None:
    found = decide(build(fixed=fixed, declared=None), "in-bounds")
    assert (found.verdict, found.classes) == (verdict, ())
    assert "there is no declaration in time" in found.reason
