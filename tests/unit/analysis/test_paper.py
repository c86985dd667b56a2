"""The paper's figures, put through our code: acceptance checks 49 to 60, and where the page contradicts itself."""

import polars as pl
import pytest
from tests.support import paper
from tests.support.trials import trial, trials

from incident_arena.analysis.agreement import kappa_from_marginals
from incident_arena.analysis.cost import load_prices, with_cost
from incident_arena.analysis.estimates import pass_hat_k_curve
from incident_arena.analysis.intervals import bootstrap_interval
from incident_arena.analysis.judgements import Judgement, judge_rows
from incident_arena.analysis.tables_behaviour import after_fix_rows, configuration_rows, failure_rows
from incident_arena.analysis.tables_rates import gate_rows, group_rows, main_rows, task_model_rows, task_rows
from incident_arena.analysis.trial import frame


def _table_12():
    return [
        one
        for task, rates in zip(paper.TASKS, paper.RATES, strict=True)
        for (model, each), rate in zip(paper.COLUMNS.items(), rates, strict=True)
        for one in trials(f"frappe/{task}", model, round(rate * each), each)
    ]


def _cost(some):
    return with_cost(frame(some), load_prices())


def test_49_table_12_times_trials_gives_table_6():
    table = frame(_table_12())
    rows = {row.task: row for row in task_rows(table, {})}
    for task, rate, passes in zip(paper.TASKS, paper.PASS_RATE, paper.PASSES, strict=True):
        row = rows[f"frappe/{task}"]
        assert row.trials == paper.PER_TASK
        assert row.pass_at_1 == passes / paper.PER_TASK
        assert row.pass_at_1 == pytest.approx(rate, abs=0.0005)


def test_49_the_split_of_trials_makes_every_rate_a_whole_number_of_passes():
    rows = task_model_rows(frame(_table_12()))
    printed = {
        (f"frappe/{task}", model): rate
        for task, rates in zip(paper.TASKS, paper.RATES, strict=True)
        for model, rate in zip(paper.COLUMNS, rates, strict=True)
    }
    assert len(rows) == len(printed) == 60
    for row in rows:
        assert row.rate == pytest.approx(printed[row.task, row.who], abs=0.0051)


def test_50_table_8_rows_sum_to_150_and_both_gates_make_a_pass():
    pairs = (("pass", "pass"), ("pass", "fail"), ("fail", "pass"), ("fail", "fail"))
    some = [
        trial(f"frappe/{task}", "m", int(pair == pairs[0]), outcome=pair[0], safety=pair[1])
        for task, counts in zip(paper.TASKS, paper.GATES, strict=True)
        for pair, count in zip(pairs, counts, strict=True)
        for _ in range(count)
    ]
    table = frame(some)
    rates = {row.task: row.pass_at_1 for row in task_rows(table, {})}
    for task, counts, rate, row in zip(paper.TASKS, paper.GATES, paper.PASS_RATE, gate_rows(table), strict=True):
        assert (row.pass_pass, row.pass_fail, row.fail_pass, row.fail_fail) == counts
        assert sum(counts) == paper.PER_TASK
        assert row.undecided == 0
        assert row.pass_pass / paper.PER_TASK == rates[f"frappe/{task}"] == pytest.approx(rate, abs=0.0005)


@pytest.mark.parametrize("model", paper.BY_SUBSTRATE)
def test_51_table_11_weighted_is_table_10(model):
    some = []
    for (substrate, number), (rate, completion) in zip(
        paper.SUBSTRATES.items(), paper.BY_SUBSTRATE[model], strict=True
    ):
        passed, whole = round(rate * number), round(completion * number)
        tasks = number // 15
        some += [
            trial(f"{substrate}/{place % tasks}", model, int(place < passed), faults=1, repaired=int(place < whole))
            for place in range(number)
        ]
    table = _cost(some)
    groups = {row.value: row for row in group_rows(table, {}) if row.dimension == "substrate"}
    for (substrate, number), (rate, completion) in zip(
        paper.SUBSTRATES.items(), paper.BY_SUBSTRATE[model], strict=True
    ):
        assert groups[substrate].trials == number
        assert groups[substrate].pass_at_1 == pytest.approx(rate, abs=0.0005)
        assert groups[substrate].completion == pytest.approx(completion, abs=0.5 / number)
    (row,) = main_rows(table)
    printed = paper.MODELS[model]
    assert (row.trials, row.tasks) == (300, 20)
    assert row.pass_at_1 == pytest.approx(printed[0], abs=0.0005)
    assert row.completion == pytest.approx(printed[2], abs=0.003)


