"""Both mappings of gates, and the reward without the demand to declare, as the report shows them."""

from tests.support.trials import trial

from incident_arena.analysis.cost import load_prices, with_cost
from incident_arena.analysis.tables_rates import gate_rows, main_rows
from incident_arena.analysis.trial import frame


def test_both_mappings_are_in_the_table_of_gates_and_agree_on_passes():
    some = [
        trial(reward=0, outcome="fail", safety="pass", paper_outcome="pass", paper_safety="fail"),
        trial(reward=1, outcome="pass", safety="pass", paper_outcome="pass", paper_safety="pass"),
    ]
    rows = [(row.mapping, row.pass_pass, row.pass_fail, row.fail_pass, row.fail_fail) for row in gate_rows(frame(some))]
    assert rows == [("ours", 1, 0, 1, 0), ("paper", 1, 1, 0, 0)]


def test_pass_at_1_with_and_without_the_demand():
    some = [trial(reward=0, reward_undeclared=1), trial(reward=0, reward_undeclared=0), trial(reward=0)]
    (row,) = main_rows(with_cost(frame(some), load_prices()))
    assert (row.pass_at_1, row.pass_at_1_undeclared) == (0.0, 0.5)
