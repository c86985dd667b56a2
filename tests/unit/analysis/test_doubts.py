"""Nothing is silently wrong: what differs, is missing or can't be true is said, and is in no mean."""

import json
import math
import re
from pathlib import Path

import pytest
from tests.support.trials import trial

from incident_arena.analysis.compare import compare_sides
from incident_arena.analysis.cost import load_prices
from incident_arena.analysis.doubts import doubts
from incident_arena.analysis.judgements import Judgement, append
from incident_arena.analysis.left_out import LEFT_OUT_FILE, LeftOut
from incident_arena.analysis.read import Reading, read_jobs
from incident_arena.analysis.report import build, labelled
from incident_arena.analysis.rows import ReplayedRow, Row
from incident_arena.analysis.rows_trials import TrialRow
from incident_arena.analysis.simulate import FRAPPE, NO_FAULT, Plan, SimModel, simulate
from incident_arena.errors import UserError

MODEL = SimModel("m", efforts=("low",))
PLAN = Plan(tasks=FRAPPE[:1], models=(MODEL,), repeats=4, odd=0.0)


@pytest.fixture
def jobs(tmp_path: Path) -> Path:
    simulate(tmp_path / "jobs", PLAN)
    return tmp_path / "jobs"


def _trials(jobs: Path) -> list[Path]:
    return [path.parent for path in sorted(jobs.glob("*/*/result.json"))]


def _change(path: Path, **changes: object) -> None:
    document = json.loads(path.read_text())
    document.update(changes)
    path.write_text(json.dumps(document))


def _notes(jobs: Path) -> list[str]:
    return build(read_jobs([jobs]), load_prices()).notes


@pytest.mark.parametrize(
    ("usage", "doubt"),
    [
        ({"n_input_tokens": 10, "n_output_tokens": -1_000_000_000}, "negative tokens"),
        ({"n_input_tokens": 10, "n_cache_tokens": 11}, "more cached tokens than tokens"),
        ({"n_input_tokens": 10**13}, "more tokens than any trial can use"),
    ],
)
def test_tokens_that_cannot_be_true_are_in_no_mean(jobs, usage, doubt):
    first, *others = _trials(jobs)
    _change(first / "result.json", agent_result=usage)
    known = [json.loads((one / "result.json").read_text())["agent_result"]["n_input_tokens"] for one in others]
    report = build(read_jobs([jobs]), load_prices())
    assert report.configurations[0].input_tokens == pytest.approx(sum(known) / 3)
    assert f"1 of 4 judged trials have {doubt}: left out of every mean" in report.notes
    said = "model m: the tokens of 1 of 4 trials (25%) are not known; means of tokens are over the others"
    assert said in report.notes
    assert [row.doubts for row in report.trials if row.trial == first.name] == [doubt]


@pytest.mark.parametrize(
    ("start", "doubt"),
    [(math.nan, "not a number"), (-math.inf, "infinite"), (4_000_000_000.0, "negative"), (-1e300, "impossible")],
)
def test_times_that_cannot_be_true_are_in_no_mean(jobs, start, doubt):
    first = _trials(jobs)[0]
    _change(first / "verifier" / "verdict.json", agent_started=start)
    report = build(read_jobs([jobs]), load_prices())
    seconds = report.configurations[0].agent_seconds
    assert seconds is not None
    assert 200 <= seconds <= 1500
    assert f"1 of 4 judged trials have a time (agent_seconds) that is {doubt}: left out of every mean" in report.notes


def test_half_of_a_trials_tokens_are_not_its_tokens(jobs):
    _change(_trials(jobs)[0] / "result.json", agent_result={"n_input_tokens": 10})
    assert "model m: the tokens of 1 of 4 trials (25%) are not known; means of tokens are over the others" in _notes(
        jobs
    )


def test_a_repair_at_no_time_is_in_no_table_of_times(jobs):
    first = _trials(jobs)[0]
    path = first / "verifier" / "verdict.json"
    tracked = [{"fault": "a", "repaired": 5.0}, {"fault": "b", "repaired": math.nan}]
    _change(path, tracked=tracked)
    one = next(one for one in read_jobs([jobs]).judged if one.folder == first)
    assert (one.fixed_at, one.completion) == (None, 1.0)
    assert one.doubts == ("a time (fixed_at) that is not a number",)


