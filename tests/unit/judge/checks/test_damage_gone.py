from collections.abc import Callable

from tests.support.evidence import QUEUE, Episode, build

from incident_arena.judge.finding import Finding

type Decide = Callable[[Episode, str], Finding]


def test_healed(decide: Decide) -> None:
    assert decide(build(), "damage-gone").verdict == "pass"


def test_a_backlog_that_stands(decide: Decide) -> None:
    found = decide(build(fixed={QUEUE: None}), "damage-gone")
    assert (found.verdict, found.seen) == ("fail", "212 jobs queued in short")
    assert found.classes == ("cause or damage left",)


def test_a_backlog_that_stands_although_it_was_reconciled(decide: Decide) -> None:
    episode = build()
    episode.stage("drain", ok=False)
    assert decide(episode, "damage-gone").seen == "not drained after 5 s"


def test_no_reconciliation(decide: Decide) -> None:
    episode = build()
    episode.drained = None
    assert decide(episode, "damage-gone").verdict == "fail"


def test_failed_jobs(decide: Decide) -> None:
    episode = build()
    assert episode.drained
    episode.drained = episode.drained.model_copy(
        update={"queue": {"short": {"failed": 3}, "long": {"failed": 0}, "default": {}}}
    )
    found = decide(episode, "damage-gone")
    assert (found.verdict, found.seen) == ("fail", "3 failed jobs in short")


def test_records_of_before(decide: Decide) -> None:
    episode = build()
    assert episode.drained
    episode.drained = episode.drained.model_copy(update={"seeds_missing": ("Note/a", "Note/b")})
    assert decide(episode, "damage-gone").seen == "2 records of before missing"
