"""Lines of progress."""

import pytest

from incident_arena.progress import step


def test_one_line_when_it_begins_and_one_when_it_has_ended() -> None:
    said: list[str] = []
    with step(said.append, "building a house", "built a house"):
        assert said == ["building a house"]
    assert said == ["building a house", "built a house in 0 s"]


def test_what_fails_is_not_said_to_be_done() -> None:
    said: list[str] = []
    with pytest.raises(KeyError), step(said.append, "building", "built"):
        raise KeyError
    assert said == ["building"]
