"""Judging an episode the way it is done: written to a folder, read back, verified, judged."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.evidence import Episode

from incident_arena.formats.verdict import Check, Verdict
from incident_arena.judge.decide import judge
from incident_arena.judge.evidence import load
from incident_arena.judge.trial import Trial

type Judge = Callable[[Episode], Verdict]


@pytest.fixture
def verdict(tmp_path: Path) -> Judge:
    return lambda episode: judge(load(episode.write(tmp_path / "evidence")))


@pytest.fixture
def check(verdict: Judge) -> Callable[[Episode, str], Check]:
    return lambda episode, name: next(one for one in verdict(episode).checks if one.name == name)


@pytest.fixture
def trial(tmp_path: Path) -> Callable[[Episode], Trial]:
    return lambda episode: Trial(load(episode.write(tmp_path / "evidence")))
