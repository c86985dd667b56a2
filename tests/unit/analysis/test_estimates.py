"""Estimates over tasks, against brute force and known values."""

from itertools import combinations, pairwise
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incident_arena.analysis.estimates import (
    leave_one_task_out,
    pass_at_1,
    pass_hat_k,
    pass_hat_k_curve,
)
from incident_arena.analysis.intervals import pass_at_1_interval

COUNTS = st.lists(
    st.integers(1, 12).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), min_size=1, max_size=8
)


def test_pass_at_1_is_passes_over_trials():
    assert pass_at_1([1, 3], [4, 4]) == 0.5
    assert pass_at_1([0, 3], [1, 3]) == 0.75


@pytest.mark.parametrize(
    ("passes", "trials"), [([], []), ([1], [0]), ([3], [2]), ([-1], [2]), ([1, 1], [2]), ([[1]], [[2]])]
)
def test_counts_that_make_no_sense_are_refused(passes, trials):
    with pytest.raises(ValueError, match="trial"):
        pass_at_1(passes, trials)


@pytest.mark.parametrize(("c", "n", "k"), [(3, 5, 1), (3, 5, 2), (3, 5, 3), (3, 5, 4), (0, 4, 1), (4, 4, 4)])
def test_pass_hat_k_counts_all_ways_of_drawing(c, n, k):
    draws = list(combinations([1] * c + [0] * (n - c), k))
    assert pass_hat_k([c], [n], k)[0] == pytest.approx(sum(all(draw) for draw in draws) / len(draws))


def test_pass_hat_k_is_undefined_beyond_n_and_never_overflows():
    assert np.isnan(pass_hat_k([3], [5], 6)[0])
    assert pass_hat_k([2_000], [2_000], 1_000)[0] == 1
    assert pass_hat_k([1_999], [2_000], 1_000)[0] == pytest.approx(0.5)


@settings(deadline=None)
@given(COUNTS)
def test_pass_hat_k_falls_with_k_for_each_task(counts):
    for c, n in counts:
        values = [pass_hat_k([c], [n], k)[0] for k in range(1, n + 1)]
        assert values[0] == pytest.approx(c / n)
        assert all(a >= b for a, b in pairwise(values))
        assert values[-1] == (1 if c == n else 0)


@settings(deadline=None)
@given(COUNTS)
def test_curve_is_the_mean_over_tasks_with_enough_trials(counts):
    c, n = (np.array(one) for one in zip(*counts, strict=True))
    curve = pass_hat_k_curve(c, n)
    assert [one.k for one in curve] == list(range(1, n.max() + 1))
    for one in curve:
        enough = n >= one.k
        expected = np.mean(
            [comb(int(a), one.k) / comb(int(b), one.k) for a, b in zip(c[enough], n[enough], strict=True)]
        )
        assert one.value == pytest.approx(expected)
        assert one.tasks == enough.sum()
        if one.interval:
            assert 0 <= one.interval[0] <= one.interval[1] <= 1


def test_curve_interval_at_1_is_that_of_pass_at_1():
    passes, trials = [3, 9, 0, 14], [15] * 4
    assert pass_hat_k_curve(passes, trials)[0].interval == pytest.approx(pass_at_1_interval(passes, trials))


def test_one_task_has_no_interval_of_pass_hat_k():
    assert pass_hat_k_curve([3], [5])[0].interval is None


def test_leaving_a_task_out():
    left = leave_one_task_out([15, 0, 5], [15, 15, 10])
    assert [one.value for one in left] == [0.2, 0.8, 0.5]
    assert [one.change for one in left] == pytest.approx([-0.3, 0.3, 0.0])
    assert leave_one_task_out([1], [2]) == []
