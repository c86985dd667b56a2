"""Tables of single trials: all of them, and those that can't be used."""

from collections.abc import Sequence

import polars as pl

from incident_arena.analysis.rows_trials import TrialRow, UnusableRow
from incident_arena.analysis.trial import Trial
from incident_arena.plain import plain

UNUSABLE = frozenset({"unreadable", "inconsistent"})
_SAME = (
    "job", "id", "task", "who", "agent", "agent_version", "effort", "status", "reason", "file", "reward",
    "failure_class", "refused", "cost", "cost_source", "input_tokens", "cached_tokens", "cache_write_tokens",
    "output_tokens", "turns", "agent_seconds", "started", "simulated", "source_trial", "folder",
)  # fmt: skip
"""Fields of the row that are columns of the frame."""
_JOINED = ("inclusive", "checks", "doubts")


def trial_rows(trials: pl.DataFrame) -> list[TrialRow]:
    """One row for each trial folder, in the order in which they were read.

    Args:
        trials: a frame of Trial with costs, of every status.
    """
    columns = trials.select(*_SAME, *_JOINED, pl.col("name").alias("trial"))
    rows = []
    for row in columns.iter_rows(named=True):
        for name in _JOINED:
            row[name] = ", ".join(row[name])
        rows.append(TrialRow.model_validate(row))
    return rows


def unusable_rows(trials: Sequence[Trial]) -> list[UnusableRow]:
    """Trials that are unreadable or inconsistent, with the file and the reason."""
    return [
        UnusableRow(
            status=one.status, job=one.job, trial=plain(one.folder.name), file=one.file or "-", reason=one.reason
        )
        for one in trials
        if one.status in UNUSABLE
    ]
