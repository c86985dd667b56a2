"""Comparing two sides over the same tasks, and what so many tasks and trials can show at all.

Shapes: `passes` and `trials` of each side are integer arrays of shape (T,), the same task at the same place.
Distributions come from scipy.special: importing scipy.stats takes a second more, a fifth of what a report may take.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from incident_arena.analysis.intervals import (
    CLOSE,
    LEVEL,
    MIN_TASKS,
    SEED,
    Floats,
    Ints,
    Span,
    paired_error,
    paired_intervals,
)

POWER = 0.8
EXPECTED = 5
DEALS = 2_000
MIN_MODELS = 2
MIN_TRIALS = 2
EXACT_TASKS = 14
"""Up to here all 2^T sign changes are tried (16,384); beyond it `PERMUTATIONS` drawn ones."""
PERMUTATIONS = 20_000


@dataclass(frozen=True, kw_only=True)
class Paired:
    """A against B, paired by task. Differences are of shares: 0.1 is ten points."""

    tasks: int
    trials_a: int
    trials_b: int
    rate_a: float
    """Mean over tasks of A's pass rate."""
    rate_b: float
    difference: float
    interval: Span | None
    """None with one task, which says nothing of others."""
    p_paired: float | None
    """By the same t as the interval: under 0.05 where that leaves 0 out."""


@dataclass(frozen=True, kw_only=True)
class Comparison(Paired):
    """The same, with what needs resampling."""

    p_permutation_tasks: float | None
    """By changing the sign of whole tasks' differences: would other tasks like these show it?"""
    p_permutation_trials: float
    """By dealing each task's trials anew to both sides: do they differ on these very tasks?"""
    detectable_tasks: float | None
    """Smallest true difference found with power 0.8 at level 0.05, tasks being a sample."""
    detectable_trials: float | None
    """The same when only these tasks matter, and only trials vary."""
    left_out: tuple[float, ...]
    """The difference without each task in turn."""


def paired(passes_a: ArrayLike, trials_a: ArrayLike, passes_b: ArrayLike, trials_b: ArrayLike) -> Paired:
    """Compare two sides over T tasks that both have trials of; each task weighs the same.

    d_t = cA_t / nA_t - cB_t / nB_t, and the difference is the mean of d over tasks. Arguments as those of `compare`.

    Source: Miller 2024, "Adding Error Bars to Evals" (paired differences, clustered by question).
    """
    ca, na, cb, nb = (np.asarray(one, dtype=np.int64) for one in (passes_a, trials_a, passes_b, trials_b))
    rates_a, rates_b = ca / na, cb / nb
    d = rates_a - rates_b
    interval, p_paired = _paired(d) if d.size >= MIN_TASKS else (None, None)
    return Paired(
        tasks=int(d.size),
        trials_a=int(na.sum()),
        trials_b=int(nb.sum()),
        rate_a=float(rates_a.mean()),
        rate_b=float(rates_b.mean()),
        difference=float(d.mean()),
        interval=interval,
        p_paired=p_paired,
    )


def compare(
    passes_a: ArrayLike, trials_a: ArrayLike, passes_b: ArrayLike, trials_b: ArrayLike, *, seed: int = SEED
) -> Comparison:
    """As `paired`, with permutations and with what could have been seen at all.

    Args:
        passes_a: shape (T,).
        trials_a: shape (T,), all above 0.
        passes_b: shape (T,).
        trials_b: shape (T,), all above 0.
        seed: of the resamples.

    Source: Good 2005, "Permutation, Parametric and Bootstrap Tests of Hypotheses".
    """
    ca, na, cb, nb = (np.asarray(one, dtype=np.int64) for one in (passes_a, trials_a, passes_b, trials_b))
    d = ca / na - cb / nb
    enough = d.size >= MIN_TASKS
    return Comparison(
        **vars(paired(ca, na, cb, nb)),
        p_permutation_tasks=permute_tasks(d, seed=seed) if enough else None,
        p_permutation_trials=permute_trials(ca, na, cb, nb, seed=seed),
        detectable_tasks=detectable_over_tasks(d) if enough else None,
        detectable_trials=detectable_over_trials(ca, na, cb, nb),
        left_out=tuple(float(x) for x in (d.sum() - d) / (d.size - 1)) if enough else (),
    )


