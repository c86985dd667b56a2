"""What a trial spent: tokens, turns, time and dollars, from Harbor's record, and whether it can be true.

An agent counts its own tokens, so a count may be missing, negative or impossible. One that can't be true is worse than
none: it is left out, with what else came from the same record, and the trial says so (Trial.doubts).
"""

import math
from typing import TypedDict

from incident_arena.analysis.harbor_files import TrajectoryTail, TrialResult

MOST_TOKENS = 10**12
"""No trial can have as many; a sum of all trials of a job has fewer."""
MOST = 1e11
"""Seconds or dollars: no trial takes or costs as much, and no clock shows it before the year 5138."""


class Spent(TypedDict):
    """Counts of tokens and turns, seconds, US dollars; None where not known. Trial and Attempt have the same fields."""

    agent_seconds: float | None
    input_tokens: int | None
    cached_tokens: int | None
    cache_write_tokens: int | None
    output_tokens: int | None
    turns: int | None
    reported_cost: float | None


def spent_of(result: TrialResult, tail: TrajectoryTail) -> Spent:
    """As the files have it."""
    usage, execution = result.agent_result, result.agent_execution
    return Spent(
        agent_seconds=execution.seconds if execution else None,
        input_tokens=usage.n_input_tokens if usage else None,
        cached_tokens=usage.n_cache_tokens if usage else None,
        cache_write_tokens=tail.cache_write_tokens,
        output_tokens=usage.n_output_tokens if usage else None,
        turns=tail.turns,
        reported_cost=usage.cost_usd if usage else None,
    )


def believable(spent: Spent) -> tuple[Spent, list[str]]:
    """What can be true of it, and what was left out, in words."""
    kept, doubts = spent.copy(), []
    if doubt := _tokens(spent):
        doubts.append(doubt)
        kept["input_tokens"] = kept["cached_tokens"] = kept["cache_write_tokens"] = kept["output_tokens"] = None
    if spent["turns"] is not None and not 0 <= spent["turns"] < MOST_TOKENS:
        doubts.append("turns that are negative or impossible")
        kept["turns"] = None
    if doubt := doubtful(spent["reported_cost"]):
        doubts.append(f"a reported cost that is {doubt}")
        kept["reported_cost"] = None
    if doubt := doubtful(spent["agent_seconds"]):
        doubts.append(f"a time of the agent that is {doubt}")
        kept["agent_seconds"] = None
    return kept, doubts


def _tokens(spent: Spent) -> str:
    counts = [spent["input_tokens"], spent["cached_tokens"], spent["cache_write_tokens"], spent["output_tokens"]]
    whole, *parts = (count or 0 for count in counts[:3])
    if any(count is not None and count < 0 for count in counts):
        return "negative tokens"
    if any(count is not None and count > MOST_TOKENS for count in counts):
        return "more tokens than any trial can use"
    if spent["input_tokens"] is not None and sum(parts) > whole:
        return "more cached tokens than tokens"
    return ""


def doubtful(value: float | None) -> str:
    """Why a duration, a moment or an amount can't be true; empty when it can, or is not known."""
    if value is None:
        return ""
    if math.isnan(value) or math.isinf(value):
        return "not a number" if math.isnan(value) else "infinite"
    return "negative" if value < 0 else "impossible" if value > MOST else ""
