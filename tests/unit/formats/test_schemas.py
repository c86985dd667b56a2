import json
from pathlib import Path

import pytest
from pydantic import TypeAdapter
from tests.support.evidence import build

from incident_arena.formats.schemas import FOLDER, schemas, write

ROOT = Path(__file__).parents[3]
REMEDY = "run `.venv/bin/python -m incident_arena.formats.schemas`"


@pytest.mark.parametrize("name", sorted(schemas()))
def test_committed_schemas_are_current(name: str) -> None:
    assert (ROOT / FOLDER / name).read_text() == schemas()[name], REMEDY


@pytest.mark.parametrize("name", sorted(schemas()))
def test_each_names_its_version(name: str) -> None:
    assert '"version"' in schemas()[name]


def test_write(tmp_path: Path) -> None:
    write(tmp_path / "new")
    assert {path.name for path in (tmp_path / "new").iterdir()} == set(schemas())


def test_a_written_manifest_has_the_fields_of_its_schema(tmp_path: Path) -> None:
    manifest = TypeAdapter(dict[str, object]).validate_json((build().write(tmp_path) / "manifest.json").read_bytes())
    schema = json.loads(schemas()["manifest.json"])
    assert set(manifest) == set(schema["properties"])
