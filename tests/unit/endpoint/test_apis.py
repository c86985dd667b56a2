"""Each API's answers, whole and streamed, in its own wire format."""

import json
from typing import Any

import pytest
from tests.unit.endpoint.wire import APIS, GEMINI, GEMINI_STREAM, Serve, anthropic, chat, gemini, post, responses

from incident_arena.endpoint.asked import Json

LONG = "A text long enough to come in more than one piece, as a model's does."


async def test_anthropic_calls_the_tool_and_then_answers(serve: Serve) -> None:
    endpoint = await serve({"bash": "ls"}, {"text": "Done."})
    first = (await post(endpoint, "/v1/messages", anthropic())).json
    assert (first["type"], first["role"], first["model"], first["stop_reason"]) == (
        "message", "assistant", "claude-x", "tool_use",
    )  # fmt: skip
    (call,) = first["content"]
    assert (call["type"], call["name"], call["input"]) == ("tool_use", "Bash", {"command": "ls"})
    told = [
        {"role": "user", "content": "Repair it."},
        {"role": "assistant", "content": first["content"]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call["id"], "content": "a b"}]},
    ]
    second = (await post(endpoint, "/messages", anthropic(*told))).json
    assert second["content"] == [{"type": "text", "text": "Done."}]
    assert second["stop_reason"] == "end_turn"


async def test_anthropic_streams_a_call(serve: Serve) -> None:
    endpoint = await serve({"bash": "echo 'a quoted and rather long command'"})
    answer = await post(endpoint, "/v1/messages", anthropic(stream=True))
    assert all(name == json.loads(data)["type"] for name, data in answer.events)
    deltas = [each for each in answer.data if each["type"] == "content_block_delta"]
    assert len(deltas) > 1
    told = "".join(each["delta"]["partial_json"] for each in deltas)
    assert json.loads(told) == {"command": "echo 'a quoted and rather long command'"}
    kinds = [each["type"] for each in answer.data if each["type"] not in {"ping", "content_block_delta"}]
    assert kinds == ["message_start", "content_block_start", "content_block_stop", "message_delta", "message_stop"]
    start = answer.data[0]["message"]
    assert (start["content"], start["stop_reason"]) == ([], None)
    assert answer.data[-2]["delta"]["stop_reason"] == "tool_use"


async def test_responses_call_the_tool_and_then_answer(serve: Serve) -> None:
    endpoint = await serve({"bash": "ls"}, {"text": "Done."})
    first = (await post(endpoint, "/v1/responses", responses())).json
    (call,) = first["output"]
    assert (first["object"], first["status"], call["type"], call["name"]) == (
        "response", "completed", "function_call", "exec_command",
    )  # fmt: skip
    assert json.loads(call["arguments"]) == {"cmd": "ls"}
    told = [
        {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "Be quick."}]},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Repair it."}]},
        {"type": "reasoning", "summary": []},
        call,
        {"type": "function_call_output", "call_id": call["call_id"], "output": "a b"},
    ]
    second = (await post(endpoint, "/responses", responses(*told))).json
    assert second["output"][0]["content"][0]["text"] == "Done."


async def test_responses_stream_a_call_and_a_text(serve: Serve) -> None:
    endpoint = await serve({"bash": "ls"}, {"text": LONG})
    answer = await post(endpoint, "/v1/responses", responses(stream=True))
    assert [each["sequence_number"] for each in answer.data] == list(range(len(answer.data)))
    assert all(name == json.loads(data)["type"] for name, data in answer.events)
    done = next(each for each in answer.data if each["type"] == "response.output_item.done")["item"]
    deltas = [each["delta"] for each in answer.data if each["type"] == "response.function_call_arguments.delta"]
    assert json.loads("".join(deltas)) == json.loads(done["arguments"]) == {"cmd": "ls"}
    last = answer.data[-1]
    assert (last["type"], last["response"]["output"]) == ("response.completed", [done])

    told = [done, {"type": "function_call_output", "call_id": done["call_id"], "output": ""}]
    answer = await post(endpoint, "/v1/responses", responses(*told, stream=True))
    deltas = [each["delta"] for each in answer.data if each["type"] == "response.output_text.delta"]
    assert len(deltas) > 1
    assert "".join(deltas) == LONG


async def test_responses_call_the_built_in_shell_by_its_own_item(serve: Serve) -> None:
    endpoint = await serve({"bash": "ls"}, {"text": "Done."})
    tools = [{"type": "local_shell"}]
    (item,) = (await post(endpoint, "/v1/responses", responses(tools=tools))).json["output"]
    assert (item["type"], item["action"]["command"]) == ("local_shell_call", ["bash", "-lc", "ls"])
    told = [item, {"type": "local_shell_call_output", "call_id": item["call_id"], "output": ""}]
    second = (await post(endpoint, "/v1/responses", responses(*told, tools=tools))).json
    assert second["output"][0]["type"] == "message"


