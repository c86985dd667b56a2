"""What a run depends on: the modules that it imports, and those that are found by name when it runs."""

from pathlib import Path

import pytest

from incident_arena.catalogue.finding import Catalogue
from incident_arena.errors import UserError
from incident_arena.folders import PACKAGE
from incident_arena.proving import keys

NAME = "frappe/deletes-and-jobs-fail"


@pytest.fixture
def changed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Make a module's text another, and give the hash over the modules before and after."""

    def change(module: str, entries: tuple[str, ...]) -> tuple[str, str]:
        before, real = keys.closure(entries), keys._file
        other = tmp_path / "other.py"
        other.write_text("# another\n")
        monkeypatch.setattr(
            keys, "_file", lambda root, name: other if name == f"incident_arena.{module}" else real(root, name)
        )
        return before, keys.closure(entries)

    return change


def entries() -> tuple[str, ...]:
    catalogue = Catalogue(PACKAGE)
    spec = catalogue.load(NAME)
    return keys.entries(spec, catalogue.kinds(spec.substrate))


@pytest.mark.parametrize(
    "module",
    [
        "stores.mariadb.faults.grants", "stores.redis.faults.config", "stores.rq.layout", "services.load.generator",
        "services.referee.events.restart", "services.referee.collect", "formats.records", "ledger.reading",
        "verbs.acts", "workload.effects", "stores", "node.cgroups",
    ],
)  # fmt: skip
def test_a_change_of_what_runs_is_another_key(changed, module: str) -> None:
    before, after = changed(module, entries())
    assert before != after


@pytest.mark.parametrize("module", ["analysis.report", "judge.gates", "viewer.page", "harbor.board", "proving.proofs"])
def test_a_change_of_what_does_not_run_is_the_same_key(changed, module: str) -> None:
    before, after = changed(module, entries())
    assert before == after


def test_a_fault_that_a_task_does_not_plant_is_not_in_its_key(changed) -> None:
    without = tuple(one for one in entries() if one != "stores.mariadb.faults.grants")
    before, after = changed("stores.mariadb.faults.grants", without)
    assert before == after


@pytest.mark.parametrize(
    ("module", "same"), [("judge.gates", False), ("ledger.rates", False), ("services.load.api", True)]
)
def test_the_judges_key_is_of_what_the_judge_imports(changed, module: str, *, same: bool) -> None:
    before, after = changed(module, keys.JUDGE)
    assert (before == after) is same


@pytest.mark.parametrize(
    ("source", "same"),
    [
        ('"""Another."""\nA = 1\n\n\nclass B:\n    """It."""\n\n    def c(self) -> str:\n        return "d"\n', True),
        ("# why\nA = 1\nclass B:\n    def c(self) -> str: return 'd'  # so\n", True),
        ('A = 1\nclass B:\n    def c(self) -> str:\n        return "e"\n', False),
        ('A = 2\nclass B:\n    def c(self) -> str:\n        return "d"\n', False),
        ('A = 1\nclass B:\n    def c(self) -> str:\n        "d"\n', False),
    ],
)
def test_of_a_module_its_meaning_counts(source: str, *, same: bool) -> None:
    before = '"""One."""\n\nA = 1\n"""What A is."""\n\n\nclass B:\n    def c(self) -> str:\n        return "d"\n'
    assert (keys.meaning(before) == keys.meaning(source)) is same


def test_a_module_that_is_none_is_an_error() -> None:
    with pytest.raises(UserError, match=r"services\.toaster"):
        keys.closure(["services.toaster"])
