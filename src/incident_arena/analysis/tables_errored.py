"""Tables of what counts for nothing: errored trials, and what attempts spent that were played again."""

from collections import Counter
from collections.abc import Sequence

from incident_arena.analysis.attempts import Attempt
from incident_arena.analysis.cost import Price, PriceList, Tokens, cost_of
from incident_arena.analysis.rows import ErroredRow, ReplayedRow
from incident_arena.analysis.trial import Trial


def errored_rows(trials: Sequence[Trial], attempts: Sequence[Attempt]) -> list[ErroredRow]:
    """One row for each model and cause, the most frequent first. The cause is the reason up to its first colon."""
    last = [(trial.who, trial.reason) for trial in trials if trial.status == "errored"]
    again = [(_who(one), one.errored) for one in attempts if one.errored]
    trial_counts = Counter((who, _cause(reason)) for who, reason in last)
    again_counts = Counter((who, _cause(reason)) for who, reason in again)
    examples: dict[tuple[str, str], str] = {}
    for who, reason in [*last, *again]:
        examples.setdefault((who, _cause(reason)), reason.partition(": ")[2])
    rows = [
        ErroredRow(who=who, cause=cause, trials=trial_counts[who, cause], again=again_counts[who, cause], example=shown)
        for (who, cause), shown in examples.items()
    ]
    return sorted(rows, key=lambda row: (-row.trials - row.again, row.who, row.cause))


def replayed_rows(attempts: Sequence[Attempt], prices: PriceList) -> list[ReplayedRow]:
    """One row for each model that has attempts which were played again, by name."""
    by_model: dict[str, list[Attempt]] = {}
    for one in attempts:
        if one.errored:
            by_model.setdefault(_who(one), []).append(one)
    return [_spent(who, some, prices) for who, some in sorted(by_model.items())]


def _spent(who: str, some: Sequence[Attempt], prices: PriceList) -> ReplayedRow:
    costs = [cost for one in some if (cost := _cost(one, prices)) is not None]
    reported = [one for one in some if _price(one, prices) is None and one.reported_cost is not None]
    return ReplayedRow(
        who=who,
        attempts=len(some),
        input_tokens=sum(one.input_tokens or 0 for one in some),
        cached_tokens=sum(one.cached_tokens or 0 for one in some),
        cache_write_tokens=sum(one.cache_write_tokens or 0 for one in some),
        output_tokens=sum(one.output_tokens or 0 for one in some),
        turns=sum(one.turns or 0 for one in some),
        agent_seconds=sum(one.agent_seconds or 0.0 for one in some),
        cost_sum=sum(costs) if costs else None,
        costed=len(costs),
        cost_reported=len(reported),
    )


def _price(one: Attempt, prices: PriceList) -> Price | None:
    return prices.of(one.model) if one.model else None


def _cost(one: Attempt, prices: PriceList) -> float | None:
    """By the price list; where it has no price, as the agent reported."""
    price = _price(one, prices)
    if price is None:
        return one.reported_cost
    if one.input_tokens is None:
        return None
    tokens = Tokens(
        input=one.input_tokens,
        cached=one.cached_tokens or 0,
        cache_writes=one.cache_write_tokens or 0,
        output=one.output_tokens or 0,
    )
    return cost_of(tokens, price, prices.write_factor(price))


def _who(one: Attempt) -> str:
    return one.model or one.agent


def _cause(reason: str) -> str:
    return reason.partition(": ")[0]