async def test_chat_calls_the_tool_and_then_answers(serve: Serve) -> None:
    endpoint = await serve({"bash": "ls"}, {"text": "Done."})
    first = (await post(endpoint, "/v1/chat/completions", chat())).json
    (choice,) = first["choices"]
    assert (first["object"], choice["finish_reason"]) == ("chat.completion", "tool_calls")
    (call,) = choice["message"]["tool_calls"]
    assert (call["type"], call["function"]["name"]) == ("function", "bash")
    assert json.loads(call["function"]["arguments"]) == {"command": "ls"}
    told = [
        {"role": "system", "content": "Be good."},
        {"role": "user", "content": "Repair it."},
        choice["message"],
        {"role": "tool", "tool_call_id": call["id"], "content": "a b"},
    ]
    (choice,) = (await post(endpoint, "/chat/completions", chat(*told))).json["choices"]
    assert (choice["finish_reason"], choice["message"]["content"]) == ("stop", "Done.")


@pytest.mark.parametrize("usage", [True, False])
async def test_chat_streams_a_call_with_its_usage_when_asked(serve: Serve, *, usage: bool) -> None:
    endpoint = await serve({"bash": "ls"})
    options = {"stream_options": {"include_usage": True}} if usage else {}
    answer = await post(endpoint, "/v1/chat/completions", chat(stream=True, **options))
    assert answer.events[-1] == ("", "[DONE]")
    choices = [choice for each in answer.data for choice in each["choices"]]
    calls = [call for choice in choices for call in choice["delta"].get("tool_calls", [])]
    assert calls[0]["function"]["name"] == "bash"
    assert json.loads("".join(call["function"]["arguments"] for call in calls)) == {"command": "ls"}
    assert [choice["finish_reason"] for choice in choices if choice["finish_reason"]] == ["tool_calls"]
    figures = [each["usage"] for each in answer.data if each.get("usage")]
    assert len(figures) == usage
    assert (answer.data[-1]["choices"] == []) == usage


async def test_gemini_calls_the_tool_and_then_answers(serve: Serve) -> None:
    endpoint = await serve({"bash": "ls"}, {"text": "Done."})
    first = (await post(endpoint, GEMINI, gemini())).json
    (candidate,) = first["candidates"]
    assert (first["modelVersion"], candidate["finishReason"]) == ("gemini-x", "STOP")
    call = candidate["content"]["parts"][0]["functionCall"]
    assert call == {"name": "run_shell_command", "args": {"command": "ls"}}
    told = [
        {"role": "user", "parts": [{"text": "Repair it."}]},
        candidate["content"],
        {"role": "user", "parts": [{"functionResponse": {"name": call["name"], "response": {"output": "a"}}}]},
    ]
    answer = await post(endpoint, GEMINI_STREAM, gemini(*told))
    assert answer.data[-1]["candidates"][0] == {
        "index": 0, "content": {"role": "model", "parts": [{"text": "Done."}]}, "finishReason": "STOP",
    }  # fmt: skip
    listed = await post(endpoint, GEMINI_STREAM.partition("?")[0], gemini(*told))
    assert listed.json[0]["candidates"] == answer.data[-1]["candidates"]


def figures(api: str, document: Any) -> tuple[int, int, int]:
    """Input (all of it), cached and output tokens, as a client of the API adds them up."""
    if api == "gemini":
        used = document["usageMetadata"]
        assert used["totalTokenCount"] == used["promptTokenCount"] + used["candidatesTokenCount"]
        return used["promptTokenCount"], used.get("cachedContentTokenCount", 0), used["candidatesTokenCount"]
    used = document["usage"]
    match api:
        case "anthropic":
            cached, written = used["cache_read_input_tokens"], used["cache_creation_input_tokens"]
            return used["input_tokens"] + cached + written, cached, used["output_tokens"]
        case "chat":
            assert used["total_tokens"] == used["prompt_tokens"] + used["completion_tokens"]
            return used["prompt_tokens"], used["prompt_tokens_details"]["cached_tokens"], used["completion_tokens"]
    assert used["total_tokens"] == used["input_tokens"] + used["output_tokens"]
    return used["input_tokens"], used["input_tokens_details"]["cached_tokens"], used["output_tokens"]


