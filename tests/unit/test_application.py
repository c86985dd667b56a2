"""Applications are found by their folder's name, the product's own and those that lie elsewhere."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from incident_arena import application
from incident_arena.application import Backlog
from incident_arena.errors import UserError
from incident_arena.substrates.frappe.substrate import SUBSTRATE

INIT = '"""Tea."""\n'
CODE = """\
from incident_arena.application import Substrate
from incident_arena.substrates.elsewhere.leaves import KINDS


class Tea(Substrate):
    kinds = KINDS

    def operations(self, spec, target, environment):
        raise NotImplementedError

    def look_up(self, stores, names):
        return {}


SUBSTRATE = Tea()
"""


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    """What a test adopts is unknown to the next."""
    yield
    for name in [name for name in sys.modules if name.startswith(f"{application.PACKAGE}.elsewhere")]:
        del sys.modules[name]


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    folder = tmp_path / "tea"
    folder.mkdir()
    for name, text in {"__init__": INIT, "leaves": 'KINDS = ("brew", "pour")\n', "substrate": CODE}.items():
        (folder / f"{name}.py").write_text(text)
    return folder


def test_the_products_own_is_found_by_name() -> None:
    assert application.load("frappe") is SUBSTRATE


@pytest.mark.parametrize("name", ["saleor", "frappe.api", "Frappe"])
def test_an_unknown_one_is_said(name: str) -> None:
    with pytest.raises(UserError, match=rf"substrate '{name}'.*has no substrate\.py"):
        application.load(name)


def test_a_folder_elsewhere_becomes_one_of_them(elsewhere: Path) -> None:
    found = application.load("elsewhere", elsewhere)
    assert found.kinds == ("brew", "pour")
    assert application.load("elsewhere") is found
    assert application.load("elsewhere", elsewhere) is found
    assert (found.moves, found.backlog({}), found.jobs({})) == ({}, Backlog(0, 0), {})


def test_a_folder_that_is_no_package_is_said(elsewhere: Path) -> None:
    (elsewhere / "__init__.py").unlink()
    with pytest.raises(UserError, match=r"no __init__\.py"):
        application.load("elsewhere", elsewhere)
    (elsewhere / "__init__.py").write_text(INIT)
    assert application.load("elsewhere", elsewhere).kinds


def test_a_folder_without_a_substrate_is_said(elsewhere: Path) -> None:
    (elsewhere / "substrate.py").unlink()
    with pytest.raises(UserError, match=r"has no substrate\.py"):
        application.load("elsewhere", elsewhere)


def test_a_module_that_it_lacks_is_not_mistaken_for_it(elsewhere: Path) -> None:
    (elsewhere / "substrate.py").write_text("import no_such_module\n")
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        application.load("elsewhere", elsewhere)
