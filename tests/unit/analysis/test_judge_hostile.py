"""An endpoint may answer anything: that is one trial's failure, and costs no other trial's answer."""

import asyncio
import json
import os
from collections import Counter
from itertools import count
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from tests.support.endpoint import Local

from incident_arena.analysis.endpoints import Endpoint, check_address, is_loopback, session
from incident_arena.analysis.judge import GIVE_UP, Judge, judge_trials, transcript_text
from incident_arena.analysis.judgements import FILE, Judgement, read_judgements
from incident_arena.analysis.read import read_jobs
from incident_arena.analysis.simulate import FRAPPE, Plan, SimModel, simulate
from incident_arena.errors import UserError

HONEST = json.dumps({"category": "honest", "score": 5, "reasons": "it repaired"})
TRIALS = 6


@pytest.fixture
def jobs(tmp_path: Path) -> Path:
    model = SimModel("m", efforts=("low",))
    simulate(tmp_path / "jobs", Plan(tasks=FRAPPE[:2], models=(model,), repeats=TRIALS // 2, odd=0.0))
    return tmp_path / "jobs"


async def _judge(jobs: Path, server: TestServer, *, parallel: int = 2, timeout_s: float = 5) -> list[Judgement]:
    endpoint = Endpoint(api="openai", url=str(server.make_url("/v1")), model="m", key="secret", timeout_s=timeout_s)
    judge = Judge(endpoint=endpoint, name="j", parallel=parallel, patience_s=0.1, pause_s=0.01)
    return await judge_trials(read_jobs([jobs]).trials, [], judge, lambda _: None)


def _kept(jobs: Path) -> list[Judgement]:
    notes: list[str] = []
    kept = read_judgements(sorted(jobs.iterdir()), notes)
    assert notes == []
    return kept


def _chat(content: object, **more: object) -> tuple[int, object]:
    return 200, {"choices": [{"message": {"content": content}}], **more}


BAD = [
    _chat({"category": "honest"}),
    _chat(7),
    _chat([{"type": "text", "text": 5}]),
    _chat(["text"]),
    (200, {"choices": []}),
    (200, {"choices": [{"message": None}]}),
    (200, [[[[]]]]),
    (200, None),
    (302, {}),
    (403, {"error": "not this transcript"}),
    (404, {"error": "gone"}),
    (418, "\x1b[31mteapot\u202e"),
    json.dumps({"category": "honest", "score": 10**30}),
    '{"category": "honest", "score": NaN}',
    '{"category":' * 5_000 + "}",
    "\ud800 {",
]


@pytest.mark.parametrize("bad", BAD)
async def test_a_bad_answer_is_one_failure_and_nothing_else_is_lost(jobs, bad):
    numbers = count()
    first_is_good = Local(lambda _: bad if next(numbers) in {2, 3} else HONEST)
    async with first_is_good.server() as server:
        new = await _judge(jobs, server, parallel=1)
    statuses = Counter(one.status for one in new)
    assert statuses["scored"] + statuses["failed"] == TRIALS
    assert 1 <= statuses["failed"] <= 2
    assert Counter(one.status for one in _kept(jobs)) == statuses
    assert all(one.detail.isprintable() for one in new)


@pytest.mark.parametrize(
    "answer",
    [
        _chat(HONEST, usage={"prompt_tokens": 10**30, "completion_tokens": "many"}),
        _chat([{"type": "text", "text": HONEST}]),
        _chat(json.dumps({"category": "honest", "score": 1, "reasons": "\x1b[2J" + "x" * 100_000})),
    ],
)
async def test_an_odd_answer_that_can_be_read_is_kept(jobs, answer):
    async with Local(lambda _: answer).server() as server:
        assert {one.status for one in await _judge(jobs, server)} == {"scored"}
    for one in _kept(jobs):
        assert one.input_tokens is None
        assert len(one.reasons) <= 2_000
        assert "\x1b" not in one.reasons


async def test_bytes_that_are_no_answer(jobs):
    bodies = iter([b"\xff\xfe", b"x" * 5_000_000, b"", b"[" * 100_000] * 10)

    async def answer(_: web.Request) -> web.Response:
        return web.Response(body=next(bodies), content_type="application/json", charset="utf-7")

    application = web.Application()
    application.router.add_post("/v1/chat/completions", answer)
    async with TestServer(application) as server:
        new = await _judge(jobs, server)
    assert [one.status for one in new] == ["failed"] * TRIALS


async def test_each_request_has_a_time_limit(jobs):
    async def drip(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        for _ in range(200):
            await response.write(b" ")
            await asyncio.sleep(0.05)
        return response

    application = web.Application()
    application.router.add_post("/v1/chat/completions", drip)
    async with TestServer(application) as server:
        new = await asyncio.wait_for(_judge(jobs, server, parallel=TRIALS, timeout_s=0.2), 8)
    assert [one.status for one in new] == ["failed"] * TRIALS
    assert "no answer within 0.2 s" in new[0].detail


async def test_a_redirect_gets_no_key(jobs):
    asked = []

    async def elsewhere(request: web.Request) -> web.Response:
        asked.append(request.headers)
        return web.Response()

    async def redirect(_: web.Request) -> web.Response:
        raise web.HTTPTemporaryRedirect("/elsewhere")

    application = web.Application()
    application.router.add_post("/v1/chat/completions", redirect)
    application.router.add_post("/elsewhere", elsewhere)
    async with TestServer(application) as server:
        new = await _judge(jobs, server)
    assert {one.status for one in new} == {"failed"}
    assert asked == []


async def test_a_key_that_is_revoked_ends_the_run_and_keeps_what_was_paid(jobs):
    numbers = count()
    revoked = Local(lambda _: HONEST if next(numbers) < 1 else (401, {}))
    async with revoked.server() as server:
        with pytest.raises(UserError, match="401"):
            await _judge(jobs, server, parallel=1)
    assert Counter(one.status for one in _kept(jobs)) == {"scored": 1, "failed": GIVE_UP - 1}


@pytest.mark.parametrize("kind", ["link", "fifo"])
async def test_judgements_are_not_written_through_a_link(jobs, tmp_path, kind):
    job = next(jobs.iterdir())
    if kind == "link":
        (tmp_path / "mine").write_text("precious")
        (job / FILE).symlink_to(tmp_path / "mine")
    else:
        os.mkfifo(job / FILE)
    local = Local(lambda _: HONEST)
    async with local.server() as server:
        with pytest.raises(UserError, match="can't be kept"):
            await _judge(jobs, server)
    assert local.asked == []
    if kind == "link":
        assert (tmp_path / "mine").read_text() == "precious"


@pytest.mark.parametrize("level", ["agent", "agent/trajectory.json"])
async def test_no_file_of_the_reader_is_sent(jobs, tmp_path, level):
    trial = read_jobs([jobs]).trials[0].folder
    (trial / level).rename(tmp_path / "outside")
    (trial / level).symlink_to(tmp_path / "outside")
    local = Local(lambda _: HONEST)
    async with local.server() as server:
        new = await _judge(jobs, server)
    assert [one.name for one in new if one.status == "missing"] == [trial.name]
    assert len(local.asked) == TRIALS - 1


@pytest.mark.parametrize("bad", [3, None, {"tool_calls": 5}, {"observation": "x"}, {"tool_calls": ["a"]}])
def test_a_malformed_step_hides_itself_alone(bad):
    steps = [{"step_id": 1, "source": "agent", "message": "one"}, bad, {"step_id": 3, "message": "three"}]
    text = transcript_text(json.dumps({"steps": steps}).encode())
    assert "one" in text
    assert "[step 2 is malformed and not shown]" in text
    assert "three" in text


def test_a_transcript_that_is_nested_too_deeply_is_none():
    assert transcript_text(b'{"steps": ' + b"[" * 100_000) == ""


@pytest.mark.parametrize(
    "url",
    ["", "api.example/v1", "ftp://api.example", "http://", "https://u:p@api.example/v1", "http://a:99999/", "http://[x/",
     "https://api.example/v1?key=x", "http://a b/v1", "file:///etc/passwd", "http://a\x1b[2J/"],
)  # fmt: skip
def test_what_is_no_address_is_refused(url):
    with pytest.raises(UserError, match="endpoint"):
        check_address(url)


@pytest.mark.parametrize(
    ("url", "loopback"),
    [
        ("http://127.0.0.1:8000/v1", True),
        ("http://127.9.9.9", True),
        ("http://[::1]:8000", True),
        ("http://localhost:1", True),
        ("http://model.localhost", True),
        ("https://api.example/v1", False),
        ("http://10.0.0.1/v1", False),
        ("http://localhost.example", False),
    ],
)
async def test_a_proxy_is_used_but_not_to_this_machine(url, loopback):
    check_address(url)
    assert is_loopback(url) == loopback
    async with session(Endpoint(api="openai", url=url, model="m")) as client:
        assert client.trust_env != loopback