SECOND_TURN: dict[str, list[Json]] = {
    "anthropic": [{"role": "user", "content": "x"}, {"role": "assistant", "content": "Told."}],
    "chat": [{"role": "user", "content": "x"}, {"role": "assistant", "content": "Told."}],
    "responses": [{"role": "user", "content": "x"}, {"role": "assistant", "content": "Told."}],
    "gemini": [{"role": "user", "parts": [{"text": "x"}]}, {"role": "model", "parts": [{"text": "Told."}]}],
}


@pytest.mark.parametrize("api", APIS)
async def test_the_log_holds_the_figures_that_the_client_was_told(api: str, serve: Serve) -> None:
    endpoint = await serve({"text": "Done."})
    path, body = APIS[api]
    for request in (body(), body(), body(*SECOND_TURN[api])):
        document = (await post(endpoint, path, request)).json
        entry = endpoint.journal.entries[-1]
        assert figures(api, document) == (entry.input_tokens, entry.cached_tokens, entry.output_tokens)
    one, again, later = endpoint.journal.entries
    assert one.input_tokens == again.input_tokens, "figures follow from the request alone"
    assert one.cached_tokens == 0 < later.cached_tokens < later.input_tokens
    assert {one.api, again.api, later.api} == {api}


async def test_a_client_that_marks_its_cache_writes_to_it(serve: Serve) -> None:
    endpoint = await serve({"text": "Done."})
    marked = {"type": "text", "text": "Be good.", "cache_control": {"type": "ephemeral"}}
    used = (await post(endpoint, "/v1/messages", anthropic(system=[marked]))).json["usage"]
    entry = endpoint.journal.entries[-1]
    assert used["cache_creation_input_tokens"] == entry.cache_write_tokens > 0
    assert used["input_tokens"] + entry.cache_write_tokens == entry.input_tokens


@pytest.mark.parametrize(
    ("path", "body", "key"),
    [
        ("/v1/messages/count_tokens", anthropic(), "input_tokens"),
        ("/v1/responses/input_tokens", responses(), "input_tokens"),
        ("/v1beta/models/gemini-x:countTokens", gemini(), "totalTokens"),
    ],
)
async def test_a_count_agrees_with_the_answers_usage_and_uses_no_step(
    path: str, body: Json, key: str, serve: Serve
) -> None:
    endpoint = await serve({"text": "Done."})
    counted = (await post(endpoint, path, body)).json[key]
    api = endpoint.journal.entries[-1].api
    await post(endpoint, APIS[api][0], body)
    told = endpoint.journal.entries[-1]
    assert (told.step, told.input_tokens) == (1, counted)


def refusal(api: str, answer: Any) -> object:
    """What a client of the API tells a refusal by."""
    match api:
        case "anthropic":
            return answer["stop_reason"]
        case "chat":
            (choice,) = answer["choices"]
            return choice["finish_reason"], bool(choice["message"].get("refusal"))
        case "responses":
            return answer["status"], [part["type"] for item in answer["output"] for part in item["content"]]
    blocked = answer.get("promptFeedback", {}).get("blockReason")
    return blocked, [candidate["finishReason"] for candidate in answer.get("candidates", [])]


@pytest.mark.parametrize(
    ("api", "how", "expected"),
    [
        ("anthropic", True, "refusal"),
        ("anthropic", "filter", "refusal"),
        ("chat", True, ("stop", True)),
        ("chat", "filter", ("content_filter", False)),
        ("responses", True, ("completed", ["refusal"])),
        ("responses", "filter", ("incomplete", [])),
        ("gemini", True, (None, ["SAFETY"])),
        ("gemini", "filter", ("SAFETY", [])),
    ],
)
async def test_a_refusal_is_told_as_the_api_tells_it(api: str, how: object, expected: object, serve: Serve) -> None:
    endpoint = await serve({"refuse": how})
    path, body = APIS[api]
    answer = await post(endpoint, path, body())
    assert answer.status == 200
    assert refusal(api, answer.json) == expected
    assert endpoint.journal.entries[-1].kind == "refuse"


async def test_a_filtered_responses_stream_ends_as_incomplete(serve: Serve) -> None:
    endpoint = await serve({"refuse": "filter"})
    last = (await post(endpoint, "/v1/responses", responses(stream=True))).data[-1]
    assert last["type"] == "response.incomplete"
    assert last["response"]["incomplete_details"] == {"reason": "content_filter"}


async def test_a_streamed_refusal_is_anthropics_stop_reason(serve: Serve) -> None:
    endpoint = await serve({"refuse": True})
    answer = await post(endpoint, "/v1/messages", anthropic(stream=True))
    (delta,) = [each for each in answer.data if each["type"] == "message_delta"]
    assert delta["delta"]["stop_reason"] == "refusal"
