"""Substrates that stand elsewhere."""

from pathlib import Path

import pytest

from incident_arena import folders
from incident_arena.catalogue.finding import find
from incident_arena.errors import UserError
from incident_arena.settings import Settings


def substrate(folder: Path) -> Path:
    (folder / "chart").mkdir(parents=True)
    (folder / "chart" / "Chart.yaml").touch()
    return folder


def test_they_stand_beside_the_packages_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = substrate(tmp_path / "a" / "tally"), substrate(tmp_path / "b" / "ledgers")
    (one / "tasks" / "stuck").mkdir(parents=True)
    (one / "tasks" / "stuck" / "task.toml").touch()
    monkeypatch.setenv("ARENA_SUBSTRATES", f"{one}:{two}/")
    catalogue = find(Settings.from_environment())
    assert catalogue.substrates == folders.substrates(folders.PACKAGE, ()) | {"tally": one, "ledgers": two}
    assert "frappe" in catalogue.substrates
    assert catalogue.folder("tally/stuck") == one / "tasks" / "stuck"


def test_one_of_the_same_name_stands_for_the_packages_own(tmp_path: Path) -> None:
    own = substrate(tmp_path / "frappe")
    assert folders.substrates(folders.PACKAGE, [own])["frappe"] == own


def test_what_is_no_substrate_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no such folder") as caught:
        folders.substrates(folders.PACKAGE, [tmp_path / "none"])
    assert "ARENA_SUBSTRATES" in caught.value.remedy
    with pytest.raises(UserError, match=r"has no chart/Chart\.yaml"):
        folders.substrates(folders.PACKAGE, [tmp_path])
    with pytest.raises(UserError, match="has the name of another"):
        folders.substrates(folders.PACKAGE, [substrate(tmp_path / "a" / "x"), substrate(tmp_path / "b" / "x")])


def test_this_is_a_checkout() -> None:
    assert folders.checkout() == Path(__file__).parents[2]
