"""Google's Gemini API (generateContent)."""

from collections.abc import Iterator

from incident_arena.endpoint.api import Api, message_of
from incident_arena.endpoint.asked import Asked, Json, Line, Tool, conversation, dicts, size_of, table, words
from incident_arena.endpoint.reply import Reply, event, new_id
from incident_arena.endpoint.script import Step

STATUSES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    402: "FAILED_PRECONDITION",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
BLOCKED = "SAFETY"
RATE_LIMITED = 429
USUAL_DELAY_S = 1


def read(body: Json, path_model: str) -> Asked:
    """A body of POST /v1beta/models/MODEL:generateContent. Fields come in camel or in snake case."""
    system = _either(body, "systemInstruction", "system_instruction")
    config = table(_either(body, "generationConfig", "generation_config"))
    form = _either(config, "responseJsonSchema", "responseSchema")
    told = conversation(map(_line, dicts(body.get("contents"))), [system, body.get("tools")])
    return Asked(
        model=path_model,
        stream=False,
        tools=tuple(_tools(body)),
        system=words(table(system).get("parts")),
        form=table(form) or None,
        **told,
    )


def _either(document: Json, *names: str) -> object:
    return next((document[name] for name in names if name in document), None)


def _tools(body: Json) -> Iterator[Tool]:
    for group in dicts(body.get("tools")):
        for each in dicts(_either(group, "functionDeclarations", "function_declarations")):
            if isinstance(each.get("name"), str):
                yield Tool(each["name"], table(_either(each, "parametersJsonSchema", "parameters")))


def _line(content: Json) -> Line:
    parts = dicts(content.get("parts"))
    mine = content.get("role") == "model"
    calls = sum(_either(part, "functionCall", "function_call") is not None for part in parts)
    answers = any(_either(part, "functionResponse", "function_response") is not None for part in parts)
    return Line(mine, not mine and not answers, words(parts), calls, size_of(content))


def whole(asked: Asked, reply: Reply) -> Json:
    """The response."""
    usage: Json = {
        "promptTokenCount": reply.usage.input,
        "candidatesTokenCount": reply.usage.output,
        "totalTokenCount": reply.usage.total,
    }
    if reply.usage.cached:
        usage["cachedContentTokenCount"] = reply.usage.cached
    common = {"usageMetadata": usage, "modelVersion": asked.model, "responseId": new_id("")}
    if reply.refused == "filter":
        return {"promptFeedback": {"blockReason": BLOCKED}, **common}
    if reply.refused:
        rating = {"category": "HARM_CATEGORY_DANGEROUS_CONTENT", "probability": "HIGH", "blocked": True}
        return {"candidates": [{"index": 0, "finishReason": BLOCKED, "safetyRatings": [rating]}], **common}
    parts: list[Json] = [{"text": reply.text}] if reply.text else []
    if reply.call:
        parts.append({"functionCall": {"name": reply.call.name, "args": reply.call.arguments}})
    candidate = {"index": 0, "content": {"role": "model", "parts": parts}, "finishReason": "STOP"}
    return {"candidates": [candidate], **common}


def events(asked: Asked, reply: Reply) -> Iterator[bytes]:
    """The response as its stream: each part in a chunk; only the last tells how it ended and the usage."""
    response = whole(asked, reply)
    candidate = response.get("candidates", [{}])[0]
    parts = table(candidate.get("content")).get("parts", [])
    for part in parts[:-1]:
        early = {"index": 0, "content": {"role": "model", "parts": [part]}}
        yield event({"candidates": [early], "modelVersion": asked.model, "responseId": response["responseId"]})
    if parts:
        last = {**candidate, "content": {"role": "model", "parts": parts[-1:]}}
        response = {**response, "candidates": [last]}
    yield event(response)


def failure(step: Step) -> Json:
    """The body of an error."""
    assert step.status is not None
    told: Json = {"code": step.status, "message": message_of(step)}
    told["status"] = step.code or STATUSES.get(step.status, "INTERNAL")
    if step.status == RATE_LIMITED:
        delay = USUAL_DELAY_S if step.retry_after is None else step.retry_after
        told["details"] = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": f"{delay:g}s"}]
    return {"error": told}


API = Api("gemini", read, whole, events, failure)
