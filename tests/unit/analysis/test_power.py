"""Comparisons: do they find what is there, and only as often as they say?"""

import numpy as np
import pytest
from scipy import stats

from incident_arena.analysis.intervals import paired_intervals
from incident_arena.analysis.power import (
    compare,
    detectable_over_tasks,
    detectable_over_trials,
    permute_tasks,
    permute_trials,
    separation,
)


def test_difference_weighs_each_task_the_same():
    found = compare([10, 1], [10, 2], [0, 1], [1, 2])
    assert found.rate_a == 0.75
    assert found.difference == 0.5
    assert (found.trials_a, found.trials_b, found.tasks) == (12, 3, 2)
    assert found.left_out == (0.0, 1.0)


def test_a_clear_difference_is_found_by_all():
    found = compare([14] * 20, [15] * 20, [4] * 20, [15] * 20)
    half = stats.t.ppf(0.975, 19) / (19 * 20) ** 0.5
    assert found.interval == pytest.approx((2 / 3 - half, 2 / 3 + half))
    assert found.p_paired < 0.001
    assert found.p_permutation_tasks < 0.001
    assert found.p_permutation_trials < 0.001


def test_equal_sides_are_not_told_apart():
    found = compare([3, 9, 12], [15] * 3, [3, 9, 12], [15] * 3)
    assert found.difference == 0
    assert found.p_paired == found.p_permutation_tasks == found.p_permutation_trials == 1


def test_swapping_sides_swaps_the_sign_alone():
    a, b = [3, 9, 12, 1], [5, 9, 2, 0]
    one, other = compare(a, [15] * 4, b, [15] * 4), compare(b, [15] * 4, a, [15] * 4)
    assert one.difference == -other.difference
    assert one.p_permutation_tasks == other.p_permutation_tasks
    assert one.detectable_tasks == other.detectable_tasks


def test_one_task_leaves_what_trials_alone_can_say():
    found = compare([14], [15], [2], [15])
    assert found.interval is None
    assert found.p_paired is None
    assert found.p_permutation_tasks is None
    assert found.detectable_tasks is None
    assert found.left_out == ()
    assert found.p_permutation_trials < 0.001


def test_sign_changes_are_counted_exactly():
    assert permute_tasks(np.array([0.2, 0.4, 0.1])) == 2 / 8
    assert permute_tasks(np.array([0.5, -0.4, 0.3])) == 6 / 8
    assert permute_tasks(np.array([0.3] * 14)) == 2 / 2**14


def test_drawn_sign_changes_agree_with_exact_ones():
    d = np.random.default_rng(1).normal(0.1, 0.3, size=14)
    exact = permute_tasks(d)
    assert permute_tasks(np.append(d, 0.0)) == pytest.approx(exact, abs=0.015)


def test_trials_dealt_anew_agree_with_fishers_exact_test():
    c, n = (9, 4), (15, 15)
    exact = stats.fisher_exact([[9, 6], [4, 11]]).pvalue
    ours = permute_trials(*(np.array([x]) for x in (c[0], n[0], c[1], n[1])))
    assert ours == pytest.approx(exact, abs=0.01)


def test_alike_sides_are_called_different_as_rarely_as_they_should():
    chance = np.random.default_rng(5)
    called = np.zeros(2)
    for _ in range(200):
        rates = chance.beta(2, 2, size=20)
        a, b = chance.binomial(15, rates), chance.binomial(15, rates)
        n = np.full(20, 15)
        p = (permute_tasks((a - b) / 15, draws=1_000), permute_trials(a, n, b, n, draws=1_000))
        called += np.array(p) < 0.05
    assert (called / 200 < 0.105).all()


def test_the_detectable_difference_is_found_in_four_of_five():
    chance = np.random.default_rng(7)
    tasks, noise = 20, 0.25
    sample = chance.normal(size=tasks)
    true = detectable_over_tasks(sample / np.std(sample, ddof=1) * noise)
    found = paired_intervals(chance.normal(true, noise, size=(tasks, 2_000)))[2] < 0.05
    assert np.mean(found) == pytest.approx(0.8, abs=0.04)


