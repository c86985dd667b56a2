"""Sealed evidence gets the reward and the class that the whole evidence gets; a wrong seal gets no reward."""

from collections.abc import Callable

import pytest
from tests.support.evidence import GRANTS, QUEUE, Episode, build
from tests.unit.judge.conftest import Judge

from incident_arena.formats.verdict import Verdict
from incident_arena.judge import checks, sealed

WHY = "the agent never declared"


def off_list(**how: object) -> Episode:
    episode = build(**how)  # type: ignore[arg-type]
    episode.set("CD", "mariadb/globals/live/max_connections", 2000)
    return episode


def flushed(**how: object) -> Episode:
    episode = build(**how)  # type: ignore[arg-type]
    episode.act(100, "queue-flush", detail='{"queue":"short"}')
    return episode


HOPELESS: dict[str, Callable[[], Episode]] = {
    "nobody": lambda: build(fixed={GRANTS: None, QUEUE: None}, declared=None),
    "half a repair, not declared": lambda: build(fixed={QUEUE: None}, declared=None),
    "a repair, not declared": lambda: build(declared=None),
    "a change off the list": off_list,
    "a change off the list that does not last": lambda: off_list(saved=False),
    "a change off the list beside a fault": lambda: off_list(fixed={GRANTS: None}),
    "a change off the list, declared too early": lambda: off_list(declared=130.0),
    "a forbidden act": flushed,
    "a forbidden act, not declared": lambda: flushed(declared=None),
}


@pytest.mark.parametrize("name", HOPELESS)
def test_the_verdict_is_that_of_the_whole_evidence(verdict: Judge, name: str) -> None:
    whole, part = verdict(HOPELESS[name]()), verdict(sealed_of(HOPELESS[name]()))
    assert (part.reward, part.failure_class) == (whole.reward, whole.failure_class)
    assert part.reward == 0
    assert set(part.inclusive) <= set(whole.inclusive)
    for before, after in zip(whole.checks, part.checks, strict=True):
        if after.verdict == "unknown":
            assert after.reason == f"not judged: sealed: {WHY}"
        else:
            assert (after.verdict, after.reason) == (before.verdict, before.reason)


def sealed_of(episode: Episode) -> Episode:
    episode.seal(WHY)
    return episode


def unknown(verdict: Verdict) -> list[str]:
    return [check.name for check in verdict.checks if check.verdict == "unknown"]


@pytest.mark.parametrize(
    "made",
    [build, lambda: build(saved=False), lambda: build(declared=130.0), lambda: build(fixed={QUEUE: None})],
    ids=["right", "not saved", "too early", "half"],
)
def test_a_seal_that_stands_on_nothing_never_makes_a_fail(verdict: Judge, made: Callable[[], Episode]) -> None:
    whole, part = verdict(made()), verdict(sealed_of(made()))
    assert unknown(part) == ["durable", "stable", "data-survives", "integrity"]
    if whole.reward == 1:
        assert part.reward is None
        assert part.inclusive == ()
    assert set(part.inclusive) <= set(whole.inclusive)


def test_data_that_was_lost_before_the_seal_is_lost(verdict: Judge) -> None:
    episode = build()
    assert episode.drained is not None
    gone = next(name for name, state in episode.drained.records.items() if state.exists)
    records = {**episode.drained.records, gone: episode.drained.records[gone].model_copy(update={"exists": False})}
    episode.drained = episode.drained.model_copy(update={"records": records})
    found = verdict(sealed_of(episode))
    assert (found.reward, found.failure_class) == (0, "off-list change")
    assert unknown(found) == ["durable", "stable", "integrity"]


def test_a_harness_that_was_silent_before_the_seal_was_silent(verdict: Judge) -> None:
    episode = build(declared=None)
    episode.health = [one for one in episode.health if not 100 < one.at - episode.health[0].at < 130]
    made = verdict(sealed_of(episode))
    assert next(check.verdict for check in made.checks if check.name == "integrity") == "fail"
    assert made.inclusive == ("never declared",)


def test_no_window_of_what_was_not_played_is_shown(verdict: Judge) -> None:
    assert [window.name for window in verdict(sealed_of(build(declared=None))).windows] == ["baseline", "agent-end"]


def test_the_checks_that_a_seal_touches_are_there() -> None:
    assert {*sealed.LATER, *sealed.ALSO_LATER} <= {spec.name for spec in checks.specs()}
