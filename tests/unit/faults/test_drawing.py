"""What a trial's seed makes of a task."""

import pytest

from incident_arena.catalogue.finding import Catalogue
from incident_arena.errors import UserError
from incident_arena.faults import drawing
from incident_arena.folders import PACKAGE
from incident_arena.formats.task import Permit, PlantedFault, TaskSpec

CATALOGUE = Catalogue(PACKAGE)
SPEC = CATALOGUE.load("frappe/deletes-and-jobs-fail")
KINDS = CATALOGUE.kinds("frappe")
DRAWN = PlantedFault(
    name="mariadb.grants",
    parameters={"database": "site"},
    draws={"privileges": [["DELETE"], ["INSERT"], ["UPDATE"]], "user": ["site", "reports"]},
)


def with_(*planted: PlantedFault, permitted: tuple[Permit, ...] = ()) -> TaskSpec:
    return SPEC.model_copy(update={"faults": list(planted), "permitted": list(permitted)})


def test_what_repairs_the_faults_is_permitted_before_what_the_task_adds() -> None:
    own = Permit(rule="own", path="kubernetes/x")
    found = drawing.played(SPEC.model_copy(update={"permitted": [own]}), KINDS, seed=1)
    assert [permit.path for permit in found.permitted] == [
        "mariadb/accounts/site@%/grants/database/site/DELETE",
        "redis-queue/acl/live/app/commands/blmove",
        "redis-queue/acl/file/app/commands/blmove",
        "redis-queue/acl/live/app/commands/blpop",
        "redis-queue/acl/file/app/commands/blpop",
        "kubernetes/x",
    ]
    with pytest.raises(UserError, match="no such fault"):
        drawing.played(with_(PlantedFault(name="edge.config")), KINDS, seed=1)


def test_a_task_without_draws_is_the_same_with_every_seed_but_for_the_seed() -> None:
    first, other = (drawing.played(SPEC, KINDS, seed) for seed in (1, 2))
    assert (first.seed, other.seed) == (1, 2)
    assert first.model_copy(update={"seed": 2}) == other
    assert first.faults == SPEC.faults


def test_a_seed_draws_the_same_each_time_and_seeds_draw_all_values() -> None:
    tasks = [drawing.played(with_(DRAWN), KINDS, seed) for seed in range(1, 41)]
    assert tasks == [drawing.played(with_(DRAWN), KINDS, seed) for seed in range(1, 41)]
    drawn = [task.faults[0] for task in tasks]
    assert {str(fault.parameters["privileges"]) for fault in drawn} == {"['DELETE']", "['INSERT']", "['UPDATE']"}
    assert {fault.parameters["user"] for fault in drawn} == {"site", "reports"}
    assert all(fault.parameters["database"] == "site" and not fault.draws for fault in drawn)


def test_what_repairs_the_drawn_values_is_permitted_and_nothing_else() -> None:
    for seed in range(1, 20):
        task = drawing.played(with_(DRAWN), KINDS, seed)
        values = task.faults[0].parameters
        [permit] = task.permitted
        [privilege] = values["privileges"]  # type: ignore[misc, union-attr]
        assert permit.path == f"mariadb/accounts/{values['user']}@%/grants/database/site/{privilege}"


def test_one_more_draw_leaves_the_others_as_they_are() -> None:
    less = DRAWN.model_copy(update={"draws": {"privileges": DRAWN.draws["privileges"]}})
    for seed in range(1, 20):
        with_both, with_one = (drawing.played(with_(each), KINDS, seed).faults[0] for each in (DRAWN, less))
        assert with_both.parameters["privileges"] == with_one.parameters["privileges"]


def test_variants_hold_each_value_that_may_be_drawn() -> None:
    found = drawing.variants(DRAWN)
    assert [one.parameters["privileges"] for one in found[:3]] == [["DELETE"], ["INSERT"], ["UPDATE"]]
    assert [one.parameters["user"] for one in found] == ["site", "site", "site", "site", "reports"]
    assert drawing.variants(SPEC.faults[0]) == [SPEC.faults[0]]
