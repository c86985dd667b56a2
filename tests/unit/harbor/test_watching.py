"""Which trials are watched."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from incident_arena.errors import UserError
from incident_arena.formats.records import Stage
from incident_arena.harbor import watching
from incident_arena.harbor.journal import FILE, Attempt, Journal, next_folder
from incident_arena.harbor.watching import Watching, last_attempts, latest_job
from incident_arena.node.spec import NodeSpec, Process, this_process
from incident_arena.settings import Settings


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path / "home")


def begin(settings: Settings, job: str, trial: str, started: float = 1) -> Journal:
    number, folder = next_folder(settings.records, job, trial)
    attempt = Attempt(job=job, trial=trial, task="frappe/x", number=number, started=started, episode=f"ep-{trial}")
    return Journal(folder, attempt, settings.home / "jobs" / job)


def node(settings: Settings, name: str, owner: Process | None = None) -> None:
    folder = settings.nodes / name
    folder.mkdir(parents=True)
    spec = NodeSpec(name, 1, folder, settings.home, "10.200", "c", "p", owner=owner or this_process())
    replace(spec).write()


STAGE = Stage(name="node", started=1, seconds=2, ok=True)


async def test_trials_that_go_on_are_shown_and_others_are_not(settings: Settings) -> None:
    begin(settings, "job", "done", 1).stopped(100)
    begin(settings, "job", "a", 2).stage(STAGE)
    begin(settings, "job", "b", 3)
    node(settings, "ep-a")
    pictures = await Watching(settings, "job").look()
    assert [picture.attempt.trial for picture in pictures] == ["a", "b"]
    assert not any(picture.over for picture in pictures)
    assert [stage.name for stage in pictures[0].all_stages()] == ["node"]


async def test_when_none_goes_on_the_last_one_is_shown(settings: Settings) -> None:
    begin(settings, "job", "a", 1).stopped(100)
    begin(settings, "job", "b", 2).stopped(100)
    [picture] = await Watching(settings, "job").look()
    assert (picture.attempt.trial, picture.phase(), picture.over) == ("b", "over", True)


async def test_a_record_that_a_killed_runner_left_open_does_not_go_on(settings: Settings) -> None:
    begin(settings, "job", "gone", 1).stage(STAGE)
    begin(settings, "job", "killed", 2).stage(STAGE)
    begin(settings, "job", "alive", 3).stage(STAGE)
    node(settings, "ep-killed", Process(2**22 + 1, 1))
    node(settings, "ep-alive")
    pictures = await Watching(settings, "job").look()
    assert [picture.attempt.trial for picture in pictures] == ["alive"]


async def test_a_cluster_that_does_not_answer_costs_its_part_alone(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "Kube", lambda *_: _Dead())
    journal = begin(settings, "job", "a")
    for name in ("node", "deploy", "ready"):
        journal.stage(STAGE.model_copy(update={"name": name}))
    node(settings, "ep-a")
    [picture] = await Watching(settings, "job").look()
    assert (picture.task, len(picture.all_stages())) == (None, 3)


class _Dead:
    async def pod_of(self, _component: str) -> str:
        raise UserError("cluster", "is not there")


def test_the_last_attempt_of_each_trial_counts(settings: Settings) -> None:
    begin(settings, "job", "a", 1).inadmissible("x")
    begin(settings, "job", "a", 5)
    begin(settings, "job", "b", 3)
    assert [(one.trial, one.number) for one in last_attempts(settings, "job")] == [("b", 1), ("a", 2)]


def test_the_latest_job(settings: Settings) -> None:
    with pytest.raises(UserError, match="none was ever played"):
        latest_job(settings)
    begin(settings, "two", "b")
    os.utime(begin(settings, "one", "a").folder / FILE, (1, 1))
    assert latest_job(settings) == "two"
    with pytest.raises(UserError, match="has no records"):
        last_attempts(settings, "three")
