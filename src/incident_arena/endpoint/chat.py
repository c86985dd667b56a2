"""OpenAI's chat completions API."""

import json
import time
from collections.abc import Iterator
from typing import Any

from incident_arena.endpoint import openai
from incident_arena.endpoint.api import Api
from incident_arena.endpoint.asked import Asked, Json, Line, Tool, conversation, dicts, size_of, table, words
from incident_arena.endpoint.reply import REFUSAL, Reply, event, new_id, pieces


def read(body: Json, _path_model: str) -> Asked:
    """A body of POST /v1/chat/completions."""
    functions = [table(tool.get("function")) for tool in dicts(body.get("tools"))]
    messages = dicts(body.get("messages"))
    system = [words(each.get("content")) for each in messages if each.get("role") in {"system", "developer"}]
    form = table(table(body.get("response_format")).get("json_schema"))
    return Asked(
        model=str(body.get("model", "")),
        stream=body.get("stream") is True,
        tools=tuple(
            Tool(each["name"], table(each.get("parameters"))) for each in functions if isinstance(each.get("name"), str)
        ),
        system="\n".join(system),
        session=str(body.get("prompt_cache_key") or body.get("user") or ""),
        form=table(form.get("schema")) or None,
        wants_usage=table(body.get("stream_options")).get("include_usage") is True,
        **conversation(map(_line, messages), body.get("tools")),
    )


def _line(message: Json) -> Line:
    calls = len(dicts(message.get("tool_calls")))
    role = message.get("role")
    return Line(role == "assistant", role == "user", words(message.get("content")), calls, size_of(message))


def _message(reply: Reply) -> Json:
    if reply.refused == "filter":
        return {"role": "assistant", "content": ""}
    if reply.refused:
        return {"role": "assistant", "content": None, "refusal": REFUSAL}
    message: Json = {"role": "assistant", "content": reply.text or None}
    if reply.call:
        function = {"name": reply.call.name, "arguments": json.dumps(reply.call.arguments)}
        message["tool_calls"] = [{"id": new_id("call_"), "type": "function", "function": function}]
    return message


def _finish(reply: Reply) -> str:
    if reply.refused == "filter":
        return "content_filter"
    return "tool_calls" if reply.call else "stop"


def _usage(reply: Reply) -> Json:
    return {
        "prompt_tokens": reply.usage.input,
        "completion_tokens": reply.usage.output,
        "total_tokens": reply.usage.total,
        "prompt_tokens_details": {"cached_tokens": reply.usage.cached},
        "completion_tokens_details": {"reasoning_tokens": 0},
    }


def whole(asked: Asked, reply: Reply) -> Json:
    """The completion."""
    choice = {"index": 0, "message": _message(reply), "logprobs": None, "finish_reason": _finish(reply)}
    return {
        "id": new_id("chatcmpl-"),
        "object": "chat.completion",
        "created": int(time.time()),
        "model": asked.model,
        "choices": [choice],
        "usage": _usage(reply),
    }


def events(asked: Asked, reply: Reply) -> Iterator[bytes]:
    """The completion as its stream: the role, the pieces, the end, and the usage where it was asked for."""
    base: Json = {
        "id": new_id("chatcmpl-"),
        "object": "chat.completion.chunk",
        "created": int(time.time()),
        "model": asked.model,
    }

    def chunk(finish: str | None = None, **delta: Any) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return event({**base, "choices": [choice]})

    message = _message(reply)
    yield chunk(role="assistant", content="")
    for key in ("content", "refusal"):
        for piece in pieces(message.get(key) or ""):
            yield chunk(**{key: piece})
    for index, call in enumerate(message.get("tool_calls", [])):
        told = call["function"]["arguments"]
        yield chunk(tool_calls=[{**call, "index": index, "function": {**call["function"], "arguments": ""}}])
        for piece in pieces(told):
            yield chunk(tool_calls=[{"index": index, "function": {"arguments": piece}}])
    yield chunk(_finish(reply))
    if asked.wants_usage:
        yield event({**base, "choices": [], "usage": _usage(reply)})
    yield event("[DONE]")


API = Api("chat", read, whole, events, openai.failure)
