"""Tables: who counts where, and what is told apart."""

import polars as pl
import pytest
from tests.support.trials import trial, trials

from incident_arena.analysis.attempts import Attempt
from incident_arena.analysis.cost import load_prices, with_cost
from incident_arena.analysis.read import Reading, read_jobs
from incident_arena.analysis.report import build
from incident_arena.analysis.simulate import FRAPPE, MODELS, NO_FAULT, Plan, SimModel, SimTask, simulate
from incident_arena.analysis.tables_behaviour import (
    admission_rows,
    configuration_rows,
    failure_rows,
    naming_rows,
    status_rows,
)
from incident_arena.analysis.tables_rates import (
    gate_rows,
    group_rows,
    left_out_rows,
    main_rows,
    separation_rows,
    task_rows,
)
from incident_arena.analysis.trial import frame
from incident_arena.formats.verdict import CLASSES


def _cost(some):
    return with_cost(frame(some), load_prices())


def _report(some, **more):
    return build(Reading(trials=some, **more), load_prices())


def test_models_come_best_first_with_refusals_apart():
    some = [*trials("frappe/a", "low", 1, 4), *trials("frappe/a", "high", 3, 4)]
    some.append(trial("frappe/a", "high", 0, refused=True, failure_class="never declared"))
    low, high = reversed(main_rows(_cost(some)))
    assert (high.who, high.pass_at_1, high.refused, high.pass_at_1_unrefused) == ("high", 0.6, 1, 0.75)
    assert (low.who, low.pass_at_1, low.refused, low.pass_at_1_unrefused) == ("low", 0.25, 0, 0.25)


def test_a_refusal_keeps_its_class_and_is_counted_once_more():
    some = [
        trial(reward=0, refused=True, failure_class="never declared", inclusive=("never declared",)),
        trial(reward=0, failure_class="off-list change", inclusive=("off-list change", "not durable")),
    ]
    rows = {row.failure_class: (row.exclusive, row.share, row.inclusive) for row in failure_rows(frame(some))}
    assert rows["never declared"] == (1, 0.5, 1)
    assert rows["off-list change"] == (1, 0.5, 1)
    assert rows["not durable"] == (0, 0.0, 1)
    assert rows["refused"] == (1, None, 1)


def test_other_integrity_counts_only_where_no_other_class_applies():
    some = [
        trial(reward=0, failure_class="not durable", inclusive=("not durable", "other integrity")),
        trial(reward=0, failure_class="other integrity", inclusive=("other integrity",)),
    ]
    rows = {row.failure_class: (row.exclusive, row.inclusive) for row in failure_rows(frame(some))}
    assert rows["other integrity"] == (1, 1)
    assert rows["not durable"] == (1, 1)


def test_errored_trials_are_in_no_rate_and_shown_by_cause_with_their_replays():
    some = [
        *trials("frappe/a", "m", 1, 2),
        trial(who="m", reward=None, status="errored", reason="the way to the model was down: 429 11 times"),
    ]
    attempts = [
        Attempt(trial=f"t{number}", task="frappe/a", admissible=True, errored=reason, model="m", id=f"again-{number}")
        for number, reason in enumerate(["the way to the model was down: 503 once", "the provider failed: ApiError"])
    ]
    report = _report(some, attempts=attempts)
    assert [(row.trials, row.pass_at_1) for row in report.main] == [(2, 0.5)]
    assert [(row.cause, row.trials, row.again) for row in report.errored] == [
        ("the way to the model was down", 1, 1),
        ("the provider failed", 0, 1),
    ]
    assert report.errored[0].example == "429 11 times"
    assert report.admission == []
    assert {row.status: row.trials for row in report.statuses} == {"judged": 2, "errored": 1}
    assert any("2 attempts were errored and played again" in note for note in report.notes)


def test_what_attempts_spent_that_were_played_again_is_added_up_apart():
    spent = {"input_tokens": 1_000_000, "cached_tokens": 400_000, "output_tokens": 10_000, "turns": 7}
    attempts = [
        Attempt(trial="t", task="frappe/a", admissible=True, errored="x: y", model="gpt-6-sol", id=str(number), **spent)
        for number in range(2)
    ]
    attempts.append(Attempt(trial="u", task="frappe/a", admissible=True, errored="x: y", model="gpt-6-sol", id="3"))
    report = _report(trials("frappe/a", "gpt-6-sol", 1, 2), attempts=attempts)
    (row,) = report.replayed
    assert any(note.endswith("of its own, without the tokens of 1 that are not known") for note in report.notes)
    assert (row.attempts, row.input_tokens, row.output_tokens, row.turns) == (3, 2_000_000, 20_000, 14)
    price = load_prices().of("gpt-6-sol")
    assert row.cost_sum == pytest.approx(2 * (0.6 * price.input + 0.4 * price.cached + 0.01 * price.output))
    assert row.costed == 2


