"""Prices and costs."""

import pytest
from tests.support.trials import trial

from incident_arena.analysis.cost import Tokens, cost_of, load_prices, price_notes, with_cost
from incident_arena.analysis.trial import frame
from incident_arena.errors import UserError

USED = Tokens(input=1_000_000, cached=600_000, cache_writes=100_000, output=50_000)


def test_cache_writes_are_dearer_on_anthropic_alone():
    prices = load_prices()
    factors = {price.name: prices.write_factor(price) for price in prices.models}
    assert {factors[name] for name in factors if name.startswith("claude")} == {1.25}
    assert {factors[name] for name in factors if not name.startswith("claude")} == {1.0}


def test_a_cost_by_hand():
    opus = load_prices().of("claude-opus-5-5")
    assert cost_of(USED, opus, 1.25) == pytest.approx(0.3 * 4 + 0.6 * 0.2 + 0.1 * 5 + 0.05 * 20)
    assert cost_of(USED, opus, 1.0) == pytest.approx(0.3 * 4 + 0.6 * 0.2 + 0.1 * 4 + 0.05 * 20)


@pytest.mark.parametrize(
    "name",
    ["claude-opus-5-5", "claude-opus-5.5", "anthropic/claude-opus-5-5", "Claude-Opus-5-5", "claude-opus-5-5-20260901"],
)
def test_a_model_is_known_by_its_spellings(name):
    price = load_prices().of(name)
    assert price is not None
    assert price.name == "claude-opus-5-5"


def test_a_model_that_only_begins_alike_is_unknown():
    assert load_prices().of("gpt-6-astra-law") is None
    assert load_prices().of("gpt") is None


def test_the_frame_has_the_same_cost():
    prices = load_prices()
    fields = {
        "input_tokens": 1_000_000,
        "cached_tokens": 600_000,
        "cache_write_tokens": 100_000,
        "output_tokens": 50_000,
    }
    models = ["claude-opus-5-5", "openai/gpt-6-sol", "unheard-of", None]
    table = with_cost(frame([trial(model=model, **fields) for model in models] + [trial(model=models[0])]), prices)
    expected = [
        cost_of(USED, prices.of("claude-opus-5-5"), 1.25), cost_of(USED, prices.of("gpt-6-sol"), 1.0), None, None, None,
    ]  # fmt: skip
    assert table["cost"].to_list() == [None if cost is None else pytest.approx(cost) for cost in expected]


def test_what_a_reader_must_know():
    some = [
        trial(model="unheard-of", input_tokens=5),
        *[trial(model="claude-opus-5", input_tokens=5, output_tokens=output) for output in (5, 5, None)],
        trial(model="gpt-6-sol", input_tokens=5, output_tokens=5),
    ]
    table = with_cost(frame(some), load_prices())
    assert price_notes(table, load_prices()) == [
        "model claude-opus-5: 2 trials have no record of cache writes; their cost is too low",
        "model claude-opus-5: the cost of 1 of 3 trials (33%) is not known; means of cost are over the others",
        "model unheard-of is not in the price list",
        "model unheard-of: the cost of 1 of 1 trials (100%) is not known; means of cost are over the others",
    ]
    assert [source is None for source in table["cost_source"]] == [cost is None for cost in table["cost"]]


def test_every_price_has_a_source_with_a_date():
    prices = load_prices()
    assert prices.models
    for price in prices.models:
        assert prices.sources[price.source].date.year >= 2026
        assert price.cached <= price.input <= price.output
    names = [name for price in prices.models for name in (price.name, *price.aliases)]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("text", ["version = 2", "not toml ["])
def test_a_wrong_price_list_is_the_users_error(tmp_path, text):
    (tmp_path / "prices.toml").write_text(text)
    with pytest.raises(UserError, match=r"prices\.toml"):
        load_prices(tmp_path / "prices.toml")
    with pytest.raises(UserError, match="none"):
        load_prices(tmp_path / "none.toml")
