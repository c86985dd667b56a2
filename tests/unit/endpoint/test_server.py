"""Faults, paths and the log of a served script."""

import asyncio
import json
from pathlib import Path

import aiohttp
import pytest
from tests.unit.endpoint.wire import (
    APIS,
    GEMINI,
    GEMINI_STREAM,
    Serve,
    anthropic,
    chat,
    gemini,
    post,
    responses,
    script,
)

from incident_arena.endpoint.server import serving
from incident_arena.errors import InfrastructureError, UserError

ERRORS = [
    ("anthropic", 429, "rate_limit_error"),
    ("anthropic", 401, "authentication_error"),
    ("anthropic", 402, "billing_error"),
    ("anthropic", 500, "api_error"),
    ("anthropic", 529, "overloaded_error"),
    ("chat", 429, "rate_limit_exceeded"),
    ("chat", 401, "invalid_api_key"),
    ("responses", 402, "insufficient_quota"),
    ("gemini", 429, "RESOURCE_EXHAUSTED"),
    ("gemini", 401, "UNAUTHENTICATED"),
    ("gemini", 503, "UNAVAILABLE"),
]


@pytest.mark.parametrize(("api", "status", "word"), ERRORS)
async def test_an_error_has_its_providers_body(api: str, status: int, word: str, serve: Serve) -> None:
    endpoint = await serve({"status": status})
    path, body = APIS[api]
    answer = await post(endpoint, path, body())
    error = answer.json["error"]
    assert answer.status == status
    assert word == error[{"anthropic": "type", "gemini": "status"}.get(api, "code")]
    assert error["message"]
    assert ("retry-after" in answer.headers) == (status == 429)
    entry = endpoint.journal.entries[-1]
    assert (entry.status, entry.kind, entry.input_tokens, entry.output_tokens) == (status, "status", 0, 0)


async def test_an_error_says_what_its_script_says(serve: Serve) -> None:
    step = {"status": 429, "retry_after": 7, "message": "No more.", "code": "insufficient_quota"}
    endpoint = await serve({**step, "repeat": "forever"})
    answer = await post(endpoint, "/v1/chat/completions", chat())
    assert answer.headers["retry-after"] == "7"
    assert (answer.json["error"]["message"], answer.json["error"]["code"]) == ("No more.", "insufficient_quota")
    (detail,) = (await post(endpoint, GEMINI, gemini())).json["error"]["details"]
    assert detail["retryDelay"] == "7s"


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("api", APIS)
async def test_a_cut_answer_ends_before_its_end_and_can_be_had_again(api: str, serve: Serve, *, stream: bool) -> None:
    endpoint = await serve({"cut": True}, {"text": "Done."})
    path, body = APIS[api]
    request = body() if api == "gemini" else body(stream=stream)
    path = GEMINI_STREAM if api == "gemini" and stream else path
    with pytest.raises(aiohttp.ClientPayloadError):
        await post(endpoint, path, request)
    assert "Done." in (await post(endpoint, path, request)).body.decode()
    assert [entry.kind for entry in endpoint.journal.entries] == ["cut", "text"]


@pytest.mark.parametrize("stream", [True, False])
async def test_garbage_is_neither_json_nor_events(serve: Serve, *, stream: bool) -> None:
    endpoint = await serve({"garbage": True})
    answer = await post(endpoint, "/v1/messages", anthropic(stream=stream))
    assert answer.status == 200
    assert answer.events == []
    with pytest.raises(ValueError, match=r"decode|value"):
        _ = answer.json


async def test_a_hang_gives_headers_and_then_nothing(serve: Serve) -> None:
    endpoint = await serve({"hang": 0.3}, {"hang": True})
    async with aiohttp.ClientSession() as session:
        url, body = endpoint.url + "/v1/responses", responses(stream=True)
        async with session.post(url, json=body) as response:
            assert response.status == 200
            with pytest.raises(aiohttp.ClientPayloadError):
                await asyncio.wait_for(response.read(), 10)
        async with session.post(url, json=body) as response:
            assert response.status == 200
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(response.read(), 0.5)