def test_52_exclusive_classes_sum_to_the_failures_and_give_the_shares():
    some = []
    for name, (exclusive, _, _) in paper.CLASSES.items():
        some += [trial("frappe/a", "m", 0, failure_class=name, inclusive=(name,)) for _ in range(exclusive)]
    more = {name: inclusive - exclusive for name, (exclusive, _, inclusive) in paper.CLASSES.items()}
    names = list(paper.CLASSES)
    filled = []
    for one in some:
        first = names.index(one.failure_class)
        also = [name for name in names[first + 1 :] if more[name] > 0]
        for name in also:
            more[name] -= 1
        filled.append((one.failure_class, (one.failure_class, *also)))
    assert not any(more.values())
    failed = [trial("frappe/a", "m", 0, failure_class=name, inclusive=every) for name, every in filled]
    table = frame(failed + trials("frappe/a", "m", 1_052, paper.TRIALS - paper.FAILURES))
    rows = {row.failure_class: row for row in failure_rows(table)}
    assert sum(rows[name].exclusive for name in names) == paper.FAILURES == 1_948
    for name, (exclusive, share, inclusive) in paper.CLASSES.items():
        assert (rows[name].exclusive, rows[name].inclusive) == (exclusive, inclusive)
        assert rows[name].share == pytest.approx(share, abs=0.0005)


def test_39_inclusive_is_never_below_exclusive():
    for name, (exclusive, _, inclusive) in paper.CLASSES.items():
        assert exclusive <= inclusive
        if name in {"never declared", "other integrity"}:
            assert exclusive == inclusive


@pytest.mark.parametrize("model", paper.COSTS)
def test_53_passing_and_failing_cost_blend_to_the_mean(model):
    price_in, price_out, rate, mean, passing, failing = paper.COSTS[model]
    passed = round(paper.MODELS[model][0] * 300)
    table = frame(trials("frappe/a", model, passed, 300)).with_columns(
        cost=pl.when(pl.col("reward") == 1).then(passing).otherwise(failing), cost_source=pl.lit("prices")
    )
    (row,) = configuration_rows(table, load_prices())
    assert row.pass_at_1 == pytest.approx(rate, abs=0.005)
    assert row.cost_mean == pytest.approx(mean, abs=0.01)
    assert (row.cost_passing, row.cost_failing) == pytest.approx((passing, failing))
    price = load_prices().of(model.lower().replace(" (", "-").replace(" ", "-"))
    assert price is not None
    assert (price.input, price.output) == (price_in, price_out)


@pytest.mark.parametrize("pair", paper.AGREEMENT)
def test_54_kappa_from_marginals_and_agreement(pair):
    same, kappa = paper.AGREEMENT[pair]
    first, second = (paper.VERDICTS[judge][:3] for judge in pair)
    assert kappa_from_marginals(same, first, second) == pytest.approx(kappa, abs=0.001)


@pytest.mark.parametrize("judge", paper.COVERAGE)
def test_55_and_60_coverage_and_flags(judge):
    scored, refused, missing = paper.COVERAGE[judge]
    honest, suspicious, exploit, flag = paper.VERDICTS[judge]
    some = trials("frappe/a", "m", 1_052, paper.TRIALS)
    exploits, honests = round(exploit * scored), round(honest * scored)
    said = [
        ("scored", "exploit" if place < exploits else "honest" if place < exploits + honests else "suspicious")
        for place in range(scored)
    ]
    said += [("refused", None)] * refused + [("missing", None)] * missing
    judgements = [
        Judgement(trial=one.id, name=one.name, judge=judge, rubric="r", at=0, status=status, category=category)
        for one, (status, category) in zip(some, said, strict=True)
    ]
    (row,) = judge_rows(some, judgements)
    assert row.scored + row.refused + row.missing == paper.TRIALS
    assert row.any_flag == pytest.approx(row.suspicious + row.exploit)
    assert (row.honest, row.suspicious, row.exploit, row.any_flag) == pytest.approx(
        (honest, suspicious, exploit, flag), abs=0.001
    )
    (reward,) = main_rows(_cost(some))
    assert reward.passed == 1_052


@pytest.mark.parametrize("model", paper.MODELS)
def test_56_pass_hat_k_falls_with_k_and_starts_at_pass_at_1(model):
    pass_at_1, _, _, pass_3, pass_5 = paper.MODELS[model]
    assert pass_at_1 >= pass_3 >= pass_5
    rates = [row[list(paper.COLUMNS).index(model)] for row in paper.RATES]
    passes = [round(rate * 15) for rate in rates]
    values = [one.value for one in pass_hat_k_curve(passes, [15] * 6)]
    assert values == sorted(values, reverse=True)
    assert values[0] == pytest.approx(sum(passes) / 90)


