"""Agreement of labels and scores."""

import pytest
from scipy import stats

from incident_arena.analysis.agreement import agree, kappa_from_marginals, rank_correlation


def test_kappa_of_a_known_table():
    """50 items: both yes 20, both no 15, apart 5 and 10: Cohen's kappa is 0.4."""
    first = ["yes"] * 25 + ["no"] * 25
    second = ["yes"] * 20 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 15
    found = agree(first, second, range(50), range(50), categories=("yes", "no"))
    assert (found.same, found.trials) == (0.7, 50)
    assert found.kappa == pytest.approx(0.4)
    assert found.rank_correlation == pytest.approx(1.0)


def test_kappa_is_1_when_all_agree_0_by_chance_and_undefined_without_choice():
    assert kappa_from_marginals(1.0, [0.5, 0.5], [0.5, 0.5]) == 1
    assert kappa_from_marginals(0.5, [0.5, 0.5], [0.5, 0.5]) == 0
    assert kappa_from_marginals(1.0, [1.0, 0.0], [1.0, 0.0]) is None


def test_nothing_in_common_is_no_agreement():
    assert agree([], [], [], []) is None


def test_ties_get_mean_ranks():
    x, y = [1, 1, 2, 3, 3], [2, 1, 2, 5, 4]
    assert rank_correlation(x, y) == pytest.approx(stats.spearmanr(x, y).statistic)
    assert rank_correlation([1, 1, 1], [1, 2, 3]) is None
    assert rank_correlation([1, 2], [1, 2]) is None
