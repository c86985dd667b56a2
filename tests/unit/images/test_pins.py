"""Versions in the images are pinned, and the harness's are those that the tests run with."""

import json
import re
import tomllib
from pathlib import Path

import pytest

from incident_arena.folders import PACKAGE
from incident_arena.images import agents

CHECKOUT = Path(__file__).parents[3]
LOCKS = PACKAGE / agents.FOLDER
HARNESS = PACKAGE / "images/recipes/harness/requirements.txt"
PYTHON = {
    "frappe": PACKAGE / "substrates/frappe/images/frappe/requirements.txt",
    "harness": HARNESS,
    **{name: LOCKS / f"{name}.lock" for name, one in agents.recipes(PACKAGE).items() if one.manager == "pypi"},
}
NODE = {
    "nodejs": PACKAGE / "images/recipes/nodejs/package-lock.json",
    **{name: LOCKS / f"{name}.lock" for name, one in agents.recipes(PACKAGE).items() if one.manager == "npm"},
}


def pins(file: Path) -> dict[str, str]:
    return dict(re.findall(r"^([A-Za-z0-9_.-]+)==(\S+)", file.read_text(), re.MULTILINE))


@pytest.mark.parametrize("image", PYTHON)
def test_every_requirement_has_a_version_and_hashes(image: str) -> None:
    text = PYTHON[image].read_text()
    requirements = re.split(r"\n(?=[A-Za-z])", text.strip())
    assert requirements
    for requirement in requirements:
        assert re.match(r"[A-Za-z0-9_.-]+==\S+ \\\n +--hash=sha256:", requirement), requirement


def test_the_harness_has_the_locked_versions() -> None:
    locked = {
        package["name"]: package["version"] for package in tomllib.loads((CHECKOUT / "uv.lock").read_text())["package"]
    }
    harness = pins(HARNESS)
    assert {name: locked[name] for name in harness} == harness


def test_the_harness_has_the_whole_extra() -> None:
    extra = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]["optional-dependencies"]["services"]
    names = {re.split(r"[<>=\[ ]", requirement)[0] for requirement in extra}
    assert names <= set(pins(HARNESS))


@pytest.mark.parametrize("image", NODE)
def test_every_package_of_a_lock_has_a_version_and_a_hash(image: str) -> None:
    packages = json.loads(NODE[image].read_text())["packages"]
    assert len(packages) > 1
    for path, package in packages.items():
        # What is bundled comes in another's archive, which has the hash.
        if path and not package.get("inBundle"):
            assert package["version"], path
            assert package["integrity"].startswith("sha512-"), path
        assert "resolved" not in package, path


@pytest.mark.parametrize("name", agents.recipes(PACKAGE))
def test_an_agents_lock_is_of_its_recipes_version(name: str) -> None:
    agent = agents.recipes(PACKAGE)[name]
    if agent.manager == "npm":
        locked = json.loads(NODE[name].read_text())["packages"]
        assert locked[""]["dependencies"] == {agent.package: agent.version}
        assert locked[f"node_modules/{agent.package}"]["version"] == agent.version
    else:
        locked = pins(PYTHON[name])
        wanted = agents.requirements(agent, agent.version)
        assert locked[agent.package] == agent.version
        assert {re.split(r"[=\[]", one)[0] for one in wanted} <= set(locked)
