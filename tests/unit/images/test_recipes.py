"""Recipes: read, ordered, and refused when they are wrong."""

from pathlib import Path

import pytest

from incident_arena.errors import UserError
from incident_arena.folders import PACKAGE
from incident_arena.images import recipes


def write(root: Path, name: str, **files: str) -> Path:
    folder = root / "images" / "recipes" / name
    folder.mkdir(parents=True, exist_ok=True)
    for file, text in files.items():
        (folder / file.replace("_", ".")).write_text(text)
    return folder


BASE = 'suite = "bookworm"\npackages = ["ca-certificates"]\n'


def test_what_others_use_comes_first(tmp_path: Path) -> None:
    write(tmp_path, "a", Dockerfile="FROM arena.local/b AS one\nFROM scratch\nCOPY --from=arena.local/c /x /x\n")
    write(tmp_path, "b", Dockerfile="FROM arena.local/c\n")
    write(tmp_path, "c", base_toml=BASE)
    loaded = recipes.load_all(tmp_path)
    assert list(loaded) == ["c", "b", "a"]
    assert loaded["a"].uses == ("b", "c")
    assert loaded["c"].base == recipes.Base(suite="bookworm", packages=("ca-certificates",))


def test_a_folder_without_a_recipe_is_none(tmp_path: Path) -> None:
    write(tmp_path, "notes", readme="x")
    write(tmp_path, "c", base_toml=BASE)
    assert list(recipes.load_all(tmp_path)) == ["c"]


def test_stores_and_substrates_have_their_own(tmp_path: Path) -> None:
    package, elsewhere = tmp_path / "package", tmp_path / "shop"
    for folder in (package / "substrates" / "office", elsewhere):
        (folder / "chart").mkdir(parents=True)
        (folder / "chart" / "Chart.yaml").touch()
    write(package, "base", base_toml=BASE)
    for folder in (package / "stores" / "db", package / "substrates" / "office", elsewhere):
        image = folder / "images" / f"{folder.name}-image"
        image.mkdir(parents=True)
        (image / "Dockerfile").write_text("FROM arena.local/base\n")
    assert set(recipes.load_all(package)) == {"base", "db-image", "office-image"}
    assert set(recipes.load_all(package, [elsewhere])) == {"base", "db-image", "office-image", "shop-image"}
    (elsewhere / "images" / "shop-image").rename(elsewhere / "images" / "db-image")
    with pytest.raises(UserError, match="'db-image': has two recipes"):
        recipes.load_all(package, [elsewhere])


def test_a_stage_of_its_own_is_no_image(tmp_path: Path) -> None:
    write(tmp_path, "a", Dockerfile="FROM scratch AS build\nFROM scratch\nCOPY --from=build /x /x\n")
    assert recipes.load_all(tmp_path)["a"].uses == ()


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({"Dockerfile": "FROM arena.local/none\n"}, "none"),
        ({"Dockerfile": "FROM arena.local/a\n"}, "circle"),
        ({"Dockerfile": "FROM scratch\n", "image_toml": "[[sources]]\npath = 1\n"}, "sources.0"),
        ({"Dockerfile": "FROM scratch\n", "image_toml": "[["}, "can't be read"),
        ({"base_toml": 'suite = "x"\n'}, "packages"),
        ({"base_toml": f"{BASE}more = 1\n"}, "more"),
    ],
)
def test_a_wrong_recipe_is_refused_with_its_name(tmp_path: Path, files: dict[str, str], reason: str) -> None:
    write(tmp_path, "a", **files)
    with pytest.raises(UserError, match=reason):
        recipes.load_all(tmp_path)


def test_the_recipes_of_the_checkout_hold_together() -> None:
    loaded = recipes.load_all(PACKAGE)
    assert {"pause", "coredns", "mariadb", "redis", "edge", "frappe", "telemetry", "harness", "agent"} <= set(loaded)
    assert set(loaded["frappe"].uses) == {"base-trixie", "mariadb", "redis"}


def test_every_image_has_a_user_by_number_that_is_not_root() -> None:
    for recipe in recipes.load_all(PACKAGE).values():
        if recipe.folder and recipe.base is None:
            lines = (recipe.folder / "Dockerfile").read_text().split("\nFROM ")[-1].splitlines()
            if recipe.name == "frappe":  # the last stage is made from one that has it
                lines = (recipe.folder / "Dockerfile").read_text().split(" AS app\n")[1].splitlines()
            users = [line.split()[1] for line in lines if line.startswith("USER ")]
            assert users, recipe.name
            assert int(users[0].split(":")[0]) > 0, recipe.name