def test_more_tasks_and_more_trials_show_smaller_differences():
    d = np.array([0.1, -0.2, 0.3, 0.0, 0.1, 0.2])
    assert detectable_over_tasks(np.tile(d, 4)) < detectable_over_tasks(d)
    few, many = (
        detectable_over_trials(np.full(5, n // 2), np.full(5, n), np.full(5, n // 4), np.full(5, n)) for n in (8, 80)
    )
    assert many < few / 3


def test_two_tasks_find_no_difference_at_all():
    assert detectable_over_tasks(np.array([0.2, 0.2])) is None
    assert compare([15, 15], [15, 15], [0, 0], [15, 15]).p_paired > 0.05


def test_nothing_that_varies_shows_nothing():
    ones = np.ones(3, dtype=np.int64)
    assert detectable_over_trials(ones, ones, ones, ones) is None
    assert detectable_over_trials(ones * 2, ones * 2, ones * 0, ones * 2) is None


def test_a_task_on_which_models_differ_separates_them():
    passes = np.array([[30, 15, 0], [15, 15, 15], [28, 16, 1]])
    apart, alike, _ = separation(passes, np.full((3, 3), 30))
    assert apart.spread == 1.0
    assert apart.true_spread == pytest.approx(0.5, abs=0.01)
    assert apart.p_same < 0.001
    assert apart.rest_correlation == pytest.approx(1.0, abs=0.01)
    assert (alike.spread, alike.true_spread, alike.p_same, alike.rest_correlation) == (0.0, 0.0, 1.0, None)


def test_spread_by_chance_alone_is_taken_off():
    chance = np.random.default_rng(2)
    passes = chance.binomial(15, 0.5, size=(400, 10))
    found = separation(passes, np.full((400, 10), 15))
    observed = np.mean([np.std(row / 15, ddof=1) for row in passes])
    assert np.mean([one.true_spread for one in found]) < 0.6 * observed
    assert np.mean([one.p_same < 0.05 for one in found]) < 0.1


def test_one_trial_a_cell_says_nothing_of_chance():
    """Models that are alike, one trial each: a half passes, and any reading of spread would be made up."""
    one, three = separation([[1, 0, 1, 0], [1, 0, 1, 0]], [[1, 1, 1, 1], [3, 1, 3, 1]])
    assert (one.spread, one.true_spread, one.p_same) == (1.0, None, None)
    assert three.true_spread == 0.0
    assert separation([[1, 0]], [[3, 1]])[0].true_spread is None


def test_a_model_that_did_not_try_a_task_is_left_out_of_it():
    found = separation([[5, 0, 1], [4, 2, 2]], [[5, 0, 5], [5, 5, 5]])
    assert found[0].spread == pytest.approx(0.8)
    assert found[0].rest_correlation is None


def test_all_passed_or_all_failed_has_no_p():
    found = separation([[5, 5], [0, 0]], [[5, 5], [5, 5]])
    assert [one.p_same for one in found] == [None, None]


def test_homogeneity_is_pearsons_chi_square():
    passes, trials = np.array([[3, 9, 12, 1]]), np.array([[15, 15, 12, 18]])
    expected = stats.chi2_contingency(np.stack([passes[0], trials[0] - passes[0]]), correction=False).pvalue
    assert separation(passes, trials)[0].p_same == pytest.approx(expected)


@pytest.mark.parametrize(("models", "each"), [(2, 2), (2, 5), (10, 3)])
def test_models_that_are_alike_are_rarely_told_apart_by_few_trials(models, each):
    chance = np.random.default_rng(models)
    passes = chance.binomial(each, 0.5, size=(300, models))
    found = [one.p_same for one in separation(passes, np.full((300, models), each))]
    assert np.mean([p is not None and p < 0.05 for p in found]) < 0.08


def test_dealing_anew_agrees_with_fishers_exact_test():
    exact = stats.fisher_exact([[4, 0], [1, 5]]).pvalue
    assert separation([[4, 1]], [[4, 6]])[0].p_same == pytest.approx(exact, abs=0.015)
