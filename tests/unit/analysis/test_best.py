"""Models at their best effort, one line over all trials, and which models a table over effort pools."""

import numpy as np
import pytest
from tests.support.trials import trial, trials

from incident_arena.analysis.cost import load_prices, with_cost
from incident_arena.analysis.efforts import best_efforts, pooling_note, shared
from incident_arena.analysis.intervals import TAIL, pass_at_1_interval, share_intervals
from incident_arena.analysis.tables_best import best_task_rows, overall_rows, ranking_rows
from incident_arena.analysis.tables_rates import group_rows
from incident_arena.analysis.trial import frame

FIVE = ("low", "medium", "high", "xhigh", "max")


def _cost(some):
    return with_cost(frame(some), load_prices())


def _at(who, effort, *passed, tasks="abcd", **fields):
    """Four trials of each task."""
    return [
        one
        for task, each in zip(tasks, passed, strict=False)
        for one in trials(f"frappe/{task}", who, each, 4, effort=effort, **fields)
    ]


def test_the_papers_design_pools_480_trials_a_level():
    """Eight models with five levels, one with four and one with six: table 14 is of the eight."""
    levels = {f"m{number}": FIVE for number in range(8)} | {"grok": FIVE[:4], "muse": ("minimal", *FIVE)}
    some = [
        one
        for who, efforts in levels.items()
        for task in range(20)
        for effort in efforts
        for one in trials(f"frappe/{task}", who, 1, 3, effort=effort, input_tokens=1, output_tokens=1)
    ]
    rows = [row for row in group_rows(_cost(some), {}) if row.dimension == "effort"]
    pooled = [row for row in rows if row.who == "all"]
    assert [(row.value, row.trials) for row in pooled] == [(effort, 480) for effort in FIVE]
    assert {row.pooled for row in pooled} == {"m0, m1, m2, m3, m4, m5, m6, m7"}
    assert {row.value for row in rows if row.who == "muse"} == {"minimal", *FIVE}
    (note,) = pooling_note(frame(some))
    assert "pool the 8 that have just low, medium, high, xhigh, max: m0," in note


def test_models_of_different_levels_are_not_pooled():
    some = frame([*_at("a", "low", 1), *_at("b", "high", 1)])
    assert shared(some).models == ()
    assert [row.who for row in group_rows(_cost([*_at("a", "low", 1), *_at("b", "high", 1)]), {})[-2:]] == ["a", "b"]
    assert pooling_note(some) == ["effort: no two models have the same levels, so none are pooled"]
    assert pooling_note(frame(_at("a", "low", 1))) == []


def test_the_best_effort_is_of_those_on_all_tasks_and_of_equals_the_lowest():
    some = [*_at("m", "low", 2, 2), *_at("m", "high", 2, 2), *_at("m", "medium", 1, 2), *_at("m", "max", 4)]
    (best,) = best_efforts(frame(some))
    assert (best.level, best.of) == ("low", 3)


def test_ranking_is_by_best_effort_with_an_asterisk_where_refused():
    some = [
        *_at("even", "low", 2, 2, 2, 2), *_at("even", "high", 2, 2, 2, 2),
        *_at("late", "low", 0, 0, 0, 0, refused=True), *_at("late", "high", 4, 3, 4, 3),
        *_at("shy", "not-a-level", 1, 1, 1, 1), trial("frappe/a", "shy", 0, effort="not-a-level", refused=True),
    ]  # fmt: skip
    rows = ranking_rows(_cost(some))
    assert [(row.who, row.mark, row.effort, row.of_efforts, row.trials, row.refused) for row in rows] == [
        ("late", "", "high", 2, 16, 0),
        ("even", "", "low", 2, 16, 0),
        ("shy", "*", "not-a-level", 1, 17, 1),
    ]
    assert rows[0].pass_at_1 == 14 / 16
    assert rows[0].interval is not None
    spread = pass_at_1_interval([4, 3, 4, 3], [4] * 4, choices=2)
    assert (rows[0].interval.low, rows[0].interval.high) == spread
    assert spread[0] < pass_at_1_interval([4, 3, 4, 3], [4] * 4)[0]


@pytest.mark.parametrize("tasks", [3, 6, 20])
def test_the_interval_of_the_best_effort_holds_though_it_was_chosen(tasks):
    """Five efforts that are all alike: the best of them looks better than it is."""
    chance = np.random.default_rng(tasks)
    rates = chance.beta(2, 2, (tasks, 2_000))
    passes = chance.binomial(3, rates[None], (5, tasks, 2_000))
    best = np.take_along_axis(passes, passes.sum(axis=1).argmax(axis=0)[None, None], axis=0)[0]
    low, high = share_intervals(best, np.full(best.shape, 3), 3 * tasks, tail=TAIL / 5)
    assert np.mean((low <= 0.5) & (high >= 0.5)) > 0.95


def test_passing_trials_of_each_task_at_the_best_effort():
    some = [*_at("a", "low", 4, 0), *_at("a", "high", 3, 3), *_at("b", None, 1, 1)]
    rows = [(row.task, row.who, row.effort, row.passed, row.trials) for row in best_task_rows(frame(some))]
    assert rows == [
        ("frappe/a", "a", "high", 3, 4),
        ("frappe/a", "b", "not set", 1, 4),
        ("frappe/b", "a", "high", 3, 4),
        ("frappe/b", "b", "not set", 1, 4),
    ]


def test_one_line_over_all_trials():
    some = [
        *trials("frappe/a", "gpt-6-sol", 1, 2, input_tokens=1_000_000, output_tokens=0, turns=40, reward_undeclared=1),
        *trials("frappe/b", "gpt-6-sol", 0, 1, input_tokens=3_000_000, output_tokens=100_000, reward_undeclared=0),
        trial("frappe/b", "nameless", 0),
    ]
    (row,) = overall_rows(_cost(some))
    assert (row.models, row.tasks, row.trials, row.passed, row.pass_at_1) == (2, 2, 4, 1, 0.25)
    assert row.pass_at_1_undeclared == pytest.approx(2 / 3)
    assert (row.mean_tokens, row.tokens_known) == (5_100_000 / 3, 3)
    assert (row.turns, row.turns_known) == (40, 2)
    assert (row.cost_mean, row.costed) == (pytest.approx((2 + 2 + 6 + 1) / 3), 3)
    assert row.interval is not None
    assert overall_rows(frame([])) == []
