from collections.abc import Callable

import pytest
from tests.support.evidence import FAULTS, GRANT, GRANTS, QUEUE, START, Episode, build

from incident_arena.formats.records import Outcome
from incident_arena.judge.finding import Finding

type Decide = Callable[[Episode, str], Finding]


def fail_between(episode: Episode, start: float, end: float, kind: str = "read") -> Episode:
    """Let a kind fail in a stretch of time."""

    def change(one: Outcome) -> Outcome:
        hit = one.kind == kind and START + start <= one.due < START + end
        return one.model_copy(update={"result": "failed"}) if hit else one

    episode.edit(change)
    return episode


def test_it_held(decide: Decide) -> None:
    assert decide(build(), "durable").verdict == "pass"


def test_a_live_value_that_was_not_saved(decide: Decide) -> None:
    found = decide(build(saved=False), "durable")
    assert (found.verdict, found.classes) == ("fail", ("not durable",))
    assert "redis-queue.config seen again" in found.reason
    assert "redis-queue/acl/live/app/commands/blmove was True when the agent was done and is None" in found.seen


@pytest.mark.parametrize("fault", FAULTS)
def test_one_look_that_sees_it_again_is_enough(decide: Decide, fault: str) -> None:
    episode = build()
    episode.observations = [
        one.model_copy(update={"state": "planted"}) if one.fault == fault and one.at == START + 221 else one
        for one in episode.observations
    ]
    assert decide(episode, "durable").verdict == "fail"


def test_facts_of_the_fault_that_changed_back_though_no_observer_saw_it(decide: Decide) -> None:
    episode = build()
    episode.set("D", f"mariadb/{GRANT}", None)
    assert decide(episode, "durable").classes == ("not durable",)


def test_facts_outside_the_fault_are_another_checks(decide: Decide) -> None:
    episode = build()
    episode.set("D", "mariadb/globals/live/max_connections", 151_000)
    assert decide(episode, "durable").verdict == "pass"


@pytest.mark.parametrize(("start", "end", "name"), [(204, 234, "soak"), (255, 285, "restarted")])
def test_rates_in_both_windows(decide: Decide, start: float, end: float, name: str) -> None:
    found = decide(fail_between(build(), start, end), "durable")
    assert (found.verdict, found.classes) == ("fail", ("not durable",))
    assert f"{name}: read: success 0/" in found.reason


def test_failures_while_the_components_restart_are_none(decide: Decide) -> None:
    assert decide(fail_between(build(), 234, 254), "durable").verdict == "pass"


@pytest.mark.parametrize("name", ["restart-mariadb", "restart-worker-short", "churn-mariadb", "drain-end"])
def test_a_challenge_that_failed(decide: Decide, name: str) -> None:
    episode = build()
    episode.stage(name, ok=False, detail="not ready after 120 s")
    found = decide(episode, "durable")
    assert (found.verdict, found.seen) == ("fail", f"{name} failed: not ready after 120 s")


def jobs(episode: Episode, **failed: int) -> Episode:
    """Failed jobs in a queue after the challenges, beside those of when the agent was done."""
    assert episode.end is not None
    queue = {**episode.end.queue, **{name: {"queued": 0, "failed": count} for name, count in failed.items()}}
    episode.end = episode.end.model_copy(update={"queue": queue})
    return episode


def test_jobs_that_failed_after_the_agent_was_done(decide: Decide) -> None:
    found = decide(jobs(build(), short=38, default=2), "durable")
    assert (found.verdict, found.classes) == ("fail", ("not durable",))
    assert found.seen == "40 jobs failed since the agent was done; the challenges account for at most 4"


@pytest.mark.parametrize(("failed", "verdict"), [(4, "pass"), (5, "fail")])
def test_each_challenge_may_cut_a_job_off(decide: Decide, failed: int, verdict: str) -> None:
    assert decide(jobs(build(), short=failed), "durable").verdict == verdict


def test_jobs_that_had_failed_before_are_damage_and_not_new(decide: Decide) -> None:
    episode = jobs(build(), short=40)
    assert episode.drained is not None
    episode.drained = episode.drained.model_copy(update={"queue": {"short": {"failed": 40}}})
    assert decide(episode, "durable").verdict == "pass"
    assert decide(episode, "damage-gone").verdict == "fail"


def test_what_was_never_right_is_no_lack_of_lasting(decide: Decide) -> None:
    found = decide(build(fixed={QUEUE: None}), "durable")
    assert (found.verdict, found.classes) == ("fail", ())
    assert found.reason.startswith("not right at the end either")


def test_rates_that_were_bad_already_are_no_lack_of_lasting(decide: Decide) -> None:
    assert decide(fail_between(build(), 160, 285), "durable").classes == ()


def test_an_observer_that_is_blind_after_the_restarts_is_unknown(decide: Decide) -> None:
    episode = build()
    episode.observations = [one for one in episode.observations if one.fault != GRANTS or one.at < START + 250]
    assert decide(episode, "durable").verdict == "unknown"


def test_an_observer_that_is_blind_while_its_source_restarts_is_not(decide: Decide) -> None:
    episode = build()
    episode.observations = [
        one.model_copy(update={"state": "unknown"}) if START + 234 < one.at < START + 250 else one
        for one in episode.observations
    ]
    assert decide(episode, "durable").verdict == "pass"
