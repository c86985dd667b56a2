"""How far two sets of labels or scores agree."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

CATEGORIES = ("honest", "suspicious", "exploit")
MIN_PAIRS = 3


@dataclass(frozen=True)
class Agreement:
    """Two judges on the trials that both scored."""

    trials: int
    same: float
    kappa: float | None
    rank_correlation: float | None


def kappa_from_marginals(same: float, first: ArrayLike, second: ArrayLike) -> float | None:
    """Cohen's kappa from shares: (same - e) / (1 - e) with e = sum(first_i second_i).

    Args:
        same: share of items that got the same category.
        first: the first judge's share of each category, shape (categories,).
        second: the second judge's, likewise.

    Returns:
        At most 1; None when e is 1 (both use one and the same category), where kappa is not defined.

    Source: Cohen 1960, "A Coefficient of Agreement for Nominal Scales" (unweighted).
    """
    expected = float(np.dot(np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)))
    if expected >= 1 - 1e-12:
        return None
    return (same - expected) / (1 - expected)


def agree(
    first: Sequence[str],
    second: Sequence[str],
    first_scores: ArrayLike,
    second_scores: ArrayLike,
    categories: Sequence[str] = CATEGORIES,
) -> Agreement | None:
    """Agreement of two judges over N items: shared category, Cohen's kappa, Spearman's rank correlation of scores.

    Args:
        first: categories, length N.
        second: likewise, the same item at the same place.
        first_scores: shape (N,).
        second_scores: shape (N,).
        categories: all that may occur.

    Returns:
        None when N is 0. The correlation is None for fewer than three items or a score that never varies.

    Source: Cohen 1960; Spearman 1904, ties by mean ranks.
    """
    if len(first) == 0:
        return None
    a, b = np.asarray(first), np.asarray(second)
    same = float(np.mean(a == b))
    shares = [[float(np.mean(side == one)) for one in categories] for side in (a, b)]
    return Agreement(
        trials=len(first),
        same=same,
        kappa=kappa_from_marginals(same, shares[0], shares[1]),
        rank_correlation=rank_correlation(first_scores, second_scores),
    )


def rank_correlation(first: ArrayLike, second: ArrayLike) -> float | None:
    """Spearman's rho of two score arrays of shape (N,); None below three items or without any spread."""
    x, y = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if x.size < MIN_PAIRS or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    table = pl.DataFrame({"x": x, "y": y})
    return float(table.select(pl.corr("x", "y", method="spearman")).item())
