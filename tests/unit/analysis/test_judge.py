"""A judge of trajectories, against an endpoint of ours on loopback."""

import json
from collections import Counter
from itertools import count

import pytest
from tests.support.endpoint import Local

from incident_arena.analysis.endpoints import Endpoint
from incident_arena.analysis.judge import DIGEST, MAX_CHARACTERS, Judge, judge_trials, parse_answer, transcript_text
from incident_arena.analysis.judgements import FILE, read_judgements
from incident_arena.analysis.read import read_jobs
from incident_arena.analysis.simulate import FRAPPE, MODELS, Plan, simulate
from incident_arena.errors import UserError

HONEST = json.dumps({"category": "honest", "score": 5, "reasons": "it repaired"})
EXPLOIT = json.dumps({"category": "exploit", "score": 95, "reasons": "step 2"})


@pytest.fixture
def jobs(tmp_path):
    simulate(tmp_path, Plan(tasks=FRAPPE[:2], models=MODELS[:2], repeats=1, odd=0.0))
    return tmp_path


def _trials(jobs):
    return read_jobs([jobs]).trials


def _known(jobs):
    notes = []
    return read_judgements(sorted(path for path in jobs.iterdir() if path.is_dir()), notes), notes


async def _run(jobs, local, *, api="openai", name="judge-1", key="secret", patience_s=5.0):
    async with local.server() as server:
        endpoint = Endpoint(api=api, url=str(server.make_url("/v1")), model="m-1", key=key, timeout_s=5)
        judge = Judge(endpoint=endpoint, name=name, parallel=3, patience_s=patience_s, pause_s=0.01)
        return await judge_trials(_trials(jobs), _known(jobs)[0], judge, lambda _: None)


@pytest.mark.parametrize("api", ["openai", "anthropic"])
async def test_each_trial_is_judged_over_both_apis(jobs, api):
    local = Local(lambda question: EXPLOIT if "Step 2" in question else HONEST)
    new = await _run(jobs, local, api=api)
    assert len(new) == len(_trials(jobs)) == 20
    assert {(one.status, one.category, one.score) for one in new} == {("scored", "exploit", 95)}
    assert {(one.input_tokens, one.output_tokens, one.rubric) for one in new} == {(11, 7, DIGEST)}
    assert {body["model"] for body in local.asked} == {"m-1"}
    assert sorted(one.trial for one in _known(jobs)[0]) == sorted(one.id for one in _trials(jobs))


async def test_a_second_run_asks_nothing_and_another_judge_everything(jobs):
    local = Local(lambda _: HONEST)
    await _run(jobs, local)
    assert await _run(jobs, local) == []
    assert len(local.asked) == 20
    await _run(jobs, local, name="judge-2")
    assert len(local.asked) == 40
    assert Counter(one.judge for one in _known(jobs)[0]) == {"judge-1": 20, "judge-2": 20}


async def test_a_run_that_was_cut_off_goes_on_where_it_ended(jobs):
    numbers = count()
    broken = Local(lambda _: HONEST if next(numbers) < 6 else (401, {"error": "revoked"}))
    with pytest.raises(UserError, match="401"):
        await _run(jobs, broken)
    done = sum(one.status == "scored" for one in _known(jobs)[0])
    assert done == 6
    local = Local(lambda _: HONEST)
    assert len(await _run(jobs, local)) == 20 - done


@pytest.mark.parametrize(
    ("api", "body"),
    [
        ("openai", {"choices": [{"message": {"content": None, "refusal": "I can't help"}, "finish_reason": "stop"}]}),
        ("openai", {"choices": [{"message": {"content": ""}, "finish_reason": "content_filter"}]}),
        ("anthropic", {"content": [], "stop_reason": "refusal"}),
    ],
)
async def test_a_refusal_is_recorded_and_settled(jobs, api, body):
    local = Local(lambda _: (200, body))
    new = await _run(jobs, local, api=api)
    assert {(one.status, one.category) for one in new} == {("refused", None)}
    assert await _run(jobs, local, api=api) == []


@pytest.mark.parametrize(
    ("answer", "asks"),
    [
        ("I think it is honest", 2),
        (json.dumps({"category": "fine", "score": 5}), 2),
        (json.dumps({"category": "honest", "score": 500}), 2),
        ((400, {"error": "bad request"}), 1),
        ((200, ["nonsense"]), 1),
    ],
)
async def test_an_answer_of_no_use_is_a_gap_that_the_next_run_fills(jobs, answer, asks):
    local = Local(lambda _: answer)
    new = await _run(jobs, local)
    assert {one.status for one in new} == {"failed"}
    assert all(one.detail for one in new)
    assert len(local.asked) == asks * 20
    again = await _run(jobs, Local(lambda _: HONEST))
    assert {one.status for one in again} == {"scored"}
    assert {one.status for one in _known(jobs)[0]} == {"scored"}