def test_completion_is_over_trials_in_which_faults_were_tracked():
    some = [trial(repaired=1), trial(repaired=2), trial(faults=None, repaired=None)]
    (row,) = main_rows(_cost(some))
    assert row.completion == 0.75


def test_pass_3_needs_three_trials():
    (row,) = main_rows(_cost([*trials("frappe/a", "m", 2, 2), *trials("frappe/b", "m", 2, 4)]))
    assert row.pass_3 == 0
    assert row.pass_5 is None


def test_tasks_in_which_nothing_is_broken_are_told_apart():
    calm = trials("frappe/calm", "m", 1, 4, faults=0, repaired=0)
    report = _report([*trials("frappe/a", "m", 3, 4), *calm])
    assert [(row.trials, row.pass_at_1) for row in report.main] == [(4, 0.75)]
    assert [(row.trials, row.pass_at_1) for row in report.no_fault] == [(4, 0.25)]
    assert {row.task for row in report.tasks} == {"frappe/a", "frappe/calm"}
    assert {row.task for row in report.gates} == {"frappe/a"}


def test_trials_that_are_not_judged_are_in_no_rate():
    odd = [trial(reward=None, status=status) for status in ("crashed", "inadmissible", "unknown", "foreign")]
    report = _report([*trials("frappe/a", "m", 1, 2), *odd])
    assert report.main[0].trials == 2
    assert {row.status: row.trials for row in report.statuses} == {
        "judged": 2, "crashed": 1, "inadmissible": 1, "unknown": 1, "foreign": 1,
    }  # fmt: skip


def test_nothing_judged_is_a_report_all_the_same():
    report = _report([trial(reward=None, status="running")])
    assert report.main == []
    assert [row.status for row in report.statuses] == ["running"]


def test_oracles_do_not_count_where_models_are_pooled():
    oracle = trials("frappe/a", "oracle", 3, 3, model=None, agent="oracle")
    report = _report([*trials("frappe/a", "m", 1, 4), *oracle])
    assert {row.who for row in report.main} == {"m", "oracle"}
    assert [(row.trials, row.pass_at_1) for row in report.tasks] == [(4, 0.25)]
    assert any("agents without a model" in note for note in report.notes)
    alone = _report(oracle)
    assert [(row.trials, row.pass_at_1) for row in alone.tasks] == [(3, 1.0)]


def test_a_model_under_two_agents_is_two_rows():
    some = [*trials("frappe/a", "m", 1, 2), *trials("frappe/a", "m", 2, 2, agent="terminus")]
    report = _report(some)
    assert [(row.who, row.pass_at_1) for row in report.main] == [("m (terminus)", 1.0), ("m (codex)", 0.5)]
    assert any("several agents" in note for note in report.notes)


def test_a_gate_that_is_not_decided_is_in_none_of_the_four():
    some = [trial(reward=0, outcome="fail", safety="unknown"), trial(), trial(reward=0, outcome="pass", safety="fail")]
    (row,) = gate_rows(frame(some))
    assert (row.pass_pass, row.pass_fail, row.fail_pass, row.fail_fail, row.undecided) == (1, 1, 0, 0, 1)


def test_groups_say_what_is_not_known():
    some = [*trials("frappe/a", "m", 1, 2, effort="high"), *trials("slack/b", "m", 2, 2, effort="low")]
    rows = {(row.dimension, row.value): row for row in group_rows(_cost(some), {})}
    assert rows["substrate", "slack"].pass_at_1 == 1
    assert rows["layer", "unknown"].trials == 4
    assert [value for dimension, value in rows if dimension == "effort"] == ["low", "high"]
    assert rows["substrate", "slack"].interval is None


def test_naming_stands_beside_the_reward():
    some = [
        trial(reward=1, named=True, exact=True, precision=1.0, recall=1.0),
        trial(reward=0, named=True, exact=True, precision=1.0, recall=1.0),
        trial(reward=0, named=True, exact=False, precision=0.5, recall=0.5),
        trial(reward=0, named=False),
    ]
    (row,) = naming_rows(frame(some))
    assert (row.trials, row.named, row.precision, row.exact) == (4, 3, 2.5 / 3, 2 / 3)
    assert (row.pass_if_exact, row.pass_if_not) == (0.5, 0.0)
    assert row.phi == 0.5


def test_configurations_keep_versions_and_efforts():
    some = [
        *trials("frappe/a", "gpt-6-sol", 1, 1, effort="low", input_tokens=1_000_000, output_tokens=0),
        *trials("frappe/a", "gpt-6-sol", 0, 1, effort="medium", input_tokens=3_000_000, output_tokens=0),
        *trials("frappe/a", "gpt-6-sol", 1, 1, effort="max", agent_version="2"),
    ]
    first, second = sorted(configuration_rows(_cost(some), load_prices()), key=lambda row: row.agent_version)
    assert (first.efforts, second.efforts) == ("low-medium", "max")
    assert (first.cost_mean, first.cost_median, first.cost_passing, first.cost_failing) == (4.0, 4.0, 2.0, 6.0)
    assert (first.costed, second.costed, second.cost_mean) == (2, 0, None)
    assert (first.developer, first.per_task) == ("OpenAI", "2")


