"""Versions in the images are pinned, and the harness's are those that the tests run with."""

import re
import tomllib
from pathlib import Path

import pytest

from incident_arena.images import recipes

ROOT = recipes.checkout()


def pins(file: Path) -> dict[str, str]:
    return dict(re.findall(r"^([A-Za-z0-9_.-]+)==(\S+)", file.read_text(), re.MULTILINE))


@pytest.mark.parametrize("image", ["frappe", "harness"])
def test_every_requirement_has_a_version_and_hashes(image: str) -> None:
    text = (ROOT / "images" / image / "requirements.txt").read_text()
    requirements = re.split(r"\n(?=[A-Za-z])", text.strip())
    assert requirements
    for requirement in requirements:
        assert re.match(r"[A-Za-z0-9_.-]+==\S+ \\\n +--hash=sha256:", requirement), requirement


def test_the_harness_has_the_locked_versions() -> None:
    locked = {
        package["name"]: package["version"] for package in tomllib.loads((ROOT / "uv.lock").read_text())["package"]
    }
    harness = pins(ROOT / "images/harness/requirements.txt")
    assert {name: locked[name] for name in harness} == harness


def test_the_harness_has_the_whole_extra() -> None:
    extra = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]["services"]
    names = {re.split(r"[<>=\[ ]", requirement)[0] for requirement in extra}
    assert names <= set(pins(ROOT / "images/harness/requirements.txt"))
