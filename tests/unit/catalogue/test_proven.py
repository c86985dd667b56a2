"""A proof stands beside its task, unless the package is an installed one."""

import pytest
from tests.unit.harbor.conftest import NAME

from incident_arena import folders
from incident_arena.catalogue import proven
from incident_arena.catalogue.finding import Catalogue
from incident_arena.formats.proof import Proof
from incident_arena.settings import Settings


def test_it_is_beside_the_task(checkout: Catalogue, settings: Settings) -> None:
    assert proven.find(settings, checkout, NAME) is None
    path = proven.place(settings, checkout, NAME)
    assert path == checkout.folder(NAME) / "proof.json"
    path.write_text(Proof(task=NAME).model_dump_json())
    assert proven.find(settings, checkout, NAME) == Proof(task=NAME)


def test_nothing_is_written_into_an_installed_package(
    checkout: Catalogue, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    came, here = Proof(task=NAME), Proof(task="what was proven here")
    (checkout.folder(NAME) / "proof.json").write_text(came.model_dump_json())
    monkeypatch.setattr(folders, "PACKAGE", checkout.root)
    monkeypatch.setattr(folders, "checkout", lambda: None)
    path = proven.place(settings, checkout, NAME)
    assert path.is_relative_to(settings.home)
    assert proven.find(settings, checkout, NAME) == came
    path.parent.mkdir(parents=True)
    path.write_text(here.model_dump_json())
    assert proven.find(settings, checkout, NAME) == here
