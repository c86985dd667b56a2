"""The core names no technology and no application: a word test over everything outside their own folders."""

import re
import tomllib
from pathlib import Path

import pytest

import incident_arena
from incident_arena import stores

ROOT = Path(incident_arena.__file__).parent
OWN = ("stores", "substrates")
PLATFORM = {"kubernetes"}
"""What all of it stands on."""
NEVER_READ = {"__pycache__", "agent_recipes", "go"}
"""Lists of packages of others, in which any word may stand: also requirements.* and base.toml."""
SIMULATED = {"simulate.py", "simulate_evidence.py", "simulate_verdict.py"}
"""The simulator makes up trials of the tasks that there are."""


def words() -> re.Pattern[str]:
    applications = [path.name for path in (ROOT / "substrates").iterdir() if (path / "chart").is_dir()]
    kinds = set(stores.kinds()) - PLATFORM
    assert applications
    assert kinds
    return re.compile(rf"(?<![a-z])(?:{'|'.join([*applications, *sorted(kinds), 'mysql'])})(?![a-z])", re.IGNORECASE)


def files() -> list[Path]:
    found = [path for path in sorted(ROOT.rglob("*")) if path.is_file() and path.relative_to(ROOT).parts[0] not in OWN]
    return [
        path
        for path in found
        if not NEVER_READ & set(path.relative_to(ROOT).parts)
        and path.name not in SIMULATED
        and path.stem not in {"base", "requirements"}
    ]


@pytest.mark.parametrize("path", files(), ids=lambda path: str(path.relative_to(ROOT)))
def test_no_technology_and_no_application_is_named(path: Path) -> None:
    pattern = words()
    try:
        lines = path.read_text().splitlines()
    except UnicodeDecodeError:
        return
    assert [line for line in lines if pattern.search(line)] == []


def test_the_word_test_finds_words() -> None:
    assert words().search("a Redis of MariaDB's")
    assert words().search("from incident_arena.substrates.frappe import x")
    assert not words().search("rqs")


def test_the_contracts_name_every_kind_of_store() -> None:
    contracts = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["tool"]["importlinter"]
    named = {module for contract in contracts["contracts"] for module in contract.get("forbidden_modules", ())}
    assert {f"incident_arena.stores.{kind}" for kind in set(stores.kinds()) - PLATFORM} <= named
