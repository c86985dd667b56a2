"""Efforts of models: which levels a table over effort may pool, and each model's best."""

from collections import Counter
from dataclasses import dataclass

import polars as pl

EFFORT_ORDER = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
NOT_SET = "not set"


def rank(level: str) -> tuple[int, str]:
    """Levels from low to high, unknown ones last by name."""
    return (EFFORT_ORDER.index(level) if level in EFFORT_ORDER else len(EFFORT_ORDER), level)


def with_level(trials: pl.DataFrame) -> pl.DataFrame:
    """Adds `level`: the effort, or that none was set."""
    return trials.with_columns(pl.col("effort").fill_null(NOT_SET).alias("level"))


@dataclass(frozen=True)
class Shared:
    """Levels that can be compared over the same models; no models: no two have the same levels."""

    levels: tuple[str, ...]
    models: tuple[str, ...]


def shared(trials: pl.DataFrame) -> Shared:
    """The set of levels that most models have, and the models that have just these.

    A table over effort that pooled other models too would compare levels over different models. Sets of several levels
    go before single ones, then those of more models, then larger ones. A model with a level more is left out as well:
    its scale is another (the paper pools "the eight five-setting models", and has one with six).
    """
    found = with_level(trials).group_by("who").agg(pl.col("level").unique()).sort("who")
    sets = {who: tuple(sorted(levels, key=rank)) for who, levels in found.iter_rows()}
    counts = Counter(sets.values())
    if not counts:
        return Shared((), ())
    most = max(counts, key=lambda levels: (len(levels) > 1, counts[levels], len(levels), levels))
    models = tuple(who for who, levels in sets.items() if levels == most)
    return Shared(most, models if len(models) > 1 else ())


def pooling_note(trials: pl.DataFrame) -> list[str]:
    """Which models a table over effort pools; nothing where there is nothing to tell apart."""
    if trials["who"].n_unique() < 2 or trials["effort"].n_unique() < 2:  # noqa: PLR2004 - a pair
        return []
    found = shared(trials)
    if not found.models:
        return ["effort: no two models have the same levels, so none are pooled"]
    levels, models = ", ".join(found.levels), ", ".join(found.models)
    return [f"effort: rows of all models pool the {len(found.models)} that have just {levels}: {models}"]


@dataclass(frozen=True)
class Best:
    """A model's best effort, and from how many it was chosen."""

    who: str
    level: str
    of: int


def best_efforts(trials: pl.DataFrame) -> list[Best]:
    """Each model's level with the highest Pass@1 among those with the most tasks; of equals the lowest. Best first."""
    counts = (
        with_level(trials)
        .group_by("who", "level")
        .agg(pl.col("reward").mean().alias("rate"), pl.col("task").n_unique().alias("tasks"))
    )
    found: dict[str, list[tuple[str, float, int]]] = {}
    for who, level, rate, tasks in counts.iter_rows():
        found.setdefault(who, []).append((level, rate, tasks))
    best = []
    for who, levels in found.items():
        most = max(tasks for _, _, tasks in levels)
        enough = [(-rate, rank(level), level) for level, rate, tasks in levels if tasks == most]
        rate, _, level = min(enough)
        best.append((rate, who, Best(who=who, level=level, of=len(enough))))
    return [one for _, _, one in sorted(best, key=lambda each: each[:2])]