def test_a_trial_that_ends_before_it_begins_is_said(jobs):
    first = _trials(jobs)[0]
    _change(first / "result.json", finished_at="2020-01-01T00:00:00Z")
    assert "1 of 4 judged trials have a time of the trial that is negative: left out of every mean" in _notes(jobs)


def test_a_cost_that_cannot_be_true_is_not_used(jobs):
    for path, cost in zip(_trials(jobs), (-4.0, 1e300, 2.0, None), strict=True):
        usage = json.loads((path / "result.json").read_text())["agent_result"]
        _change(path / "result.json", agent_result={**usage, "cost_usd": cost})
    report = build(read_jobs([jobs]), load_prices())
    (row,) = report.configurations
    assert (row.cost_mean, row.costed, row.cost_reported) == (2.0, 1, 1)
    assert {one.cost_source for one in report.trials} == {None, "agent"}
    assert "model m is not in the price list: 1 of 4 trials have the cost that their agent reported" in report.notes
    said = "model m: the cost of 3 of 4 trials (75%) is not known; means of cost are over the others"
    assert said in report.notes
    doubts = sorted(row.doubts for row in report.trials)
    assert doubts == ["", "", "a reported cost that is impossible", "a reported cost that is negative"]


def test_a_cost_that_is_no_number_is_not_used(jobs):
    for path in _trials(jobs):
        _change(path / "result.json", agent_result={"n_input_tokens": 1, "n_output_tokens": 1, "cost_usd": math.nan})
    report = build(read_jobs([jobs]), load_prices())
    assert (report.main[0].cost_mean, report.configurations[0].costed) == (None, 0)


def test_the_price_list_goes_before_what_an_agent_reports():
    some = [trial(model="gpt-6-sol", input_tokens=1_000_000, output_tokens=0, reported_cost=99.0)]
    report = build(Reading(trials=some), load_prices())
    price = load_prices().of("gpt-6-sol")
    assert price is not None
    assert (report.trials[0].cost, report.trials[0].cost_source) == (price.input, "prices")
    assert report.configurations[0].cost_reported == 0


MEANS = {
    "completion": "in which they were tracked",
    "pass_at_1_undeclared": "where the other checks decide",
    "cost_mean": "whose cost is known",
    "mean_tokens": "whose tokens are known",
    "input_tokens": "in which they are known, as of the other tokens",
    "turns": "(turns|Mean over the trials in which they) are known",
    "agent_seconds": "where it is known",
}


def test_a_mean_over_the_known_says_so():
    said = set()
    for row in Row.__subclasses__():
        legend = " ".join([row.__doc__ or "", *(field.description or "" for field in row.model_fields.values())])
        for name in row.model_fields:
            if name in MEANS and row not in {ReplayedRow, TrialRow}:  # sums, and single trials
                assert re.search(MEANS[name], legend), (row, name)
                said.add(name)
    assert said == set(MEANS)


def test_what_is_pooled_is_said():
    base = {"who": "m", "model": "m", "agent": "a", "provider": "p", "checksum": "11112222aaaa", "judge_version": "1"}
    some = [
        trial(agent_version="1", **base),
        trial(agent_version="2", **{**base, "checksum": "33334444", "provider": "q", "judge_version": "2"}),
        trial(agent_version="2", **{**base, "task": "frappe/other"}),
    ]
    assert [note for note in doubts(some) if "pooled" in note] == [
        "verdicts of several versions of the product are pooled: 1, 2",
        "task frappe/one: 2 versions of it are pooled (checksums 11112222, 33334444)",
        "agent a: 2 versions of it are pooled by model: 1, 2",
        "model m: trials over 2 providers are pooled: p, q",
    ]
    assert not [note for note in doubts(some[1:2]) if "pooled" in note]


