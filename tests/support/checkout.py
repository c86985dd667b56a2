"""A checkout with one task, as the fixtures `spec` and `checkout`: a conftest.py imports those that its tests take."""

import json
from pathlib import Path

import pytest
import toml
from tests.support import evidence as evidences

from incident_arena.catalogue.finding import Catalogue
from incident_arena.formats.task import TaskSpec

NAME = "frappe/deletes-and-jobs-fail"
STORES = [
    {"name": "mariadb", "kind": "mariadb", "port": 3306, "account": "site", "options": {"database": "site"}},
    {"name": "redis-queue", "kind": "redis", "port": 6379, "account": "app"},
    {"name": "redis-cache", "kind": "redis", "port": 6379, "account": "app"},
    {"name": "jobs", "kind": "rq", "host": "redis-queue", "port": 6379, "account": "app"},
]
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
    components = {each.component: "x" for each in spec.challenges if each.kind == "restart"}
    told = {"harness": {"application": {"components": components, "stores": STORES}}}
    (chart / "values.yaml").write_text(json.dumps(told))
    # What the package's own surface asks for, in programs that are started.
    (chart.parent / "facts.toml").write_text('entry = "http://edge:8081"\nclients = []\n')
    harness = root / "harness" / "chart"
    harness.mkdir(parents=True)
    (harness / "Chart.yaml").write_text("apiVersion: v2\nname: harness\nversion: 0.1.0\n")
    (root / "surfaces" / "confined" / "chart").mkdir(parents=True)
    (root / "surfaces" / "confined" / "chart" / "agent.yaml").write_text("# the agent's pod\n")
    (root / "surfaces" / "confined" / "instruction.md").write_text("You have a shell.\n")
    write_task(root, spec)
    return Catalogue(root)