def _paired(d: Floats) -> tuple[Span, float]:
    low, high, p = paired_intervals(d[:, None])
    return (float(low[0]), float(high[0])), float(p[0])


def permute_tasks(d: Floats, *, draws: int = PERMUTATIONS, seed: int = SEED) -> float:
    """Two-sided p that the mean of d, shape (T,), is 0, when each task's difference could as well have the other sign.

    Exact over all 2^T signs up to 14 tasks; else (1 + hits) / (1 + draws) over drawn ones.

    Source: Fisher 1935, "The Design of Experiments" (the randomisation test for pairs); Phipson and Smyth 2010 for
    the added one.
    """
    observed = abs(d.sum()) - CLOSE
    if d.size <= EXACT_TASKS:
        codes = np.arange(2**d.size)[:, None] >> np.arange(d.size)
        return float(np.mean(np.abs((1 - 2 * (codes & 1)) @ d) >= observed))
    signs = np.random.default_rng(seed).integers(0, 2, size=(draws, d.size)) * 2 - 1
    return float((np.count_nonzero(np.abs(signs @ d) >= observed) + 1) / (draws + 1))


def permute_trials(ca: Ints, na: Ints, cb: Ints, nb: Ints, *, draws: int = PERMUTATIONS, seed: int = SEED) -> float:
    """Two-sided p that both sides have the same rate on every task, by dealing each task's trials anew.

    Given a task's passes cA + cB, the share that falls to A is hypergeometric. Arrays of shape (T,).

    Returns:
        (1 + hits) / (1 + draws), a hit being a mean difference at least as far from 0.

    Source: Good 2005, chapter 3 (stratified permutation); Phipson and Smyth 2010 for the added one.
    """
    total = ca + cb
    drawn = np.random.default_rng(seed).hypergeometric(total, na + nb - total, na, size=(draws, ca.size))
    means = np.mean(drawn / na - (total - drawn) / nb, axis=1)
    observed = abs(np.mean(ca / na - cb / nb)) - CLOSE
    return float((np.count_nonzero(np.abs(means) >= observed) + 1) / (draws + 1))


def detectable_over_tasks(d: Floats, *, power: float = POWER) -> float | None:
    """Smallest true mean difference that the paired t over T tasks finds: t_975 `paired_error` + t_power s / sqrt(T).

    s is the standard deviation of d, shape (T,), which holds both the tasks' own spread and the trials' noise; t has
    T - 1 degrees of freedom. Both are taken as known, so with few tasks this is itself rough.

    Returns:
        A difference of shares; None when not even 1 would be found.

    Source: Bloom 1995, "Minimum Detectable Effects"; Miller 2024, section 5, for evaluations.
    """
    freedom = d.size - 1
    needed = special.stdtrit(freedom, (1 + LEVEL) / 2) * float(paired_error(d[:, None])[0])
    missed = special.stdtrit(freedom, power) * float(np.std(d, ddof=1)) / np.sqrt(d.size)
    found = float(needed + missed)
    return found if found <= 1 else None


def detectable_over_trials(ca: Ints, na: Ints, cb: Ints, nb: Ints, *, power: float = POWER) -> float | None:
    """As above when these T tasks are all that matters: (z_975 + z_power) sqrt(sum of variances) / T.

    Each side's variance on a task is p (1 - p) / (n - 1), its unbiased estimate. Arrays of shape (T,).

    Returns:
        A difference of shares; None when a task has a single trial of a side, or nothing varies.

    Source: Bloom 1995; Miller 2024, section 3.
    """
    if min(na.min(), nb.min()) < MIN_TRIALS:
        return None
    pa, pb = ca / na, cb / nb
    variance = np.sum(pa * (1 - pa) / (na - 1) + pb * (1 - pb) / (nb - 1)) / ca.size**2
    if variance <= CLOSE:
        return None
    return float((special.ndtri((1 + LEVEL) / 2) + special.ndtri(power)) * np.sqrt(variance))