async def test_a_hang_does_not_hold_up_the_end() -> None:
    async with aiohttp.ClientSession() as session:
        async with asyncio.timeout(30), serving(script({"hang": True})) as endpoint:
            response = await session.post(endpoint.url + "/v1/messages", json=anthropic())
        with pytest.raises(aiohttp.ClientPayloadError):
            await response.read()


async def test_paths_beside_the_apis(serve: Serve) -> None:
    endpoint = await serve({"text": "x"})
    socket = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "eA==",
    }
    asked = [
        ("HEAD", "/", {}, 200),
        ("GET", "/", {}, 200),
        ("GET", "/v1/models", {}, 200),
        ("GET", "/models", {}, 200),
        ("GET", "/v1beta/models?key=secret", {}, 200),
        ("GET", "/v1/responses", socket, 426),
        ("GET", "/v1/responses", {}, 404),
        ("POST", "/v1/nothing", {}, 404),
        ("POST", "/v1beta/models/gemini-x:embedContent", {}, 404),
        ("POST", "/v1/messages", {}, 400),
    ]  # fmt: skip
    async with aiohttp.ClientSession() as session:
        for method, path, headers, status in asked:
            async with session.request(method, endpoint.url + path, headers=headers) as response:
                assert response.status == status, (method, path)
                await response.read()
    seen = [(entry.method, entry.path, entry.status) for entry in endpoint.journal.entries]
    assert seen == [(method, path.partition("?")[0], status) for method, path, _headers, status in asked]


async def test_a_command_without_a_shell_to_run_it_is_told_by_name(serve: Serve) -> None:
    endpoint = await serve({"bash": "ls"})
    tools = [{"name": "Read", "input_schema": {}}, {"name": "Write", "input_schema": {}}]
    answer = await post(endpoint, "/v1/messages", anthropic(tools=tools))
    assert answer.status == 400
    assert "the request offers only: Read, Write" in answer.json["error"]["message"]


async def test_a_request_beside_the_work_is_answered_in_the_form_it_asks_for(serve: Serve) -> None:
    endpoint = await serve({"bash": "ls"})
    schema = {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]}
    form = {"type": "json_schema", "json_schema": {"name": "t", "schema": schema}}
    answer = await post(endpoint, "/v1/chat/completions", chat(tools=[], response_format=form))
    assert set(json.loads(answer.json["choices"][0]["message"]["content"])) == {"title"}
    entry = endpoint.journal.entries[-1]
    assert (entry.step, entry.kind) == (None, "beside")


@pytest.mark.parametrize("body", [b"", b"\xff", b"[1]", b'"x"', b'{"messages": 3, "tools": {"a": 1}, "system": 4}'])
async def test_a_body_of_the_wrong_shape_breaks_nothing(body: bytes, serve: Serve) -> None:
    endpoint = await serve({"text": "x"})
    for path, _body in APIS.values():
        assert (await post(endpoint, path, body)).status in {200, 400}


async def test_the_file_is_written_as_it_goes_and_holds_no_key(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    async with serving(script({"bash": "ls"}, {"text": "x"}), log=log) as endpoint:
        secret = "sk-very-secret"
        await post(endpoint, "/v1/messages", anthropic(stream=True), **{"x-api-key": secret})
        await post(endpoint, f"{GEMINI}?key={secret}", gemini(), Authorization=f"Bearer {secret}")
        lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert secret not in log.read_text()
    assert [line["step"] for line in lines] == [1, 1]
    assert [(line["api"], line["model"], line["stream"]) for line in lines] == [
        ("anthropic", "claude-x", True),
        ("gemini", "gemini-x", False),
    ]
    assert all(line["conversation"] and line["time"] > 0 and line["output_tokens"] > 0 for line in lines)


async def test_a_taken_port_and_an_unwritable_log_are_told(tmp_path: Path, serve: Serve) -> None:
    endpoint = await serve({"text": "x"})
    with pytest.raises(InfrastructureError, match=f"{endpoint.port}: can't be listened on"):
        async with serving(script({"text": "x"}), port=endpoint.port):
            pass
    with pytest.raises(UserError, match="can't be written"):
        async with serving(script({"text": "x"}), log=tmp_path):
            pass
