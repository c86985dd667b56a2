"""Judging one check of an episode."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.evidence import Episode

from incident_arena.judge import checks
from incident_arena.judge.evidence import load
from incident_arena.judge.finding import Finding
from incident_arena.judge.trial import Trial


@pytest.fixture
def decide(tmp_path: Path) -> Callable[[Episode, str], Finding]:
    specs = {spec.name: spec for spec in checks.specs()}
    return lambda episode, name: specs[name].decide(Trial(load(episode.write(tmp_path / "evidence"))))