@dataclass(frozen=True)
class Separation:
    """How far one task tells models apart."""

    spread: float
    """Largest minus smallest pass rate."""
    true_spread: float | None
    """Standard deviation of the models' rates beyond what coin tossing makes; None unless two models have two trials:
    a single trial does not show what coin tossing makes."""
    p_same: float | None
    """Chance of rates as unlike as these if all models were alike on it; None when all passed or all failed, or no
    model has two trials: then every outcome is as unlike as any other."""
    rest_correlation: float | None
    """Pearson correlation over models with their mean rate on the other tasks: does it rank as the others do?"""


def separation(passes: ArrayLike, trials: ArrayLike) -> list[Separation]:
    """How far each task separates models.

    Args:
        passes: shape (T, M): tasks by models.
        trials: shape (T, M); a 0 leaves that model out on that task.

    Returns:
        One entry for each task. `true_spread` is sqrt(max(0, var(p) - mean(p (1 - p) / (n - 1)))) over the models with
        at least two trials of it; `p_same` is the
        chi-square test of homogeneity; `rest_correlation` the corrected item-total correlation.

    Source: Pearson's chi-square; Lord and Novick 1968, "Statistical Theories of Mental Test Scores", chapter 15
    (item discrimination).
    """
    c = np.asarray(passes, dtype=np.int64)
    n = np.asarray(trials, dtype=np.int64)
    rates = np.divide(c, n, out=np.full(c.shape, np.nan), where=n > 0)
    return [_separation(t, c, n, rates) for t in range(c.shape[0])]


def _separation(t: int, c: Ints, n: Ints, rates: Floats) -> Separation:
    have = n[t] > 0
    p = rates[t, have]
    return Separation(
        spread=float(p.max() - p.min()) if p.size else 0.0,
        true_spread=_beyond_chance(c[t], n[t]),
        p_same=_homogeneous(c[t, have], n[t, have]),
        rest_correlation=_rest_correlation(t, rates, have),
    )


def _beyond_chance(c: Ints, n: Ints) -> float | None:
    several = n > 1
    if np.count_nonzero(several) < MIN_MODELS:
        return None
    p = c[several] / n[several]
    noise = p * (1 - p) / (n[several] - 1)
    return float(np.sqrt(max(0.0, np.var(p, ddof=1) - noise.mean())))


def _homogeneous(c: Ints, n: Ints) -> float | None:
    """Pearson's chi-square test that M shares c / n, shape (M,), are one: X^2 = sum((c - n p)^2 / (n p (1 - p))).

    Where a model is expected to pass or fail fewer than five times, the chi-square distribution is wrong: of pairs of
    equal models with two trials each, twelve of a hundred differ at 0.05. There the passes are dealt anew among all
    trials.

    Source: Pearson 1900; Cochran 1954, "Some Methods for Strengthening the Common Chi-square Tests", for the five; Good
    2005, chapter 3, for dealing anew.
    """
    if c.size < MIN_MODELS or n.max() < MIN_TRIALS or c.sum() in {0, n.sum()}:
        return None
    total = int(c.sum())
    p = total / n.sum()
    statistic = float(np.sum((c - n * p) ** 2 / (n * p * (1 - p))))
    if n.min() * min(p, 1 - p) >= EXPECTED:
        return float(special.chdtrc(c.size - 1, statistic))
    dealt = np.random.default_rng(SEED).multivariate_hypergeometric(n, total, size=DEALS, method="marginals")
    drawn = np.sum((dealt - n * p) ** 2 / (n * p * (1 - p)), axis=1)
    return float((np.count_nonzero(drawn >= statistic - CLOSE) + 1) / (DEALS + 1))


def _rest_correlation(t: int, rates: Floats, have: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> float | None:
    others = np.delete(rates, t, axis=0)[:, have]
    columns = ~np.all(np.isnan(others), axis=0) if others.size else np.zeros(0, dtype=bool)
    rest = np.nanmean(others[:, columns], axis=0) if columns.any() else np.zeros(0)
    p = rates[t, have][columns] if columns.size else np.zeros(0)
    few = 3
    if p.size < few or np.ptp(p) <= CLOSE or np.ptp(rest) <= CLOSE:
        return None
    return float(np.corrcoef(p, rest)[0, 1])
