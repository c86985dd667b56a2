"""OpenAI's responses API."""

import json
import time
from collections.abc import Iterator
from typing import Any

from incident_arena.endpoint import openai
from incident_arena.endpoint.api import Api
from incident_arena.endpoint.asked import Asked, Json, Line, Tool, conversation, dicts, size_of, table, words
from incident_arena.endpoint.reply import REFUSAL, Call, Reply, event, new_id, pieces

SYSTEM = {"system", "developer"}


def read(body: Json, _path_model: str) -> Asked:
    """A body of POST /v1/responses."""
    given = body.get("input")
    items = [{"role": "user", "content": given}] if isinstance(given, str) else dicts(given)
    system = [words(item.get("content")) for item in items if item.get("role") in SYSTEM]
    form = table(table(body.get("text")).get("format"))
    return Asked(
        model=str(body.get("model", "")),
        stream=body.get("stream") is True,
        tools=tuple(_tools(dicts(body.get("tools")))),
        system="\n".join([words(body.get("instructions")), *system]),
        session=str(body.get("prompt_cache_key") or ""),
        form=table(form.get("schema")) or None,
        **conversation(map(_line, items), [body.get("instructions"), body.get("tools")]),
    )


def _tools(offered: list[Json]) -> Iterator[Tool]:
    """Functions by their names; a tool without a name goes by its type. Groups of tools hold no shell."""
    for tool in offered:
        kind, name = tool.get("type"), tool.get("name")
        if isinstance(kind, str):
            yield Tool(name if isinstance(name, str) else kind, table(tool.get("parameters")), kind)


def _line(item: Json) -> Line:
    kind = str(item.get("type") or "message")
    called = kind.endswith("_call")
    mine = called or kind == "reasoning" or item.get("role") == "assistant"
    return Line(mine, item.get("role") == "user", words(item.get("content")), int(called), size_of(item))


def _output(reply: Reply) -> list[Json]:
    items: list[Json] = []
    if reply.refused == "filter":
        return items
    if reply.refused or reply.text:
        part: Json = {"type": "output_text", "text": reply.text, "annotations": [], "logprobs": []}
        if reply.refused:
            part = {"type": "refusal", "refusal": REFUSAL}
        message = {"id": new_id("msg_"), "type": "message", "role": "assistant", "status": "completed"}
        items.append({**message, "content": [part]})
    if reply.call:
        items.append(_call(reply.call))
    return items


def _call(call: Call) -> Json:
    common = {"call_id": new_id("call_"), "status": "completed"}
    if call.kind == "local_shell":
        action = {"type": "exec", "command": call.arguments["command"], "env": {}}
        return {"id": new_id("lsh_"), "type": "local_shell_call", **common, "action": action}
    told = {"name": call.name, "arguments": json.dumps(call.arguments)}
    return {"id": new_id("fc_"), "type": "function_call", **common, **told}


def whole(asked: Asked, reply: Reply) -> Json:
    """The response."""
    filtered = reply.refused == "filter"
    return {
        "id": new_id("resp_"),
        "object": "response",
        "created_at": int(time.time()),
        "status": "incomplete" if filtered else "completed",
        "error": None,
        "incomplete_details": {"reason": "content_filter"} if filtered else None,
        "instructions": None,
        "metadata": {},
        "model": asked.model,
        "output": _output(reply),
        "parallel_tool_calls": False,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "usage": {
            "input_tokens": reply.usage.input,
            "input_tokens_details": {"cached_tokens": reply.usage.cached},
            "output_tokens": reply.usage.output,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": reply.usage.total,
        },
    }


def events(asked: Asked, reply: Reply) -> Iterator[bytes]:
    """The response as its stream."""
    response = whole(asked, reply)
    begun = {**response, "status": "in_progress", "output": [], "usage": None, "incomplete_details": None}
    told = [("response.created", {"response": begun}), ("response.in_progress", {"response": begun})]
    for index, item in enumerate(response["output"]):
        told += _item_events(index, item)
    told.append((f"response.{response['status']}", {"response": response}))
    for number, (kind, fields) in enumerate(told):
        yield event({"type": kind, "sequence_number": number, **fields}, kind)


def _item_events(index: int, item: Json) -> Iterator[tuple[str, Json]]:
    where: Json = {"output_index": index, "item_id": item["id"]}
    begun = {**item, "status": "in_progress"}
    begun |= {"content": []} if "content" in item else {}
    begun |= {"arguments": ""} if "arguments" in item else {}
    yield "response.output_item.added", {"output_index": index, "item": begun}
    for at, part in enumerate(item.get("content", [])):
        yield from _part_events({**where, "content_index": at}, part)
    if "arguments" in item:
        for piece in pieces(item["arguments"]):
            yield "response.function_call_arguments.delta", {**where, "delta": piece}
        done = {**where, "name": item["name"], "arguments": item["arguments"]}
        yield "response.function_call_arguments.done", done
    yield "response.output_item.done", {"output_index": index, "item": item}


def _part_events(where: Json, part: Json) -> Iterator[tuple[str, Json]]:
    key = "refusal" if part["type"] == "refusal" else "text"
    name = f"response.{part['type']}"
    more: dict[str, Any] = {"logprobs": []} if key == "text" else {}
    yield "response.content_part.added", {**where, "part": {**part, key: ""}}
    for piece in pieces(part[key]):
        yield f"{name}.delta", {**where, "delta": piece, **more}
    yield f"{name}.done", {**where, key: part[key], **more}
    yield "response.content_part.done", {**where, "part": part}


API = Api("responses", read, whole, events, openai.failure)
