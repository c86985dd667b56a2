"""Estimates of how often trials pass. How sure they are: intervals.py.

Shapes: `passes` and `trials` are integer arrays of shape (T,), one entry for each task, with 0 <= passes <= trials and
trials > 0.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from incident_arena.analysis.intervals import MIN_TASKS, Floats, Ints, Span, share_intervals


def pass_at_1(passes: ArrayLike, trials: ArrayLike) -> float:
    """Share of trials that passed: sum(c_t) / sum(n_t).

    Equal to the mean of the tasks' own rates when each has as many trials (the paper's case).

    Args:
        passes: c, shape (T,).
        trials: n, shape (T,).

    Source: Chen et al. 2021, "Evaluating Large Language Models Trained on Code", pass@k at k = 1.
    """
    c, n = _counts(passes, trials)
    return float(c.sum() / n.sum())


def pass_hat_k(passes: ArrayLike, trials: ArrayLike, k: int) -> Floats:
    """Chance that k trials of a task, drawn without replacement from its n, all pass: C(c, k) / C(n, k).

    Taken as the product of (c - i) / (n - i) over i < k, which overflows for no k.

    Args:
        passes: c, shape (T,).
        trials: n, shape (T,).
        k: at least 1.

    Returns:
        Shape (T,); NaN for a task with fewer than k trials.

    Source: Yao et al. 2024, "tau-bench", pass^k (unbiased estimator of p^k).
    """
    c, n = _counts(passes, trials)
    return _pass_hat(c, n, k)[:, k - 1]


def _pass_hat(c: Ints, n: Ints, most: int) -> Floats:
    """Pass^k of each task for k = 1 to `most`: shape (T, most), NaN where k > n."""
    steps = np.arange(most)
    left = np.maximum(n[:, None] - steps, 0)
    factors = np.divide(np.maximum(c[:, None] - steps, 0), left, out=np.full(left.shape, np.nan), where=left > 0)
    return np.cumprod(factors, axis=1)


@dataclass(frozen=True)
class PassHatK:
    """Pass^k averaged over the tasks that have at least k trials."""

    k: int
    value: float
    interval: Span | None
    tasks: int


def pass_hat_k_curve(passes: ArrayLike, trials: ArrayLike) -> list[PassHatK]:
    """Mean over tasks of `pass_hat_k`, for each k up to the most trials that a task has, with its interval.

    Over the same tasks it never rises with k, and at k = 1 it is the mean of the tasks' rates. Where tasks differ in
    trials, fewer of them count at a larger k (`tasks`); then the curve may rise.

    Returns:
        One entry for each k; its interval is over the tasks that count. A task's n trials hold floor(n / k) separate
        groups of k, which bounds how much its value can know (`looks` of `share_intervals`).

    Source: as `pass_hat_k` and `share_intervals`; Hoeffding 1948, "A Class of Statistics with Asymptotically Normal
    Distribution", for the bound.
    """
    c, n = _counts(passes, trials)
    each = _pass_hat(c, n, int(n.max()))
    curve: list[PassHatK] = []
    start = 0
    for end in np.unique(n):
        enough = n >= end
        some = each[enough, start:end]
        means = some.mean(axis=0)
        spans: list[Span | None] = [None] * means.size
        if some.shape[0] >= MIN_TASKS:
            looks = (n[enough, None] // np.arange(start + 1, end + 1)).sum(axis=0)
            low, high = share_intervals(some, np.ones((some.shape[0], 1)), looks)
            spans = [(float(a), float(b)) for a, b in zip(low, high, strict=True)]
        curve += [
            PassHatK(k=start + place + 1, value=float(value), interval=spans[place], tasks=int(some.shape[0]))
            for place, value in enumerate(means)
        ]
        start = int(end)
    return curve


@dataclass(frozen=True)
class LeftOut:
    """An estimate without one task."""

    task: int
    value: float
    change: float


def leave_one_task_out(passes: ArrayLike, trials: ArrayLike) -> list[LeftOut]:
    """Pass@1 without each task in turn, and how far that is from Pass@1 over all: influence of single tasks.

    Returns:
        One entry for each task, in order; none with fewer than two tasks.

    Source: Efron and Tibshirani 1993, chapter 11 (the jackknife), with the task as unit.
    """
    c, n = _counts(passes, trials)
    if c.size < MIN_TASKS:
        return []
    every = c.sum() / n.sum()
    without = (c.sum() - c) / (n.sum() - n)
    return [LeftOut(task=t, value=float(value), change=float(value - every)) for t, value in enumerate(without)]


def _counts(passes: ArrayLike, trials: ArrayLike) -> tuple[Ints, Ints]:
    c = np.asarray(passes, dtype=np.int64)
    n = np.asarray(trials, dtype=np.int64)
    if c.ndim != 1 or c.shape != n.shape or c.size == 0:
        raise ValueError(f"passes and trials must be of one shape (T,) with T > 0, not {c.shape} and {n.shape}")
    if (n <= 0).any() or (c < 0).any() or (c > n).any():
        raise ValueError("each task needs 0 <= passes <= trials, and a trial")
    return c, n
