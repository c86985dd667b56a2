"""Evidence that was recorded with a task of version 1, which named restarts, is judged as it ever was."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.evidence import GRANTS, QUEUE, START, Episode, build, earlier, task
from tests.unit.judge.conftest import Judge

from incident_arena.formats.task import Event, TaskSpec
from incident_arena.judge.evidence import EvidenceError, load


def right() -> Episode:
    return build()


def unsaved() -> Episode:
    return build(saved=False)


def undeclared() -> Episode:
    return build(declared=None)


def half() -> Episode:
    return build(fixed={GRANTS: None})


def nothing() -> Episode:
    return build(fixed={GRANTS: None, QUEUE: None}, declared=None)


def beyond() -> Episode:
    episode = build()
    episode.set("CD", "mariadb/accounts/site@%/grants/global/SUPER", value=True)
    episode.act(100, "queue-flush")
    return episode


def restart_failed() -> Episode:
    episode = build()
    episode.stage("restart-mariadb", ok=False, detail="not ready within 120 s")
    return episode


def churn_failed() -> Episode:
    episode = build()
    episode.stage("churn-mariadb", ok=False, detail="MariaDB does not answer")
    return episode


def lost_in_the_churn() -> Episode:
    """A job that was due when the connections ended did nothing: it may have been cut off."""
    episode = build()
    assert episode.end is not None
    name = next(
        name for line in episode.lines if line.type == "intent" and START + 250 < line.due < START + 251
        for name in line.records if name.startswith("job/")
    )  # fmt: skip
    state = episode.end.records[name]
    changed = state.model_copy(update={"exists": not state.exists})
    episode.end = episode.end.model_copy(update={"records": {**episode.end.records, name: changed}})
    return episode


@pytest.mark.parametrize(
    "play",
    [right, unsaved, undeclared, half, nothing, beyond, restart_failed, churn_failed, lost_in_the_churn],
)
def test_its_verdict_is_the_same(verdict: Judge, play: Callable[[], Episode]) -> None:
    now, then = play(), play()
    then.earlier = True
    found, before = verdict(now), verdict(then)
    assert _told(before) == _told(found)
    assert before.reward == (1 if play in {right, lost_in_the_churn} else 0)


def _told(verdict: object) -> str:
    """All of a verdict; a churn's stage was called by its kind alone."""
    return verdict.model_dump_json().replace("churn-mariadb", "churn")  # type: ignore[attr-defined]


def test_its_challenges_are_its_restarts_and_one_churn() -> None:
    read = TaskSpec.model_validate_json(earlier(task()))
    assert read.version == 2
    assert read.challenges == [*task().challenges[:-1], Event(kind="churn")]
    assert [challenge.stage for challenge in read.challenges][-2:] == ["restart-worker-short", "churn"]
    assert read.model_copy(update={"challenges": task().challenges}) == task()


def test_what_is_read_of_it_can_be_written_and_read_again() -> None:
    read = TaskSpec.model_validate_json(earlier(task()))
    assert TaskSpec.model_validate_json(read.model_dump_json()) == read


@pytest.mark.parametrize("stage", ["churn", "restart-redis-queue"])
def test_a_stage_that_it_lacks_is_missed(tmp_path: Path, stage: str) -> None:
    episode = build()
    episode.earlier = True
    episode.stages = [one for one in episode.stages if one.name not in {stage, f"{stage}-mariadb"}]
    with pytest.raises(EvidenceError, match=f"lacks the stages {stage}"):
        load(episode.write(tmp_path))


@pytest.mark.parametrize(
    ("version", "field"), [('"version": 1', "restart"), ('"version": 2', "restarts"), ('"version": 3', "restarts")]
)
def test_nothing_else_is_taken_for_it(version: str, field: str) -> None:
    text = earlier(task()).replace('"version": 1', version).replace('"restarts"', f'"{field}"')
    with pytest.raises(ValueError, match="validation error"):
        TaskSpec.model_validate_json(text)
