"""litellm's clients, written by others, read the endpoint's answers."""

import asyncio
import json
from typing import Any

import litellm
import pytest
from tests.unit.endpoint.wire import Serve, chat, responses

from incident_arena.endpoint.server import Endpoint

TEXT = "A text long enough to come in more than one piece."
MODELS = {
    "chat": ("openai/gpt-4.1", "/v1"),
    "anthropic": ("anthropic/claude-sonnet-4-5", ""),
    "gemini": ("gemini/gemini-2.5-pro", ""),
}
ERRORS = [
    ("chat", 401, litellm.AuthenticationError),
    ("chat", 429, litellm.RateLimitError),
    ("chat", 500, litellm.InternalServerError),
    ("anthropic", 401, litellm.AuthenticationError),
    ("anthropic", 429, litellm.RateLimitError),
    ("anthropic", 529, litellm.InternalServerError),
    ("gemini", 429, litellm.RateLimitError),
]


async def complete(endpoint: Endpoint, api: str, *messages: Any, stream: bool = False) -> Any:
    asked = chat(*messages)
    model, path = MODELS[api]
    options = {"stream_options": {"include_usage": True}} if stream else {}
    answer = await litellm.acompletion(
        model=model, messages=asked["messages"], tools=asked["tools"], api_base=endpoint.url + path,
        api_key="none", stream=stream, max_retries=0, num_retries=0, **options,
    )  # fmt: skip
    if not stream:
        return answer
    chunks = [chunk async for chunk in answer]
    return litellm.stream_chunk_builder(chunks, messages=asked["messages"])


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("api", MODELS)
async def test_two_steps_are_read_with_their_usage(api: str, serve: Serve, *, stream: bool) -> None:
    endpoint = await serve({"bash": "ls -l"}, {"text": TEXT})
    first = await complete(endpoint, api, stream=stream)
    message = first.choices[0].message
    (call,) = message.tool_calls
    assert first.choices[0].finish_reason == "tool_calls"
    assert (call.function.name, json.loads(call.function.arguments)) == ("bash", {"command": "ls -l"})
    told = [
        {"role": "user", "content": "Repair it."},
        message.model_dump(exclude_none=True),
        {"role": "tool", "tool_call_id": call.id, "content": "a b"},
    ]
    second = await complete(endpoint, api, *told, stream=stream)
    assert second.choices[0].message.content == TEXT
    assert second.choices[0].finish_reason == "stop"
    assert [entry.step for entry in endpoint.journal.entries] == [1, 2]
    for answer, entry in zip((first, second), endpoint.journal.entries, strict=True):
        assert entry.stream == stream
        assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (entry.input_tokens, entry.output_tokens)
        details = answer.usage.prompt_tokens_details
        assert ((details and details.cached_tokens) or 0) == entry.cached_tokens


@pytest.mark.parametrize(("api", "status", "error"), ERRORS)
async def test_errors_are_told_apart(api: str, status: int, error: type[Exception], serve: Serve) -> None:
    endpoint = await serve({"status": status, "repeat": "forever", "message": "As scripted."})
    with pytest.raises(error, match="As scripted"):
        await complete(endpoint, api)


@pytest.mark.parametrize("stream", [False, True])
async def test_responses_are_read(serve: Serve, *, stream: bool) -> None:
    endpoint = await serve({"bash": "ls -l"})
    asked = responses(stream=stream)
    answer = await litellm.aresponses(
        model="openai/gpt-4.1", input=asked["input"], tools=asked["tools"], api_base=endpoint.url + "/v1",
        api_key="none", stream=stream,
    )  # fmt: skip
    if stream:
        answer = [event async for event in answer][-1].response
    (item,) = answer.output
    assert (item.type, item.name, json.loads(item.arguments)) == ("function_call", "exec_command", {"cmd": "ls -l"})
    entry = endpoint.journal.entries[-1]
    assert (answer.usage.input_tokens, answer.usage.output_tokens) == (entry.input_tokens, entry.output_tokens)


async def test_many_conversations_at_once_each_get_their_own_steps(serve: Serve) -> None:
    endpoint = await serve({"bash": "ls -l", "repeat": 2}, {"text": TEXT})

    async def converse(name: str) -> list[str]:
        told: list[Any] = [{"role": "user", "content": f"Repair {name}."}]
        seen = []
        for _ in range(3):
            message = (await complete(endpoint, "chat", *told)).choices[0].message
            seen.append("call" if message.tool_calls else message.content)
            told.append(message.model_dump(exclude_none=True))
            told += [{"role": "tool", "tool_call_id": call.id, "content": ""} for call in message.tool_calls or []]
        return seen

    assert await asyncio.gather(*map(converse, "abcdefgh")) == [["call", "call", TEXT]] * 8
    assert len({entry.conversation for entry in endpoint.journal.entries}) == 8
