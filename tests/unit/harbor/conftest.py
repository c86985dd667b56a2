"""Evidence for the task of the checkout, and a way to run jobs on the fake cluster."""

import io
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from rich.console import Console
from tests.support import evidence as evidences
from tests.support.checkout import NAME, checkout, spec, write_task

from incident_arena.catalogue.finding import Catalogue
from incident_arena.harbor import job, playing
from incident_arena.harbor.outcome import Outcome
from incident_arena.settings import Settings

__all__ = ["EPISODE", "NAME", "Stage", "checkout", "settings", "spec", "stage", "write_task"]

EPISODE = "tests.support.fake_cluster:FakeEpisode"


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("ARENA_HOME", str(tmp_path / "home"))
    return Settings.from_environment()


@dataclass
class Stage:
    """Runs jobs on the fake cluster and tells what was called."""

    settings: Settings
    catalogue: Catalogue
    tmp: Path
    monkeypatch: pytest.MonkeyPatch

    @property
    def calls(self) -> list[str]:
        log = self.tmp / "calls"
        return [line.split()[0] for line in log.read_text().splitlines()] if log.exists() else []

    def evidence(self, change: Callable[[evidences.Episode], None] = lambda _: None, **play: object) -> str:
        episode = evidences.build(**play)  # type: ignore[arg-type]
        change(episode)
        return str(episode.write(self.tmp / "evidence"))

    def request(self, **more: object) -> job.Request:
        request = job.Request(
            tasks=playing.prepare(self.settings, self.catalogue, [NAME]),
            agent="oracle",
            scripts=(),
            model=None,
            trials=1,
            parallel=1,
            max_retries=0,
            keep=False,
            jobs=self.tmp / "jobs",
            name="job",
            episode=EPISODE,
        )
        return replace(request, **more)  # type: ignore[arg-type]

    def plan(self, **plan: object) -> None:
        self.monkeypatch.setenv("ARENA_FAKE", json.dumps({"log": str(self.tmp / "calls"), **plan}))

    def play(self, request: job.Request, **plan: object) -> list[Outcome]:
        self.plan(**plan)
        return playing.play(self.settings, request, Console(file=io.StringIO(), width=200))


@pytest.fixture
def stage(settings: Settings, checkout: Catalogue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    return Stage(settings, checkout, tmp_path, monkeypatch)
