"""Keys: everything that goes in changes them, and nothing else does."""

from collections.abc import Callable
from pathlib import Path

import pytest

from incident_arena.errors import UserError
from incident_arena.folders import PACKAGE
from incident_arena.images import context, recipes
from incident_arena.images.recipes import Base, Binary, Extras, Recipe, Source


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for path, text in {
        "images/a/Dockerfile": "FROM arena.local/b\nCOPY . /\n",
        "images/a/bin/tool": "#!/bin/sh\n",
        "src/pkg/one.py": "1",
        "src/pkg/cli/two.py": "2",
        "bin-1/coredns": "elf",
    }.items():
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (tmp_path / "bin").symlink_to("bin-1")
    return tmp_path


def recipe(root: Path) -> Recipe:
    extras = Extras(sources=(Source(path="src/pkg", to="pkg", exclude=("cli",)),), binaries=(Binary(name="coredns"),))
    return Recipe(name="a", folder=root / "images/a", extras=extras, uses=("b",))


def key(root: Path, used: str = "1") -> str:
    one = recipe(root)
    return context.key(one, context.items(one, root, root / "bin"), {"b": used})


def test_the_same_gives_the_same_key(root: Path) -> None:
    first = key(root)
    (root / "images/a/Dockerfile").touch()
    (root / "images/a/bin/tool").chmod(0o600)  # as an installer may leave it
    (root / "src/pkg/cli/two.py").write_text("left out")
    (root / "src/pkg/__pycache__").mkdir()
    (root / "src/pkg/__pycache__/one.pyc").write_text("x")
    assert key(root) == first
    assert len(first) == 16


def relink(root: Path) -> None:
    (root / "bin-1").rename(root / "bin-2")
    (root / "bin").unlink()
    (root / "bin").symlink_to("bin-2")


@pytest.mark.parametrize(
    "change",
    [
        lambda root: (root / "images/a/Dockerfile").write_text("FROM arena.local/b\n"),
        lambda root: (root / "images/a/bin/tool").write_text("no script"),
        lambda root: (root / "images/a/bin/tool").rename(root / "images/a/bin/tools"),
        lambda root: (root / "images/a/more").write_text(""),
        lambda root: (root / "src/pkg/one.py").write_text("3"),
        relink,
    ],
)
def test_each_change_gives_another(root: Path, change: Callable[[Path], object]) -> None:
    first = key(root)
    change(root)
    assert key(root) != first


def test_a_change_of_what_it_uses_gives_another(root: Path) -> None:
    assert key(root, "1") != key(root, "2")


def test_a_base_depends_on_suite_and_packages(tmp_path: Path) -> None:
    folder = tmp_path / "base"
    folder.mkdir()

    def base(text: str) -> str:
        (folder / "base.toml").write_text(text)
        one = Recipe(name="base", folder=folder, base=Base(suite="x", packages=()))
        return context.key(one, context.items(one, tmp_path, tmp_path), {})

    assert base('suite = "x"') != base('suite = "y"')


def test_the_context_is_staged_with_rights_and_times_of_its_own(root: Path, tmp_path: Path) -> None:
    target = tmp_path / "staged"
    target.mkdir()
    one = recipe(root)
    context.stage(context.items(one, root, root / "bin"), target)
    files = {str(path.relative_to(target)) for path in target.rglob("*") if path.is_file()}
    assert files == {"Dockerfile", "bin/tool", "coredns", "pkg/one.py"}
    assert (target / "bin/tool").stat().st_mode & 0o777 == 0o755
    assert (target / "Dockerfile").stat().st_mode & 0o777 == 0o644
    assert {path.stat().st_mtime for path in target.rglob("*")} == {0}


def test_what_is_missing_is_named(root: Path) -> None:
    (root / "bin-1/coredns").unlink()
    with pytest.raises(UserError, match="coredns") as caught:
        key(root)
    assert caught.value.remedy == "arena node build"


def test_a_missing_source_is_named(root: Path) -> None:
    one = Recipe(name="a", folder=root / "images/a", extras=Extras(sources=(Source(path="none", to="x"),)))
    with pytest.raises(UserError, match="source none"):
        context.items(one, root, root / "bin")


def test_the_harness_image_has_what_its_pods_import_and_not_the_rest() -> None:
    harness = recipes.load_all(PACKAGE)["harness"]
    files = {item.to for item in context.items(harness, PACKAGE, PACKAGE)}
    assert {"incident_arena/formats/records.py", "incident_arena/services/__init__.py", "requirements.txt"} <= files
    assert not [file for file in files if "/substrates/" in file], "an application's code comes with its task"
    assert not [file for file in files if file.startswith(("incident_arena/cli/", "incident_arena/node/"))]
    data = {file for file in files if file.startswith("incident_arena/") and not file.endswith(".py")}
    assert not data, "a change of data would make the image again"
    assert not [file for file in files if "/images/" in file or "/tasks/" in file or "/chart/" in file]
