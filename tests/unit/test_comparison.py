"""docs/comparison.md: our row in the paper's table 1 has no mark that is not proven, and no proof that is not there."""

import re
from pathlib import Path

import pytest
from tests.support import paper

from incident_arena.analysis.proofs import both_ways_rows
from incident_arena.catalogue.finding import Catalogue, read
from incident_arena.folders import PACKAGE

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "comparison.md").read_text()
LIMITATIONS = (ROOT / "docs" / "limitations.md").read_text()
TASKS = Catalogue(PACKAGE).tasks()
YES, PARTLY, NO = "\N{CHECK MARK}", "\N{WHITE CIRCLE}", "\N{MULTIPLICATION SIGN}"
LETTERS = {YES: "y", PARTLY: "p", NO: "n"}
AXES = ("Repairs", "Names fault", "Scope", "Durable", "No judge", "Both ways", "No fault", "Harbor")


def cells(line: str) -> list[str]:
    return [part.strip() for part in line.strip().strip("|").split("|")]


OURS = cells(next(line for line in PAGE.splitlines() if line.startswith("| **Incident-Arena")))
MARKS = dict(zip(AXES, OURS[-len(AXES) :], strict=True))
PROOFS = {row[0]: row for row in map(cells, PAGE.splitlines()) if row[0] in AXES and len(row) == 4}


def test_each_axis_has_its_proof_and_the_same_mark():
    assert {axis: row[1] for axis, row in PROOFS.items()} == MARKS


@pytest.mark.parametrize("axis", AXES)
def test_what_is_named_as_proof_exists(axis):
    named = re.findall(r"`([^`]+)`", PROOFS[axis][3])
    tests = "\n".join(path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    assert named
    for one in named:
        assert (ROOT / one).exists() if "/" in one else f"def {one}(" in tests, one


def test_the_number_of_tasks_is_that_of_the_folder():
    assert int(OURS[1]) == len(TASKS)


def test_the_limitations_are_of_the_tasks_that_there_are():
    assert ("**One task, " in LIMITATIONS) == (len(TASKS) == 1)
    assert all(f"`{name}`" in LIMITATIONS for name in TASKS)


def test_no_fault_is_marked_where_there_is_such_a_task():
    calm = [name for name, folder in TASKS.items() if not read(folder, name).faults]
    assert (MARKS["No fault"] != NO) == bool(calm)


def test_both_ways_is_marked_where_every_task_was_proven_so():
    rows = both_ways_rows(TASKS, [])
    proven = {
        task: {row.run: row.holds for row in rows if row.task == task and row.run in {"solve", "nop"}} for task in TASKS
    }
    assert (MARKS["Both ways"] == YES) == all(runs == {"solve": True, "nop": True} for runs in proven.values())


@pytest.mark.parametrize("name", paper.COMPARED)
def test_other_rows_are_the_papers(name):
    row = cells(next(line for line in PAGE.splitlines() if line.startswith(f"| {name} |")))
    assert (int(row[1]), "".join(LETTERS[mark] for mark in row[-len(AXES) :])) == paper.COMPARED[name]
