"""Names, indexes and CPUs of new nodes."""

from pathlib import Path

import pytest

from incident_arena.errors import UserError
from incident_arena.node import allocate
from incident_arena.node.spec import NodeSpec
from incident_arena.settings import Settings


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path, max_nodes=8)


def make(settings: Settings, name: str, cpu_count: int | None = None) -> NodeSpec:
    return allocate.allocate(
        settings, name, bin_folder=settings.home, sandbox_image="pause", owner=None, cpu_count=cpu_count
    )


def test_two_nodes_get_two_indexes(settings: Settings) -> None:
    assert make(settings, "a").index != make(settings, "b").index
    assert [spec.name for spec in allocate.existing(settings)] == ["a", "b"]


def test_a_taken_name_is_refused_with_the_remedy(settings: Settings) -> None:
    make(settings, "a")
    with pytest.raises(UserError) as raised:
        make(settings, "a")
    assert raised.value.remedy == "arena node down a"


@pytest.mark.parametrize("name", ["", "A", "a_b", "-a", "a-", "a/b", "..", "a" * 43])
def test_a_name_that_is_no_dns_label_is_refused(settings: Settings, name: str) -> None:
    with pytest.raises(UserError, match="DNS label"):
        make(settings, name)


def test_a_half_written_node_is_passed_over(settings: Settings) -> None:
    make(settings, "a")
    (settings.nodes / "b").mkdir()
    (settings.nodes / "b" / "node.json").write_text('{"name": "b"')
    assert [spec.name for spec in allocate.existing(settings)] == ["a"]


def test_one_node_too_many_is_refused_with_the_names_of_the_others(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, max_nodes=2)
    make(settings, "a")
    make(settings, "b")
    with pytest.raises(UserError, match="more than this machine's 2; there are: a, b"):
        make(settings, "c")
