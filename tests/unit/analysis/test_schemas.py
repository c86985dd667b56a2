"""The published schemas and reference are those of the code."""

from pathlib import Path

import pytest

from incident_arena.analysis.cells import table_names
from incident_arena.analysis.schemas import FOLDER, documents, main, reference

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("name", sorted(documents()))
def test_published_documents_are_up_to_date(name):
    assert (ROOT / FOLDER / name).read_text() == documents()[name], (
        "run `uv run python -m incident_arena.analysis.schemas`"
    )


def test_documents_are_written_where_asked(tmp_path):
    main(tmp_path / "new")
    written = {str(path.relative_to(tmp_path / "new")) for path in (tmp_path / "new").rglob("*") if path.is_file()}
    assert written == set(documents())


def test_the_reference_has_every_table():
    text = reference()
    for name in table_names():
        assert f"## `{name}`:" in text
