"""The services and the command `admin` serve any application: what they say of a technology comes from its store."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SERVICES = ROOT / "src" / "incident_arena" / "services"
YET_TO_COME = ("referee", "load")
"""Services that still name some; each leaves this list when it has its stores by their kind."""
FILES = [
    *(path for path in sorted(SERVICES.rglob("*.py")) if path.relative_to(SERVICES).parts[0] not in YET_TO_COME),
    ROOT / "surfaces" / "confined" / "agent" / "bin" / "admin",
]
TECHNOLOGY = re.compile(r"maria|mysql|redis|\brq\b|frappe", re.IGNORECASE)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_technology_is_named(path: Path) -> None:
    named = [
        f"{number}: {line}" for number, line in enumerate(path.read_text().splitlines(), 1) if TECHNOLOGY.search(line)
    ]
    assert named == []