async def test_a_busy_endpoint_is_asked_again_until_patience_ends(jobs):
    numbers = count()
    local = Local(lambda _: (429, {"error": "slow down"}) if next(numbers) < 5 else HONEST)
    assert {one.status for one in await _run(jobs, local)} == {"scored"}
    dead = Local(lambda _: (503, {}))
    new = await _run(jobs, dead, name="judge-2", patience_s=0.03)
    assert {one.status for one in new} == {"failed"}
    assert "HTTP 503" in new[0].detail


async def test_an_endpoint_that_is_not_there_is_a_gap(jobs):
    endpoint = Endpoint(api="openai", url="http://127.0.0.1:9/v1", model="m")
    judge = Judge(endpoint=endpoint, name="judge", patience_s=0.02, pause_s=0.01)
    new = await judge_trials(_trials(jobs)[:1], [], judge, lambda _: None)
    assert [one.status for one in new] == ["failed"]


async def test_a_wrong_key_ends_the_run(jobs):
    with pytest.raises(UserError, match="wrong key"):
        await _run(jobs, Local(lambda _: HONEST), key="other")
    assert _known(jobs)[0] == []


async def test_a_trial_without_a_transcript_is_missing_and_looked_for_again(jobs):
    trial = _trials(jobs)[0]
    path = trial.folder / "agent" / "trajectory.json"
    text = path.read_text()
    path.unlink()
    new = await _run(jobs, Local(lambda _: HONEST))
    assert [one.trial for one in new if one.status == "missing"] == [trial.id]
    path.write_text(text)
    assert [(one.trial, one.status) for one in await _run(jobs, Local(lambda _: HONEST))] == [(trial.id, "scored")]


async def test_no_reward_is_touched(jobs):
    before = {path: path.read_bytes() for path in jobs.rglob("*.json")}
    await _run(jobs, Local(lambda _: EXPLOIT))
    assert {path: path.read_bytes() for path in jobs.rglob("*.json")} == before


async def test_trials_that_are_not_judged_are_not_asked_about(tmp_path):
    truth = simulate(tmp_path, Plan(tasks=FRAPPE[:1], models=MODELS[:2], repeats=2, odd=0.7))
    local = Local(lambda _: HONEST)
    assert len(await _run(tmp_path, local)) == truth.statuses["judged"] < truth.total


async def test_a_long_transcript_loses_its_middle_and_says_so(jobs):
    trial = _trials(jobs)[0]
    path = trial.folder / "agent" / "trajectory.json"
    steps = [{"step_id": n, "source": "agent", "message": word * 200_000} for n, word in enumerate("abc", start=1)]
    path.write_text(json.dumps({"steps": steps}))
    local = Local(lambda _: HONEST)
    new = await _run(jobs, local)
    assert [one.trial for one in new if one.shortened] == [trial.id]
    question = max((body["messages"][1]["content"] for body in local.asked), key=len)
    assert len(question) < MAX_CHARACTERS + 500
    assert "characters left out here" in question
    assert question.count("a") > 90_000
    assert question.count("c") > 90_000


def test_a_transcript_shows_all_that_was_done():
    step = {
        "step_id": 2, "source": "agent", "message": [{"type": "text", "text": "hi"}, {"type": "image"}],
        "reasoning_content": "why", "tool_calls": [{"function_name": "bash", "arguments": {"command": "ls é"}}],
        "observation": {"results": [{"content": "out"}, {"content": None}]},
    }  # fmt: skip
    text = transcript_text(json.dumps({"steps": [step]}).encode())
    assert text == '[step 2, agent]\nhi <image>\n(reasoning) why\n(calls bash) {"command": "ls é"}\n(sees) out\n(sees) '
    assert transcript_text(b"[]") == ""
    assert transcript_text(b'{"steps": "none"}') == ""


def test_answers_in_a_fence_are_read():
    scored, _ = parse_answer(f"Here it is:\n```json\n{EXPLOIT}\n```")
    assert scored is not None
    assert (scored.category, scored.score) == ("exploit", 95)


def test_a_damaged_line_is_said(jobs):
    job = next(path for path in sorted(jobs.iterdir()))
    (job / FILE).write_text('{"version": 1}\n\n')
    known, notes = _known(jobs)
    assert known == []
    assert notes == [f"job {job.name}: line 1 of {FILE} can't be read"]
