"""What OpenAI's two APIs have in common."""

from incident_arena.endpoint.api import message_of
from incident_arena.endpoint.asked import Json
from incident_arena.endpoint.script import Step

PIECE = 24
"""Characters in one delta: an answer comes in several, as a model's does."""

KINDS = {
    400: ("invalid_request_error", None),
    401: ("invalid_request_error", "invalid_api_key"),
    402: ("insufficient_quota", "insufficient_quota"),
    403: ("invalid_request_error", "unsupported_country_region_territory"),
    404: ("invalid_request_error", "model_not_found"),
    429: ("requests", "rate_limit_exceeded"),
}
"""Status to the error's type and code."""


def failure(step: Step) -> Json:
    """The body of an error."""
    kind, code = KINDS.get(step.status or 0, ("server_error", None))
    if step.code:
        code = step.code
        kind = step.code if kind == "requests" else kind
    return {"error": {"message": message_of(step), "type": kind, "param": None, "code": code}}


def pieces(text: str) -> list[str]:
    """A text in the pieces in which it is streamed."""
    return [text[at : at + PIECE] for at in range(0, len(text), PIECE)]
