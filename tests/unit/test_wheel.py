"""The wheel holds all that a run needs, and from it everything is made as from a checkout."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PREFIX = "src/"
TELL = """
import json, sys
from pathlib import Path
from incident_arena import folders
from incident_arena.catalogue.export import digest, export
from incident_arena.catalogue.finding import find
from incident_arena.images import agents, build
from incident_arena.node import build as node_build
from incident_arena.settings import Settings

settings = Settings(home=Path("home"))
tasks = find(settings)
for name in tasks.names():
    export(tasks, name, Path("exported") / name)
images = [*build.plain_names(settings), *agents.image_recipes(folders.PACKAGE)]
print(json.dumps({
    "package": str(folders.PACKAGE),
    "checkout": folders.checkout() is not None,
    "node": node_build.key(),
    "images": {one.image.name: one.image.key for one in build.list_images(settings, images)},
    "tasks": {name: digest(Path("exported") / name) for name in tasks.names()},
}))
"""


def uv() -> str:
    """As `./arena` finds it, which has made the environment that this runs in."""
    found = shutil.which("uv") or str(ROOT / ".venv-uv/bin/uv")
    assert Path(found).exists(), "./arena --help installs uv"
    return found


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    folder = tmp_path_factory.mktemp("wheel")
    argv = [uv(), "build", "--wheel", "--quiet", "--out-dir", str(folder), str(ROOT)]
    subprocess.run(argv, check=True, capture_output=True, timeout=100)
    [file] = folder.glob("*.whl")
    return zipfile.ZipFile(file)


def told(package: Path, here: Path) -> dict[str, Any]:
    """What the package below a folder makes, in an empty folder."""
    (here / "home" / "bin").mkdir(parents=True)
    (here / "home" / "bin" / "coredns").touch()
    environment = {**os.environ, "PYTHONPATH": str(package), "PYTHONDONTWRITEBYTECODE": "1"}
    environment.pop("ARENA_SUBSTRATES", None)
    ended = subprocess.run(
        [sys.executable, "-c", TELL], cwd=here, env=environment, check=True, capture_output=True, text=True, timeout=100
    )
    found: dict[str, Any] = json.loads(ended.stdout)
    assert found.pop("package") == str(package / "incident_arena")
    return found


def test_every_file_of_the_package_is_in_it(wheel: zipfile.ZipFile) -> None:
    argv = ["git", "ls-files", "-z", f"{PREFIX}incident_arena"]
    tracked = subprocess.run(argv, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    wanted = {name.removeprefix(PREFIX) for name in tracked if name and (ROOT / name).exists()}
    assert len(wanted) > 300
    assert wanted <= set(wheel.namelist())
    for name in wanted:
        assert wheel.read(name) == (ROOT / PREFIX / name).read_bytes(), name


def test_keys_and_tasks_are_those_of_the_checkout_whatever_rights_its_files_get(
    wheel: zipfile.ZipFile, tmp_path: Path
) -> None:
    wheel.extractall(tmp_path / "site")  # leaves no file executable
    files = {path: path.stat().st_mtime_ns for path in (tmp_path / "site").rglob("*")}
    assert not [path for path in files if path.is_file() and path.stat().st_mode & 0o111]
    checkout, installed = told(ROOT / "src", tmp_path / "one"), told(tmp_path / "site", tmp_path / "two")
    assert (checkout.pop("checkout"), installed.pop("checkout")) == (True, False)
    assert installed == checkout
    assert "frappe/deletes-and-jobs-fail" in installed["tasks"]
    assert {"harness", "frappe", "mariadb", "agent-codex"} <= set(installed["images"])
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "site").rglob("*")} == files, "was written to"
