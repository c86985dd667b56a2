"""Progress is seen with and without a terminal."""

import io

import pytest
from rich.console import Console

from incident_arena.cli import say


@pytest.mark.parametrize("terminal", [False, True])
def test_each_line_of_progress_is_kept(monkeypatch: pytest.MonkeyPatch, terminal: bool) -> None:  # noqa: FBT001
    text = io.StringIO()
    monkeypatch.setattr(say, "console", Console(file=text, force_terminal=terminal, width=80, color_system=None))
    with say.working("building") as show:
        show("building image [x]")
        show("built image [x] in 3 s")
    lines = text.getvalue()
    assert "building image [x]" in lines
    assert "built image [x] in 3 s\n" in lines
    if not terminal:
        assert lines == "building image [x]\nbuilt image [x] in 3 s\n"
