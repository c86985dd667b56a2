"""Charts are told fresh passwords each time, and the task's overlay never wins over them."""

from pathlib import Path

from incident_arena.episode import values


def test_mappings_are_merged_and_the_rest_replaced() -> None:
    under = {"a": {"b": 1, "c": [1, 2]}, "d": 1}
    over = {"a": {"c": [3], "e": 2}, "d": {"f": 1}}
    assert values.merge(under, over) == {"a": {"b": 1, "c": [3], "e": 2}, "d": {"f": 1}}
    assert under == {"a": {"b": 1, "c": [1, 2]}, "d": 1}


def test_an_overlay_without_content_is_fine(tmp_path: Path) -> None:
    (tmp_path / "values.yaml").write_text("# nothing\n")
    assert values.overlay(tmp_path) == {}
