"""How sure an estimate is: intervals over tasks that hold their level from two tasks on, and the paper's own.

The tasks are the sample: an interval answers "on other tasks like these", so a task counts with all of its trials. With
fewer than two tasks nothing is known of other tasks, and there is no interval. docs/decisions/intervals.md has what was
weighed and the coverage of each; tests/unit/analysis/test_coverage.py measures it.

Shapes: T tasks along the first axis. Where a function takes (T, K), its K columns are independent problems.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

type Ints = NDArray[np.int64]
type Floats = NDArray[np.float64]
type Span = tuple[float, float]

DRAWS = 10_000
SEED = 20260930
LEVEL = 0.95
TAIL = (1 - LEVEL) / 2
MIN_TASKS = 2
CLOSE = 1e-12
"""Shares and differences closer than this are ties."""
DISCORDANT = 1.0
"""Squared difference added to a comparison: half a task that one side alone passes, and half the other way round."""


def share_intervals(
    sums: ArrayLike, weights: ArrayLike, looks: ArrayLike, *, tail: float = TAIL
) -> tuple[Floats, Floats]:
    """Intervals, 95 % by default, of K weighted means of shares, sum(s_t) / sum(w_t), tasks being the sample.

    The variance of the mean over clusters, V = T / (T - 1) sum((s_t - p w_t)^2) / sum(w_t)^2, is turned into an
    effective number of independent trials, n* = p (1 - p) / V times (t_{N-1} / t_{T-1})^2 for V's own uncertainty, and
    the interval is Clopper and Pearson's for p n* passes of n*. Two bounds on n* keep it honest where V says little:

    - at most N looks before that factor: tasks whose rates agree by chance don't make trials more than they are;
    - at least sum(w)^2 / sum(w^2), Kish's number of tasks of equal weight: shares vary most when each task is all or
      nothing, and then tasks are the trials. This alone counts when every trial passed, or none.

    Args:
        sums: s, each task's sum of shares over its trials, shape (T, K), 0 <= s <= w.
        weights: w, shape (T, K) or (T, 1), above 0.
        looks: N, independent trials behind the mean, shape (K,) or a number.
        tail: chance to miss on either side.

    Returns:
        Low and high ends, each of shape (K,).

    Source: Korn and Graubard 1998, "Confidence Intervals for Proportions with Small Expected Number of Positive Counts
    Estimated from Survey Data"; Kish 1965, "Survey Sampling", for the lower bound.
    """
    s, w = np.asarray(sums, dtype=np.float64), np.asarray(weights, dtype=np.float64)
    tasks, total = s.shape[0], w.sum(axis=0)
    p = np.clip(s.sum(axis=0) / total, 0, 1)
    variance = tasks / (tasks - 1) * ((s - p * w) ** 2).sum(axis=0) / total**2
    n = np.broadcast_to(np.asarray(looks, dtype=np.float64), p.shape)
    effective = np.divide(p * (1 - p), variance, out=n.copy(), where=variance > CLOSE**2)
    few, many = special.stdtrit(tasks - 1, 1 - tail), special.stdtrit(n - 1, 1 - tail)
    varied = (p > CLOSE) & (p < 1 - CLOSE)
    least = np.broadcast_to(total**2 / (w**2).sum(axis=0), p.shape)
    trials = np.maximum(np.where(varied, np.minimum(effective, n) * (many / few) ** 2, 0), least)
    passes = p * trials
    low = np.where(p > CLOSE, special.betaincinv(np.maximum(passes, CLOSE), trials - passes + 1, tail), 0)
    high = np.where(p < 1 - CLOSE, special.betaincinv(passes + 1, np.maximum(trials - passes, CLOSE), 1 - tail), 1)
    return low, high


def pass_at_1_interval(passes: ArrayLike, trials: ArrayLike, *, choices: int = 1) -> Span | None:
    """95 % interval of sum(c_t) / sum(n_t).

    Args:
        passes: c, shape (T,).
        trials: n, shape (T,), all above 0.
        choices: from how many estimates this one was chosen for its size; the level is Bonferroni's over them.

    Returns:
        (low, high), or None with fewer than two tasks.

    Source: as `share_intervals`.
    """
    c, n = np.asarray(passes, dtype=np.float64), np.asarray(trials, dtype=np.float64)
    if c.size < MIN_TASKS:
        return None
    low, high = share_intervals(c[:, None], n[:, None], n.sum(), tail=TAIL / choices)
    return float(low[0]), float(high[0])


def paired_error(d: Floats) -> Floats:
    """Standard error of the mean of d over tasks, shape (T, K) to (K,): sqrt((sum((d - mean)^2) + 1) / (T - 1) / T).

    The added 1 is half a task that A alone passes and half a task that B alone passes. Without it, sides that agree on
    each of a few tasks would have an error of 0, as if no other task could tell them apart.

    Source: Miller 2024, "Adding Error Bars to Evals" (differences paired by question); Agresti and Min 2005, "Simple
    Improved Confidence Intervals for Comparing Matched Proportions", for the half task in each discordant cell.
    """
    tasks = d.shape[0]
    spread = ((d - d.mean(axis=0)) ** 2).sum(axis=0) + DISCORDANT
    error: Floats = np.sqrt(spread / (tasks - 1) / tasks)
    return error


def paired_intervals(d: Floats) -> tuple[Floats, Floats, Floats]:
    """95 % intervals of the mean of d over tasks, and two-sided p that it is 0, by t with T - 1 degrees of freedom.

    Args:
        d: differences of shares, shape (T, K), T at least 2.

    Returns:
        Low and high ends within [-1, 1], and p; each of shape (K,). p is under 0.05 where the interval leaves 0 out.

    Source: as `paired_error`.
    """
    freedom, mean, error = d.shape[0] - 1, d.mean(axis=0), paired_error(d)
    half = special.stdtrit(freedom, 1 - TAIL) * error
    p: Floats = np.minimum(1.0, 2 * special.stdtr(freedom, -np.abs(mean) / error))
    return np.maximum(mean - half, -1), np.minimum(mean + half, 1), p


@lru_cache(maxsize=64)
def task_draws(tasks: int, draws: int = DRAWS, seed: int = SEED) -> Ints:
    """How often each task is drawn in each resample: shape (draws, tasks), each row summing to `tasks`; read-only.

    Drawing T tasks with replacement is one multinomial draw of T over T equal cells. Drawn once and kept: the same
    arguments always give the same draws.

    Source: Efron and Tibshirani 1993, "An Introduction to the Bootstrap", chapter 6 (clusters as units: chapter 8).
    """
    drawn = np.random.default_rng(seed).multinomial(tasks, np.full(tasks, 1 / tasks), size=draws)
    drawn.flags.writeable = False
    return drawn


def percentile(values: Floats, level: float = LEVEL) -> Span:
    """Percentile interval of resampled values, shape (draws,).

    End points are values that occurred (inverse of the empirical distribution), so that a share of N trials stays on
    the grid of 1/N.

    Source: Efron and Tibshirani 1993, chapter 13.
    """
    tail = (1 - level) / 2
    low, high = np.quantile(values, [tail, 1 - tail], method="inverted_cdf")
    return float(low), float(high)


def bootstrap_interval(
    passes: ArrayLike, trials: ArrayLike, *, level: float = LEVEL, draws: int = DRAWS, seed: int = SEED
) -> Span | None:
    """The paper's interval: percentile bootstrap over tasks, sum(w_t c_t) / sum(w_t n_t) over the draws w.

    Too narrow with few tasks (covers 50 % at two, 93 % at twenty), so it stands beside ours, named, for comparison with
    published figures alone.

    Args:
        passes: c, shape (T,).
        trials: n, shape (T,).
        level: coverage asked for.
        draws: resamples.
        seed: of the draws.

    Returns:
        (low, high), or None with fewer than two tasks.

    Source: as `task_draws` and `percentile`.
    """
    c, n = np.asarray(passes, dtype=np.int64), np.asarray(trials, dtype=np.int64)
    if c.size < MIN_TASKS:
        return None
    weights = task_draws(c.size, draws, seed)
    return percentile((weights @ c) / (weights @ n), level)
