"""Intervals against known values; how often they hold the truth: test_coverage.py."""

import numpy as np
import pytest
from scipy import stats

from incident_arena.analysis.intervals import (
    bootstrap_interval,
    paired_intervals,
    pass_at_1_interval,
    percentile,
    share_intervals,
    task_draws,
)


def clopper_pearson(passes: float, trials: float) -> tuple[float, float]:
    low = stats.beta.ppf(0.025, passes, trials - passes + 1) if passes else 0.0
    high = stats.beta.ppf(0.975, passes + 1, trials - passes) if passes < trials else 1.0
    return low, high


@pytest.mark.parametrize("tasks", [2, 6, 20])
def test_tasks_that_are_all_or_nothing_are_the_trials(tasks):
    half = [15] * (tasks // 2) + [0] * (tasks - tasks // 2)
    assert pass_at_1_interval(half, [15] * tasks) == pytest.approx(clopper_pearson(tasks // 2, tasks))
    assert pass_at_1_interval([0] * tasks, [15] * tasks) == pytest.approx(clopper_pearson(0, tasks))
    assert pass_at_1_interval([15] * tasks, [15] * tasks) == pytest.approx(clopper_pearson(tasks, tasks))


def test_it_is_korn_and_graubards_interval_where_neither_bound_matters():
    c, n = np.array([9, 3, 12, 6, 8, 4, 10, 7]), np.full(8, 15)
    p, variance = c.sum() / 120, np.var(c / 15, ddof=1) / 8
    trials = p * (1 - p) / variance * (stats.t.ppf(0.975, 119) / stats.t.ppf(0.975, 7)) ** 2
    assert 8 < trials < 120
    assert pass_at_1_interval(c, n) == pytest.approx(clopper_pearson(p * trials, trials))


def test_tasks_that_agree_by_chance_make_no_more_trials_than_there_are():
    trials = 300 * (stats.t.ppf(0.975, 299) / stats.t.ppf(0.975, 19)) ** 2
    assert pass_at_1_interval([6] * 20, [15] * 20) == pytest.approx(clopper_pearson(0.4 * trials, trials))


def test_unequal_trials_count_as_fewer_tasks():
    assert pass_at_1_interval([0, 0, 0], [30, 1, 1]) == pytest.approx(clopper_pearson(0, 32**2 / 902))


@pytest.mark.parametrize("interval", [pass_at_1_interval, bootstrap_interval])
def test_one_task_has_no_interval(interval):
    assert interval([3], [5]) is None


def test_columns_are_independent_of_each_other():
    c, n = np.random.default_rng(1).binomial(5, 0.4, size=(6, 9)), np.full((6, 9), 5)
    low, high = share_intervals(c, n, n.sum(axis=0))
    for place in range(9):
        assert pass_at_1_interval(c[:, place], n[:, place]) == pytest.approx((low[place], high[place]))


def test_differences_have_students_interval_with_half_a_task_each_way_added():
    d = np.array([0.2, -0.1, 0.4, 0.0, 0.3])
    error = np.sqrt((((d - d.mean()) ** 2).sum() + 1) / 4 / 5)
    low, high, p = paired_intervals(d[:, None])
    assert (low[0], high[0]) == pytest.approx(stats.t.interval(0.95, 4, d.mean(), error))
    assert p[0] == pytest.approx(2 * stats.t.sf(d.mean() / error, 4))


def test_sides_that_agree_on_few_tasks_may_still_differ():
    low, high, p = paired_intervals(np.zeros((6, 1)))
    assert (low[0], high[0], p[0]) == pytest.approx((-0.4693, 0.4693, 1.0), abs=1e-4)


def test_a_difference_stays_a_difference_of_shares():
    low, high, _ = paired_intervals(np.full((2, 1), 0.9))
    assert (low[0], high[0]) == (-1.0, 1.0)


def test_draws_take_as_many_tasks_each_time_and_repeat():
    draws = task_draws(20)
    assert draws.shape == (10_000, 20)
    assert (draws.sum(axis=1) == 20).all()
    assert draws.mean() == 1
    assert (draws == np.random.default_rng(20260930).multinomial(20, [1 / 20] * 20, size=10_000)).all()


def test_bootstrap_is_the_clustered_one_not_the_binomial():
    passes, trials = [15] * 10 + [0] * 10, [15] * 20
    low, high = bootstrap_interval(passes, trials)
    assert low == pytest.approx(0.5 - 1.96 * np.sqrt(0.25 / 20), abs=0.03)
    assert high == pytest.approx(0.5 + 1.96 * np.sqrt(0.25 / 20), abs=0.03)
    assert high - low > 3 * 2 * 1.96 * np.sqrt(0.25 / 300)


def test_percentile_ends_are_values_that_occurred():
    values = np.array([0.1] * 30 + [0.2] * 940 + [0.9] * 30)
    assert percentile(values) == (0.1, 0.9)
    assert percentile(values, 0.9) == (0.2, 0.2)


def test_percentile_does_not_interpolate():
    assert percentile(np.array([0.0, 1.0, 2.0, 3.0]), 0.5) == (0.0, 2.0)
