"""Sides of a comparison."""

import pytest
from tests.support.trials import trials

from incident_arena.analysis.compare import compare_sides, side
from incident_arena.analysis.trial import frame
from incident_arena.errors import UserError

SOME = frame(
    [
        *trials("frappe/a", "m", 3, 4, effort="high", job="one"),
        *trials("frappe/a", "m", 1, 4, effort="low", job="one"),
        *trials("frappe/b", "m", 0, 4, effort="low", job="one"),
        *trials("frappe/a", "other@v2", 2, 4, job="two"),
        *trials("frappe/c", "else", 2, 4, job="two"),
    ]
)


@pytest.mark.parametrize(("name", "trials"), [("m", 12), ("m@low", 8), ("one", 12), ("two", 8), ("other@v2", 4)])
def test_a_side_is_a_job_a_model_or_a_model_at_an_effort(name, trials):
    assert side(SOME, name).height == trials


def test_an_unknown_side_is_told_what_there_is():
    with pytest.raises(UserError, match="m, one, other@v2, two"):
        side(SOME, "m@max")


def test_only_shared_tasks_are_compared_and_the_rest_is_said():
    found = compare_sides(SOME, "m", "other@v2")
    assert [row.task for row in found.tasks] == ["frappe/a"]
    assert (found.result.rate_a, found.result.rate_b, found.result.difference) == (0.5, 0.5, 0.0)
    assert found.notes == ["1 tasks that only m has are left out"]


@pytest.mark.parametrize(("a", "b", "why"), [("m", "else", "share no task"), ("m", "m", "same trials")])
def test_what_can_not_be_compared(a, b, why):
    with pytest.raises(UserError, match=why):
        compare_sides(SOME, a, b)