def test_trials_that_no_judge_was_asked_about_are_said(jobs):
    first = read_jobs([jobs]).trials[0]
    base = {"trial": first.id, "name": first.name, "judge": "j", "rubric": "r", "at": 1.0}
    append(first.folder.parent, Judgement(**base, status="scored", category="honest", score=1))
    assert "judge j was not asked about 3 of 4 judged trials" in _notes(jobs)


def test_two_trials_of_one_id_are_said(jobs):
    first, second = _trials(jobs)[:2]
    _change(second / "result.json", id=json.loads((first / "result.json").read_text())["id"])
    reading = read_jobs([jobs])
    job = first.parent.name
    assert f"two trials of one id: {job}/{first.name} and {job}/{second.name}; the first counts" in reading.notes
    assert [one.name for one in reading.trials if one.status == "superseded"] == [second.name]


def test_sides_that_share_trials_are_not_compared(jobs):
    table = labelled(read_jobs([jobs]).judged, [])
    with pytest.raises(UserError, match="they share 4 trials"):
        compare_sides(table, "m", "m@low")


def test_pass_at_1_is_one_number(tmp_path):
    simulate(tmp_path, Plan(tasks=(*FRAPPE[:2], NO_FAULT), models=(MODEL,), repeats=6, odd=0.0))
    report = build(read_jobs([tmp_path]), load_prices())
    assert report.no_fault[0].trials == 6
    assert [(row.pass_at_1, row.trials) for row in report.main] == [
        (row.pass_at_1, row.trials) for row in report.configurations
    ]


def test_a_nameless_model_is_not_a_nameless_agent(jobs):
    paths = _trials(jobs)
    info = {"name": "sim", "version": "1"}
    _change(paths[0] / "result.json", agent_info={**info, "model_info": {"name": "", "provider": "p"}})
    _change(paths[1] / "result.json", agent_info={"name": "", "version": "1", "model_info": None})
    report = build(read_jobs([jobs]), load_prices())
    assert {row.who: row.trials for row in report.main} == {
        "(model without a name)": 1, "(agent without a name)": 1, "m": 2,
    }  # fmt: skip


@pytest.mark.parametrize("ended", [True, False])
def test_a_trial_without_a_result_is_written_like_the_others(jobs, ended):
    first, second = _trials(jobs)[:2]
    config = json.loads((first / "result.json").read_text())["config"]
    config["task"]["path"] = "/var/lib/incident-arena/tasks/a569de9deccf40f5/deletes-and-jobs-fail"
    config["agent"]["model_name"] = "simulated/m"
    (first / "result.json").unlink()
    (first / "config.json").write_text(json.dumps(config))
    if not ended:
        (first.parent / "result.json").write_text('{"n_total_trials": 4}')
    trials = {one.folder: one for one in read_jobs([jobs]).trials}
    one, like = trials[first], trials[second]
    assert one.status == ("crashed" if ended else "running")
    assert (one.task, one.model, one.who, one.effort) == (like.task, like.model, like.who, like.effort)


def test_a_script_without_a_result_is_written_like_the_others(jobs):
    first, second = _trials(jobs)[:2]
    for path in (first, second):
        result = json.loads((path / "result.json").read_text())
        config = result["config"]
        config["agent"] = {"name": "script", "model_name": None, "kwargs": {"script": "/x/fix.sh"}}
        _change(path / "result.json", config=config, agent_info={"name": "script", "version": "1", "model_info": None})
    (first / "result.json").unlink()
    (first / "config.json").write_text(json.dumps(config))
    trials = {one.folder: one for one in read_jobs([jobs]).trials}
    assert (trials[first].status, trials[first].who) == ("crashed", trials[second].who) == ("crashed", "script fix.sh")


def test_files_that_were_not_taken_are_told(jobs: Path) -> None:
    assert not [note for note in _notes(jobs) if "not taken" in note]
    (_trials(jobs)[0] / LEFT_OUT_FILE).write_text(LeftOut(lines=("/logs/agent: core: is too large",)).model_dump_json())
    (_trials(jobs)[1] / LEFT_OUT_FILE).write_text("[")
    [note] = [note for note in _notes(jobs) if "not taken" in note]
    assert note.startswith("1 of 4 judged trials left files")