@pytest.mark.parametrize("model", paper.MODELS)
def test_57_interval_ends_lie_on_the_grid_of_300_trials(model):
    for end in paper.MODELS[model][1]:
        assert abs(end * 300 - round(end * 300)) <= 0.15
        assert round(end, 3) == round(round(end * 300) / 300, 3)
    six = [round(row[list(paper.COLUMNS).index(model)] * 15) for row in paper.RATES]
    rest = round(paper.MODELS[model][0] * 300) - sum(six)
    others = [rest // 14 + (place < rest % 14) for place in range(14)]
    interval = bootstrap_interval([*six, *others], [15] * 20)
    assert interval is not None
    for end in interval:
        assert end * 300 == pytest.approx(round(end * 300), abs=1e-9)
    assert interval[0] < paper.MODELS[model][0] < interval[1]


def test_58_effort_report_has_480_trials_a_level():
    some = [
        one
        for model in range(8)
        for task in range(20)
        for effort in paper.EFFORTS
        for one in trials(f"frappe/{task}", f"m{model}", 1, 3, effort=effort)
    ]
    rows = [row for row in group_rows(_cost(some), {}) if row.dimension == "effort" and row.who == "all"]
    assert [(row.value, row.trials) for row in rows] == [(effort, 480) for effort in paper.EFFORTS]


def test_59_after_the_fix_splits_by_change_delay_and_looks():
    some = []
    for delay, reads, changes, reward in (
        (0, 0, 0, 1), (119, 4, 1, 1), (120, 5, 0, 0), (599, 9, 2, 1), (600, 9, 2, 0), (None, 9, 2, 0), (-1, 1, 0, 0),
    ):  # fmt: skip
        some.append(
            trial(
                reward=reward, fixed_at=1000.0, declared_at=None if delay is None else 1000.0 + delay,
                reads_after_fix=reads, changes_after_fix=changes,
            )
        )  # fmt: skip
    some += [trial(fixed_at=None, changes_after_fix=None), trial(fixed_at=5.0, changes_after_fix=None)]
    rows = {row.behaviour: (row.trials, row.pass_rate) for row in after_fix_rows(frame(some))}
    assert rows == {
        "all": (7, pytest.approx(3 / 7)),
        "no further change": (3, pytest.approx(1 / 3)),
        "further change": (4, 0.5),
        "declared before the fix": (1, 0.0),
        "declared within 2 minutes": (2, 1.0),
        "declared in 2-10 minutes": (2, 0.5),
        "declared at or after 10 minutes": (1, 0.0),
        "never declared": (1, 0.0),
        "fewer than 5 read-only looks": (3, pytest.approx(2 / 3)),
        "5 or more read-only looks": (4, 0.25),
    }
    assert set(paper.AFTER_FIX) < set(rows)


def test_contradiction_table_13_has_other_failures_than_table_10():
    """The totals of table 13 are no whole numbers, and none is what table 10 leaves of 300 trials."""
    for model, total in paper.FAILURE_TOTALS.items():
        failures = round(300 * (1 - paper.MODELS[model][0]))
        assert abs(total - failures) > 1.9
    assert sum(total != int(total) for total in paper.FAILURE_TOTALS.values()) == 5


def test_contradiction_table_4_passes_that_no_timed_row_holds():
    """Split by change, 937 of 1,569 trials passed; split by delay, 811 of 1,366 did: 126 passes have no delay."""
    change = [paper.AFTER_FIX[row] for row in ("no further change", "further change")]
    timed = [count for row, count in paper.AFTER_FIX.items() if row.startswith("declared")]
    assert (sum(n for n, _ in change), sum(n for n, _ in timed)) == (1_569, 1_366)
    passes = [round(sum(n * rate for n, rate in rows)) for rows in (change, timed)]
    assert passes == [937, 811]


def test_contradiction_the_headline_rate_is_no_share_of_60_trials():
    """64.3 % is no share of 3 trials on 20 tasks; it is of 56, which would mean trials that were not admitted."""
    assert all(round(passed / 60, 3) != 0.643 for passed in range(61))
    assert round(36 / 56, 3) == 0.643


def test_contradiction_safety_failures_of_six_tasks_nearly_use_up_those_of_twenty():
    """Six tasks fail the safety gate 412 times; over all 3,000 trials its two classes occur 499 times at most."""
    six = sum(row[1] + row[3] for row in paper.GATES)
    everywhere = paper.CLASSES["off-list change"][2] + paper.CLASSES["other integrity"][2]
    assert (six, everywhere) == (412, 499)
    share_of_tasks = len(paper.GATES) / 20
    assert six / everywhere > 2 * share_of_tasks
