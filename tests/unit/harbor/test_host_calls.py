"""Calls of an agent of this process, by the real LiteLLM against our endpoint."""

import asyncio
import contextlib

import litellm
from aiohttp import web
from aiohttp.test_utils import TestServer

from incident_arena import wait
from incident_arena.harbor import host_calls
from incident_arena.route import Call, summarise

REFUSAL = {"role": "assistant", "content": None, "refusal": "I can't help with that."}


def provider(status: int, message: dict[str, str | None]) -> TestServer:
    """Answers every chat completion alike."""

    async def answer(_request: web.Request) -> web.Response:
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        body = {
            "id": "x",
            "object": "chat.completion",
            "created": 1,
            "model": "gpt-5",
            "choices": [choice],
            "usage": usage,
        }
        return web.json_response(body if status == 200 else {"error": {"message": "slow down"}}, status=status)

    application = web.Application()
    application.router.add_post("/v1/chat/completions", answer)
    return TestServer(application)


async def ask(server: TestServer, calls: list[Call]) -> None:
    """As an agent does: its first command tells whose the calls are."""
    host_calls.belong_to(calls)
    before = len(calls)
    with contextlib.suppress(litellm.RateLimitError):
        await litellm.acompletion(
            model="openai/gpt-5",
            api_base=str(server.make_url("/v1")),
            api_key="a-key-that-is-long-enough",
            messages=[{"role": "user", "content": "hello"}],
            num_retries=0,
            max_retries=0,
        )

    async def told() -> tuple[bool, str]:
        return len(calls) > before, "nothing"

    await wait.until_async("LiteLLM tells of the call", told, deadline_s=30, every_s=0.02)


async def test_a_refusal_is_seen_and_marks_the_trial() -> None:
    calls: list[Call] = []
    async with provider(200, {"role": "assistant", "content": "hello"}) as well, provider(200, REFUSAL) as refusing:
        await ask(well, calls)
        await ask(refusing, calls)
    assert [(call.status, call.refusal, call.whole) for call in calls] == [(200, "", True), (200, "refusal", True)]
    route = summarise(calls, agent_started=calls[0].at - 1, agent_ended=calls[-1].at + 60)
    assert (route.state, route.calls, route.refusals, route.refused) == ("held", 2, 1, True)
    assert calls[0].host == "127.0.0.1"


async def test_a_limit_is_a_failure_of_the_way() -> None:
    calls: list[Call] = []
    async with provider(429, {}) as limited:
        for _ in range(4):
            await ask(limited, calls)
    assert [(call.status, call.whole) for call in calls] == [(429, False)] * 4
    route = summarise(calls, agent_started=calls[0].at - 1, agent_ended=calls[-1].at + 1)
    assert (route.state, route.failed) == ("down", {"429": 4})


async def test_trials_that_play_at_once_keep_their_calls_apart() -> None:
    mine: list[Call] = []
    other: list[Call] = []
    async with provider(200, {"role": "assistant", "content": "hello"}) as well, provider(200, REFUSAL) as refusing:
        await asyncio.gather(
            asyncio.create_task(ask(well, mine)),
            asyncio.create_task(ask(refusing, other)),
            asyncio.create_task(litellm.acompletion(
                model="openai/gpt-5", api_base=str(well.make_url("/v1")), api_key="another-key-of-nobody",
                messages=[{"role": "user", "content": "nobody's"}],
            )),
        )  # fmt: skip
    assert ([call.refusal for call in mine], [call.refusal for call in other]) == ([""], ["refusal"])
