"""Anthropic's messages API."""

import json
from collections.abc import Iterator
from typing import Any

from incident_arena.endpoint.api import Api, message_of
from incident_arena.endpoint.asked import Asked, Json, Line, Tool, conversation, dicts, size_of, table, words
from incident_arena.endpoint.reply import Reply, event, new_id, pieces
from incident_arena.endpoint.script import Step

ERRORS = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}


def read(body: Json, _path_model: str) -> Asked:
    """A body of POST /v1/messages."""
    tools = tuple(
        Tool(tool["name"], table(tool.get("input_schema")))
        for tool in dicts(body.get("tools"))
        if isinstance(tool.get("name"), str)
    )
    told = conversation(map(_line, dicts(body.get("messages"))), [body.get("system"), body.get("tools")])
    wanted = table(table(body.get("output_config")).get("format")) or table(body.get("output_format"))
    return Asked(
        model=str(body.get("model", "")),
        stream=body.get("stream") is True,
        tools=tools,
        system=words(body.get("system")),
        session=str(table(body.get("metadata")).get("user_id", "")),
        form=table(wanted.get("schema")) or None,
        marks_cache='"cache_control"' in json.dumps(body),
        **told,
    )


def _line(message: Json) -> Line:
    content = message.get("content")
    mine = message.get("role") == "assistant"
    calls = sum(part.get("type") == "tool_use" for part in dicts(content))
    return Line(mine, message.get("role") == "user", words(content), calls, size_of(message))


def whole(asked: Asked, reply: Reply) -> Json:
    """The message."""
    content: list[Json] = []
    if reply.text and not reply.refused:
        content.append({"type": "text", "text": reply.text})
    if reply.call:
        content.append(
            {"type": "tool_use", "id": new_id("toolu_"), "name": reply.call.name, "input": reply.call.arguments}
        )
    stop = "refusal" if reply.refused else "tool_use" if reply.call else "end_turn"
    return {
        "id": new_id("msg_"),
        "type": "message",
        "role": "assistant",
        "model": asked.model,
        "content": content,
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {
            "input_tokens": reply.usage.fresh,
            "cache_creation_input_tokens": reply.usage.written,
            "cache_read_input_tokens": reply.usage.cached,
            "output_tokens": reply.usage.output,
        },
    }


def events(asked: Asked, reply: Reply) -> Iterator[bytes]:
    """The message as its stream."""
    message = whole(asked, reply)
    first = {**message, "content": [], "stop_reason": None, "usage": {**message["usage"], "output_tokens": 1}}
    yield _named("message_start", message=first)
    yield _named("ping")
    for index, block in enumerate(message["content"]):
        if block["type"] == "text":
            empty, key, kind, told = {**block, "text": ""}, "text", "text_delta", block["text"]
        else:
            empty, key, kind = {**block, "input": {}}, "partial_json", "input_json_delta"
            told = json.dumps(block["input"])
        yield _named("content_block_start", index=index, content_block=empty)
        for piece in pieces(told):
            yield _named("content_block_delta", index=index, delta={"type": kind, key: piece})
        yield _named("content_block_stop", index=index)
    end = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield _named("message_delta", delta=end, usage=message["usage"])
    yield _named("message_stop")


def _named(kind: str, **fields: Any) -> bytes:
    return event({"type": kind, **fields}, kind)


def failure(step: Step) -> Json:
    """The body of an error."""
    kind = step.code or ERRORS.get(step.status or 0, "api_error")
    return {"type": "error", "error": {"type": kind, "message": message_of(step)}, "request_id": new_id("req_")}


API = Api("anthropic", read, whole, events, failure)
