"""Requests as clients of the four APIs send them, and their streams read as those clients read them."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import aiohttp

from incident_arena.endpoint.asked import Json
from incident_arena.endpoint.script import Script
from incident_arena.endpoint.server import Endpoint

type Serve = Callable[..., Awaitable[Endpoint]]
"""Serves the steps that it is called with."""

COMMAND = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}


def script(*steps: Json) -> Script:
    return Script.model_validate({"step": list(steps)})


def anthropic(*messages: Json, **more: Any) -> Json:
    given = messages or ({"role": "user", "content": "Repair it."},)
    tools = [{"name": "Bash", "description": "Runs", "input_schema": COMMAND}]
    return {"model": "claude-x", "max_tokens": 100, "messages": list(given), "tools": tools, **more}


def chat(*messages: Json, **more: Any) -> Json:
    given = messages or ({"role": "user", "content": "Repair it."},)
    tools = [{"type": "function", "function": {"name": "bash", "description": "Runs", "parameters": COMMAND}}]
    return {"model": "gpt-x", "messages": list(given), "tools": tools, **more}


def responses(*items: Json, **more: Any) -> Json:
    given = items or ({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Repair it."}]},)
    parameters = {
        "type": "object",
        "properties": {"cmd": {"type": "string"}, "yield_time_ms": {"type": "number"}},
        "required": ["cmd"],
    }
    tools = [{"type": "function", "name": "exec_command", "parameters": parameters, "strict": False}]
    return {"model": "gpt-x", "instructions": "Be good.", "input": list(given), "tools": tools, **more}


def gemini(*contents: Json, **more: Any) -> Json:
    given = contents or ({"role": "user", "parts": [{"text": "Repair it."}]},)
    declaration = {"name": "run_shell_command", "parametersJsonSchema": COMMAND}
    return {"contents": list(given), "tools": [{"functionDeclarations": [declaration]}], **more}


GEMINI = "/v1beta/models/gemini-x:generateContent"
GEMINI_STREAM = "/v1beta/models/gemini-x:streamGenerateContent?alt=sse"
APIS = {
    "anthropic": ("/v1/messages", anthropic),
    "responses": ("/v1/responses", responses),
    "chat": ("/v1/chat/completions", chat),
    "gemini": (GEMINI, gemini),
}


@dataclass
class Answer:
    """An answer as it came over the wire."""

    status: int
    headers: dict[str, str]
    body: bytes
    events: list[tuple[str, str]] = field(default_factory=list)
    """Names and data of server-sent events."""

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def data(self) -> list[Any]:
        return [json.loads(data) for _name, data in self.events if data != "[DONE]"]


async def post(endpoint: Endpoint, path: str, body: Any, **headers: str) -> Answer:
    data = body if isinstance(body, bytes) else json.dumps(body)
    async with (
        aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=60)) as session,
        session.post(endpoint.url + path, data=data, headers=headers) as response,
    ):
        got = await response.read()
        answer = Answer(response.status, {k.lower(): v for k, v in response.headers.items()}, got)
    if answer.headers["content-type"].startswith("text/event-stream"):
        for block in got.decode("utf-8", "replace").split("\n\n"):
            fields = dict(line.split(": ", 1) for line in block.splitlines() if ": " in line)
            if "data" in fields:
                answer.events.append((fields.get("event", ""), fields["data"]))
    return answer
