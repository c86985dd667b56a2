"""What OpenAI's two APIs have in common."""

from incident_arena.endpoint.api import message_of
from incident_arena.endpoint.asked import Json
from incident_arena.endpoint.script import Step

RATE_LIMITED = 429
KINDS = {
    400: ("invalid_request_error", None),
    401: ("invalid_request_error", "invalid_api_key"),
    402: ("insufficient_quota", "insufficient_quota"),
    403: ("invalid_request_error", "unsupported_country_region_territory"),
    404: ("invalid_request_error", "model_not_found"),
    RATE_LIMITED: ("requests", "rate_limit_exceeded"),
}
"""Status to the error's type and code."""


def failure(step: Step) -> Json:
    """The body of an error."""
    kind, code = KINDS.get(step.status or 0, ("server_error", None))
    if step.code:
        code = step.code
        kind = step.code if step.status == RATE_LIMITED else kind  # a used-up quota is a 429 of its own type
    return {"error": {"message": message_of(step), "type": kind, "param": None, "code": code}}
