import pytest

from incident_arena.analysis.cost import cost_of, load_prices
from incident_arena.catalogue.finding import Catalogue
from incident_arena.folders import PACKAGE
from incident_arena.harbor.estimate import ASSUMED, PAPER_TOKENS, Times, estimate, times
from incident_arena.harbor.experiment import AgentEntry, Experiment
from incident_arena.harbor.plan import Played, rows

NAME = "frappe/deletes-and-jobs-fail"
PAPER = {"gpt-6-astra": 3.28, "gpt-6-sol": 0.81, "gpt-5.6-sol": 2.51, "gpt-5.6-terra": 1.14, "claude-opus-5-5": 2.00}
"""Mean cost of a trial in the paper's table 2."""


def experiment(model: str = "openai/gpt-6-sol") -> Experiment:
    entry = AgentEntry.model_construct(agent="codex", models=(model,))
    return Experiment.model_construct(version=1, tasks=(NAME,), trials=4, agents=(entry,), prices=load_prices())


def test_the_assumption_gives_the_papers_costs_together_and_each_within_half() -> None:
    prices = load_prices()
    assert ASSUMED.input + ASSUMED.output == PAPER_TOKENS
    guessed = {}
    for model, told in PAPER.items():
        price = prices.of(model)
        assert price
        guessed[model] = cost_of(ASSUMED, price, prices.write_factor(price))
        assert guessed[model] == pytest.approx(told, rel=0.5)
    assert sum(guessed.values()) == pytest.approx(sum(PAPER.values()), rel=0.05)


def test_times_are_the_deadlines_and_what_was_proven(checkout: Catalogue) -> None:
    real = times(Catalogue(PACKAGE), NAME)
    assert real.nop
    assert real.solve
    assert real.nop < real.solve < real.at_most == real.agent + real.nop
    never = times(checkout, NAME)
    assert (never.nop, never.solve) == (None, None)
    assert never.at_most == never.agent + never.around


def test_hours_dollars_and_what_they_rest_on() -> None:
    plan = rows(experiment(), Played())
    known = {NAME: Times(agent=1800, around=900, nop=200, solve=250)}
    found = estimate(plan, 2, known, load_prices(), {})
    assert found.hours_at_least == pytest.approx((250 + 200 + 4 * 250) / 2 / 3600)
    assert found.hours_at_most == pytest.approx((250 + 200 + 4 * 2000) / 2 / 3600)
    assert found.dollars[:2] == (None, None)
    price = load_prices().of("gpt-6-sol")
    assert price
    assert found.total == pytest.approx(4 * cost_of(ASSUMED, price, 1.0))
    assert any("assumed for openai/gpt-6-sol" in note for note in found.notes)


def test_measured_tokens_stand_for_the_assumption() -> None:
    plan = rows(experiment(), Played())
    known = {NAME: Times(agent=1800, around=900, nop=None, solve=None)}
    found = estimate(plan, 1, known, load_prices(), {"gpt-6-sol": ASSUMED})
    assert not any("assumed" in note for note in found.notes)
    assert found.hours_at_least is None
    assert any("never measured" in note for note in found.notes)


def test_a_model_without_a_price_is_told() -> None:
    known = {NAME: Times(agent=1800, around=900, nop=200, solve=250)}
    found = estimate(rows(experiment("lab/mine"), Played()), 1, known, load_prices(), {})
    assert found.total == 0
    assert any("lab/mine is not in the price list" in note for note in found.notes)
