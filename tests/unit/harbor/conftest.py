"""A checkout with one task, evidence for it, and a way to run jobs on the fake cluster."""

import io
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import toml
from rich.console import Console
from tests.support import evidence as evidences

from incident_arena.catalogue.finding import Catalogue
from incident_arena.formats.task import TaskSpec
from incident_arena.harbor import job, playing
from incident_arena.harbor.outcome import Outcome
from incident_arena.settings import Settings

NAME = "frappe/deletes-and-jobs-fail"
EPISODE = "tests.support.fake_cluster:FakeEpisode"
SOLVE = "#!/bin/sh\nid -u\necho solved > /logs/agent/solved.txt\n"


def write_task(root: Path, spec: TaskSpec) -> Path:
    substrate, _, task = spec.name.partition("/")
    folder = root / "substrates" / substrate / "tasks" / task
    for part in ("solution", "wrong"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    (folder / "task.toml").write_text(toml.dumps(spec.model_dump(mode="json", exclude_none=True)))
    (folder / "instruction.md").write_text("Mend it in {{ (deadlines.agent / 60)|int }} minutes.\n{{ surface }}\n")
    for name, text in {
        "solution/solve.sh": SOLVE,
        "wrong/flush.sh": "#!/bin/sh\n# class: off-list change\necho flush\n",
    }.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    return folder


@pytest.fixture
def spec() -> TaskSpec:
    return evidences.task()


@pytest.fixture
def checkout(tmp_path: Path, spec: TaskSpec, monkeypatch: pytest.MonkeyPatch) -> Catalogue:
    root = tmp_path / "checkout"
    # For programs that are started: their own substrate of this name is not taken.
    monkeypatch.setenv("ARENA_SUBSTRATES", str(root / "substrates" / "frappe"))
    chart = root / "substrates" / "frappe" / "chart"
    chart.mkdir(parents=True)
    (chart / "Chart.yaml").write_text("apiVersion: v2\nname: frappe\nversion: 0.1.0\n")
    components = dict.fromkeys(spec.restarts, "x")
    (chart / "values.yaml").write_text(json.dumps({"harness": {"application": {"components": components}}}))
    harness = root / "harness" / "chart"
    harness.mkdir(parents=True)
    (harness / "Chart.yaml").write_text("apiVersion: v2\nname: harness\nversion: 0.1.0\n")
    (root / "surfaces" / "confined").mkdir(parents=True)
    (root / "surfaces" / "confined" / "instruction.md").write_text("You have a shell.\n")
    write_task(root, spec)
    return Catalogue(root)


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
