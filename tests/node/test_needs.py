"""The images that a task needs, as helm itself renders its chart."""

from pathlib import Path

import pytest

from incident_arena.catalogue import finding as catalogue
from incident_arena.catalogue.export import export
from incident_arena.episode import needs
from incident_arena.settings import Settings

pytestmark = pytest.mark.node

NAME = "frappe/deletes-and-jobs-fail"


def test_a_frappe_task_needs_the_substrates_images_and_the_agents_own(tmp_path: Path) -> None:
    export(catalogue.find(Settings()), NAME, tmp_path / "task")
    named = needs.image_names(Settings.from_environment(), tmp_path / "task" / "environment", "agent-codex")
    assert named == {
        "agent-codex", "coredns", "edge", "frappe", "gateway", "harness", "mariadb", "pause", "redis",
        "telemetry",
    }  # fmt: skip
