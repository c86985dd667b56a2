"""The services and the command `admin` serve any application: what they say of a technology comes from its store."""

import re
from pathlib import Path

import pytest

from incident_arena.folders import PACKAGE

YET_TO_COME = {PACKAGE / "services" / "load" / "__init__.py"}
"""What still names some; this set only gets smaller."""
FILES = [
    *(path for path in sorted((PACKAGE / "services").rglob("*.py")) if path not in YET_TO_COME),
    PACKAGE / "surfaces" / "confined" / "agent" / "bin" / "admin",
]
TECHNOLOGY = re.compile(r"maria|mysql|redis|\brq\b|frappe", re.IGNORECASE)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_technology_is_named(path: Path) -> None:
    named = [
        f"{number}: {line}" for number, line in enumerate(path.read_text().splitlines(), 1) if TECHNOLOGY.search(line)
    ]
    assert named == []
