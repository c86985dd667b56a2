"""A task needs the images that its manifests name; the agent's own stands for `agent`."""

import json
from pathlib import Path

import pytest

from incident_arena.catalogue import finding as catalogue
from incident_arena.catalogue.export import export
from incident_arena.episode import needs
from incident_arena.errors import UserError
from incident_arena.images import build
from incident_arena.images.build import BuiltImage
from incident_arena.node import build as node_build
from incident_arena.settings import Settings

MANIFESTS = """\
kind: Pod
spec:
  initContainers:
    - image: arena.local/mariadb:asked
  containers:
    - {name: agent, image: "arena.local/agent:asked"}
    - image: 'arena.local/mariadb:asked'
---
kind: ConfigMap
data: {note: "arena.local/redis:4f2a is not an image that was asked for"}
"""
NAME = "frappe/deletes-and-jobs-fail"


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """A helm that keeps what it is told and gives MANIFESTS; tests/node has the real one."""
    settings = Settings(home=tmp_path / "home")
    settings.bin.mkdir(parents=True)
    (settings.home / "manifests").write_text(MANIFESTS)
    helm = settings.bin / "helm"
    helm.write_text(f'#!/bin/sh\ncd {settings.home} && cat > told && echo "$@" > argv && cat manifests\n')
    helm.chmod(0o755)
    monkeypatch.setattr(node_build, "is_built", lambda _: True)
    return settings


@pytest.fixture
def task(tmp_path: Path) -> Path:
    export(catalogue.find(Settings()), NAME, tmp_path / "task")
    return tmp_path / "task" / "environment"


def test_those_that_the_manifests_name_and_those_of_every_node(settings: Settings, task: Path) -> None:
    assert needs.image_names(settings, task) == {"mariadb", "agent", "pause", "coredns"}
    told = json.loads((settings.home / "told").read_text())
    assert told["global"]["images"]["redis"] == "arena.local/redis:asked"
    assert "nodejs" not in told["global"]["images"]
    assert str(task / "chart") in (settings.home / "argv").read_text()


def test_the_agents_own_stands_for_the_plain_one(settings: Settings, task: Path) -> None:
    asked = needs.image_names(settings, task, "agent-codex@1.2.3")
    assert asked == {"mariadb", "agent-codex@1.2.3", "pause", "coredns"}


def test_the_chart_gets_the_agents_own_as_agent(
    settings: Settings, task: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def find(_: Settings, names: frozenset[str]) -> dict[str, BuiltImage]:
        return {name: BuiltImage(name, "k", f"arena.local/{name}:k", Path(f"{name}-k.tar")) for name in names}

    monkeypatch.setattr(build, "find_images", find)
    found = needs.find(settings, task, "agent-codex")
    assert set(found) == {"mariadb", "agent", "pause", "coredns"}
    assert found["agent"].reference == "arena.local/agent-codex:k"
    assert needs.find(settings, task)["agent"].reference == "arena.local/agent:k"


def test_without_the_nodes_binaries_it_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="not built") as caught:
        needs.image_names(Settings(home=tmp_path / "home"), tmp_path)
    assert caught.value.remedy == "arena node build"