def test_a_configuration_says_how_many_trials_its_tasks_have():
    some = [*trials("frappe/a", "claude-opus-5", 1, 3), *trials("frappe/b", "claude-opus-5", 1, 5), trial(who="new")]
    rows = {row.model: (row.developer, row.per_task) for row in configuration_rows(_cost(some), load_prices())}
    assert rows == {"claude-opus-5": ("Anthropic", "3-5"), "new": ("unknown", "1")}


def test_scripts_are_configurations_of_their_own():
    some = [
        trial(model=None, agent="script", who=who, reward=reward)
        for who, reward in (("script a.sh", 1), ("script b.sh", 0))
    ]
    rows = configuration_rows(_cost(some), load_prices())
    assert [(row.agent, row.model, row.pass_at_1) for row in rows] == [
        ("script a.sh", None, 1),
        ("script b.sh", None, 0),
    ]


def test_reruns_are_counted_once_with_their_reason():
    last = trial(reward=None, status="inadmissible", reason="InadmissibleError: no", judge_version=None, name="x")
    ruled = trial(reward=None, status="inadmissible", reason="ruled out", name="x")
    attempts = [
        Attempt(job="job", trial="x", task="frappe/one", inadmissible="baseline", attempt=number) for number in (1, 2)
    ]
    rows = {row.reason: row.episodes for row in admission_rows([last, ruled, trial()], attempts)}
    assert rows == {"baseline": 2, "ruled out": 1}
    assert [row.reason for row in admission_rows([last], [])] == ["InadmissibleError: no"]


def test_each_status_has_its_meaning():
    rows = status_rows([trial(), trial(status="superseded")])
    assert [row.status for row in rows] == ["judged", "superseded"]
    assert all(row.meaning for row in rows)


def test_one_model_is_not_separated():
    assert separation_rows(frame(trials("frappe/a", "m", 1, 2))) == []


def test_leaving_out_names_the_task():
    some = [*trials("frappe/a", "m", 2, 2), *trials("frappe/b", "m", 0, 2)]
    rows = {row.task: row.change for row in left_out_rows(frame(some))}
    assert rows == {"frappe/a": -0.5, "frappe/b": 0.5}


def test_simulated_jobs_come_back_whole(tmp_path):
    models = (*MODELS[:2], SimModel(None, "oracle", "1", None, 9.0, ()))
    calm = SimTask(NO_FAULT.name, NO_FAULT.difficulty, ())
    truth = simulate(tmp_path, Plan(tasks=(*FRAPPE[:3], calm), models=models, odd=0.2, evidence=True))
    report = build(read_jobs([tmp_path]), load_prices())
    broken = {key: count for key, count in truth.trials.items() if key[1] != calm.name}
    assert sum(row.trials for row in report.main) == sum(broken.values())
    assert sum(row.passed for row in report.main) == sum(truth.passes[key] for key in broken)
    assert {(row.task, row.onset, row.causes) for row in report.tasks} == {
        ("frappe/deletes-and-jobs-fail", "at start", 2),
        ("frappe/desk-and-queue-oom", "under load", 2),
        ("frappe/desk-and-queue-outage", "under load", 2),
        (calm.name, "at start", 0),
    }
    every = [row for row in report.failures if row.who == "all"]
    assert {row.failure_class for row in every} == {*CLASSES, "refused"}
    assert sum(row.episodes for row in report.admission) == truth.statuses["inadmissible"]


FACTS = """
title = "a"
substrate = "frappe"
surface = "confined"
layer = "configuration"
onset = "under load"
challenges = []
permitted = []
faults = [{name = "mariadb.grants"}]
load = {kinds = {create = {rate = 1.0}}}
symptom = {kinds = {create = 0.5}}
"""


def test_facts_come_from_evidence_else_from_the_folder_of_tasks(tmp_path):
    simulate(tmp_path / "jobs", Plan(tasks=FRAPPE[:1], models=MODELS[:1], repeats=1, odd=0.0, evidence=True))
    folder = tmp_path / "task"
    folder.mkdir()
    (folder / "task.toml").write_text(FACTS)
    reading = read_jobs([tmp_path / "jobs"])
    assert build(reading, load_prices(), tasks={FRAPPE[0].name: folder}).tasks[0].layer == "runtime"
    for path in tmp_path.glob("jobs/*/*/artifacts/evidence/task.json"):
        path.unlink()
    assert build(reading, load_prices(), tasks={FRAPPE[0].name: folder}).tasks[0].layer == "configuration"
    assert build(reading, load_prices()).tasks[0].layer == "unknown"
    assert task_rows(frame(reading.trials), {})[0].causes == 2


def test_frame_of_nothing_has_the_columns():
    assert frame([]).height == 0
    assert frame([]).schema == frame([trial()]).schema
    assert frame([trial()])["status"].dtype == pl.Enum
