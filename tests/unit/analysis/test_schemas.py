"""The published schemas are those of the code."""

from pathlib import Path

from incident_arena.analysis.schemas import FOLDER, main, schemas


def test_published_schemas_are_up_to_date():
    root = Path(__file__).parents[3]
    for name, text in schemas().items():
        stale = f"{name}: run `uv run python -m incident_arena.analysis.schemas`"
        assert (root / FOLDER / name).read_text() == text, stale


def test_schemas_are_written_where_asked(tmp_path):
    main(tmp_path / "new")
    assert {path.name for path in (tmp_path / "new").iterdir()} == set(schemas())
