"""Calls of the model by an agent that runs in this process (terminus-2), recorded as the gateway records a pod's.

Such an agent reaches its model from this machine, past the gateway. It calls it by LiteLLM, which tells a logger of
each call that ended; whose it is follows from the context in which it was made.
"""

import functools
import sys
from contextvars import ContextVar
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from incident_arena.route import Call, fingerprint

LIBRARY = "litellm"
OK = 200
HTTPS, HTTP = 443, 80
_CALLS: ContextVar[list[Call] | None] = ContextVar("calls of this trial's agent", default=None)
_SALT = b""
"""The fingerprint tells models apart, which are no secret."""


def belong_to(calls: list[Call]) -> None:
    """From now on this task's calls, and those of the tasks that it starts, are added to `calls`.

    Does nothing while no agent has loaded LiteLLM: loading it takes seconds.
    """
    if LIBRARY in sys.modules:
        _listen()
        _CALLS.set(calls)


@functools.cache
def _listen() -> None:
    """Add the listener, once in this process."""
    import litellm  # noqa: PLC0415  loaded already, or never needed
    from litellm.integrations.custom_logger import CustomLogger  # noqa: PLC0415

    class Listener(CustomLogger):
        """Told of each call by LiteLLM."""

        async def async_log_success_event(
            self, kwargs: dict[str, Any], response_obj: Any, start_time: datetime, end_time: datetime
        ) -> None:
            _keep(kwargs, start_time, end_time, status=OK, refusal=_refusal(response_obj))

        async def async_log_failure_event(
            self, kwargs: dict[str, Any], response_obj: Any, start_time: datetime, end_time: datetime
        ) -> None:
            del response_obj
            status = getattr(kwargs.get("exception"), "status_code", None)
            _keep(kwargs, start_time, end_time, status=status if isinstance(status, int) else 0)

    litellm.callbacks.append(Listener())


def _keep(kwargs: dict[str, Any], start: datetime, end: datetime, *, status: int, refusal: str = "") -> None:
    calls = _CALLS.get()
    if calls is None:
        return
    given = kwargs.get("litellm_params") or {}
    parts = urlsplit(str(given.get("api_base") or kwargs.get("api_base") or ""))
    calls.append(
        Call(
            at=start.timestamp(),
            seconds=max(0.0, (end - start).total_seconds()),
            host=parts.hostname or str(given.get("custom_llm_provider") or "the provider"),
            port=parts.port or (HTTP if parts.scheme == "http" else HTTPS),
            method="POST",
            status=status,
            bytes_in=0,
            bytes_out=0,
            allowed=True,
            model_call=True,
            whole=status == OK,
            refusal=refusal,
            error="" if status else "refused",
            asked=fingerprint(_SALT, str(kwargs.get("model"))),
        )
    )


def _refusal(response: Any) -> str:
    """The provider's word, in a chat completion."""
    for choice in getattr(response, "choices", None) or ():
        if getattr(choice, "finish_reason", None) == "content_filter":
            return "content_filter"
        message = getattr(choice, "message", None)
        own = getattr(message, "provider_specific_fields", None) or {}
        if own.get("refusal") or getattr(message, "refusal", None):
            return "refusal"
    return ""
