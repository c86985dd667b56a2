"""What stands side by side is what the report says of the same trials."""

import polars as pl
import pytest
from tests.support.trials import trials

from incident_arena.analysis import sides as module
from incident_arena.analysis.compare import compare_sides, side
from incident_arena.analysis.cost import load_prices, with_cost
from incident_arena.analysis.sides import sides
from incident_arena.analysis.tables_rates import main_rows
from incident_arena.analysis.trial import Trial, frame


def priced(some: list[Trial]) -> pl.DataFrame:
    return with_cost(frame(some), load_prices())


SOME = priced(
    [
        *trials("frappe/a", "m", 3, 4, effort="high", failure_class="never declared", inclusive=("never declared",)),
        *trials("frappe/a", "m", 1, 4, effort="low"),
        *trials("frappe/b", "m", 0, 4, effort="low"),
        *trials("frappe/a", "other", 2, 4),
        *trials("frappe/b", "other", 3, 4),
        *trials("frappe/c", "else", 2, 4),
    ]
)


def test_models_come_first_then_the_efforts_of_those_that_have_several():
    assert [one.name for one in sides(SOME).sides] == ["other", "else", "m", "m@low", "m@high"]


def test_a_side_has_its_rows_of_the_reports_tables():
    found = sides(SOME)
    models = {row.who: row for row in main_rows(SOME)}
    for one in found.sides:
        if one.name in models:
            assert one.main == models[one.name]
    high = next(one for one in found.sides if one.name == "m@high")

    assert (high.main.trials, high.main.tasks, high.main.pass_at_1, high.main.interval) == (4, 1, 0.75, None)
    assert [(row.task, row.passed, row.trials) for row in high.tasks] == [("frappe/a", 3, 4)]
    assert [(row.pass_pass, row.fail_pass) for row in high.gates] == [(3, 1)]
    assert [(row.failure_class, row.exclusive) for row in high.failures if row.exclusive] == [("never declared", 1)]


def test_a_pair_is_what_compare_says_of_it():
    found = sides(SOME)
    checked = 0
    for pair in found.pairs:
        a, b = found.sides[pair.a].name, found.sides[pair.b].name
        if not pair.refused:
            row = compare_sides(SOME, a, b).result
            both = ("tasks", "rate_a", "rate_b", "difference", "interval", "p_paired")
            assert [getattr(pair, name) for name in both] == [getattr(row, name) for name in both]
            checked += 1

    assert checked == 4  # other with m, m@low and m@high; m@low with m@high


@pytest.mark.parametrize(
    ("a", "b", "why"),
    [("m", "m@low", "they share 8 trials, so that no test between them holds"), ("else", "m", "they share no task")],
)
def test_what_can_not_be_compared_says_why(a: str, b: str, why: str):
    found = sides(SOME)
    names = [one.name for one in found.sides]
    [pair] = [one for one in found.pairs if {names[one.a], names[one.b]} == {a, b}]

    assert (pair.refused, pair.difference, pair.tasks) == (why, None, 0)


def test_one_task_has_a_difference_without_an_interval():
    found = sides(SOME)
    names = [one.name for one in found.sides]
    [pair] = [one for one in found.pairs if (names[one.a], names[one.b]) == ("other", "m@high")]

    assert (pair.tasks, pair.difference, pair.interval, pair.p_paired) == (1, -0.25, None, None)


def test_a_models_name_that_looks_like_an_effort_is_the_models():
    """As `--compare` takes it."""
    some = priced(
        [
            *trials("frappe/a", "m", 1, 2, effort="low"),
            *trials("frappe/a", "m", 1, 2, effort="high"),
            *trials("frappe/a", "m@low", 0, 3),
        ]
    )
    found = sides(some)

    assert [one.name for one in found.sides] == ["m", "m@low", "m@high"]
    assert found.sides[1].main.trials == side(some, "m@low").height == 3


def test_of_very_many_the_first_are_offered_and_the_rest_counted(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "MOST", 2)
    found = sides(SOME)

    assert ([one.name for one in found.sides], len(found.pairs), found.left_out) == (["other", "else"], 1, 3)


def test_without_trials_there_is_nothing():
    assert sides(SOME.clear()).sides == []
