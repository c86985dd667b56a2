"""What the server needs of each of the four APIs."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from incident_arena.endpoint.asked import Asked, Json
from incident_arena.endpoint.reply import Reply
from incident_arena.endpoint.script import Step

STATUS_MESSAGES = {
    400: "The request is not valid.",
    401: "The API key is not valid.",
    402: "The account's balance is used up.",
    403: "The API key has no permission for this.",
    404: "There is no such resource.",
    429: "Too many requests: the rate limit is reached.",
    500: "Something went wrong on the server.",
    503: "The service is unavailable for now.",
    529: "The service is overloaded.",
}


@dataclass(frozen=True)
class Api:
    """One API.

    `read` takes the body and the model that the path names. `whole` is the one document of an answer, `events` the
    same answer as a stream's chunks. `failure` is the body of an error.
    """

    name: str
    read: Callable[[Json, str], Asked]
    whole: Callable[[Asked, Reply], Json]
    events: Callable[[Asked, Reply], Iterable[bytes]]
    failure: Callable[[Step], Json]


def message_of(step: Step) -> str:
    """What an error says."""
    assert step.status is not None
    return step.message or STATUS_MESSAGES.get(step.status, "The request failed.")
