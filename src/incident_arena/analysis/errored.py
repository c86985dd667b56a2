"""Trials that count for nothing because the model could not be reached: the provider, the key, the way or the start.

`why_errored` gives the reason, by the same rules for the runner (which plays such a trial again) and for the tables.
Of an agent in the pod route.json is the witness, our gateway's own record in a place that the agent can't write.
Harbor's class of the exception, which it finds in what the agent's program printed, is heard beside it and proves
nothing alone: without that record, or where it says that the way held to the end, the trial is judged. An agent on the
host calls its model from there, and the exception is our own.
"""

from pathlib import Path

from incident_arena.analysis import job_files
from incident_arena.route import Route

ROUTE_FILE = "route.json"
CALLS_FILE = "route.jsonl"

PROVIDER: dict[str, str] = {
    "ApiError": "the provider answered with an error",
    "ApiRateLimitError": "the provider's limit of requests",
    "ApiInternalServerError": "the provider failed",
    "ApiOverloadedError": "the provider was overloaded",
    "ApiConnectionClosedError": "the provider hung up",
    "ApiResponseStalledError": "the provider's answer stalled",
    "UnknownApiError": "the provider's answer was none that is known",
    "NetworkConnectionError": "no connection to the provider",
    "ApiConnectionError": "no connection to the provider",
    "ApiUsageLimitError": "the account's limit of use",
    "RateLimitError": "the provider's limit of requests",
    "InternalServerError": "the provider failed",
    "ServiceUnavailableError": "the provider was overloaded",
    "APIConnectionError": "no connection to the provider",
    "APIError": "the provider answered with an error",
    "APIResponseValidationError": "the provider's answer was none that is known",
    "Timeout": "the provider did not answer in time",
    "BudgetExceededError": "the account's limit of use",
    "AgentAuthenticationError": "the provider refused the key",
    "AuthenticationError": "the provider refused the key",
    "PermissionDeniedError": "the provider refused the key",
    "ModelNotFoundError": "the provider has no such model",
    "ApiProviderResourceNotFoundError": "the provider has no such model",
    "NotFoundError": "the provider has no such model",
    "UnsupportedModelParametersError": "the provider does not take the run's settings",
    "UnsupportedParamsError": "the provider does not take the run's settings",
}
"""Harbor's classes without a valid reward that tell of the provider, the key or the way, each with what it means.

Left out are those of the environment and the judge, which have statuses of their own, and BadRequestError and
UnprocessableEntityError: what the agent's program sends is its own doing.
"""
START: dict[str, str] = {
    "AgentSetupTimeoutError": "the agent's program did not start in time",
    "MissingExtraError": "the agent's program is not installed",
    "DspyImportError": "the agent's program is not installed",
}
"""The same for the agent's start, at which no model was asked yet: no record of calls can gainsay them."""
INTERRUPTED = "CancelledError"
"""The user stopped the job; what the way to the model was like then says nothing."""

ON_HOST = frozenset(
    {"oracle", "nop", "script", "play", "terminus", "terminus-1", "terminus-2", "computer-1", "dspy-rlm"}
)
"""Agents that call no model, or call it from the runner's side: that the gateway saw no call says nothing of them."""


def read_route(trial: Path) -> tuple[Route | None, str]:
    """A trial's route.json; None when it has none, with the problem when it can't be read."""
    route, problem = job_files.document(trial, ROUTE_FILE, Route)
    return route, "" if problem == "missing" else problem


def why_errored(
    *,
    exception: str | None,
    message: str,
    route: Route | None,
    declared: bool,
    agent: str,
    model: str | None,
    output_tokens: int | None,
) -> str:
    """Why a trial is errored, as `kind: what was seen`; empty when it is not.

    Args:
        exception: Harbor's class of what ended it.
        message: its text.
        route: the gateway's summary, where there is one.
        declared: the agent said that it had finished; then nothing makes the trial void.
        agent: its name.
        model: its model, if any.
        output_tokens: as the agent reports them.
    """
    if declared or exception == INTERRUPTED:
        return ""
    if agent in ON_HOST:
        known = {**PROVIDER, **START}
        return f"{known[exception]}: {_line(exception, message)}" if exception in known else ""
    if exception in START and not (route is not None and route.state == "down"):
        return f"{START[exception]}: {_line(exception, message)}"
    if route is None or (model is None and route.state == "none"):
        return ""  # only the agent's program says so, or it may have no model
    return _by_route(route, exception, message, spoke=bool(output_tokens))


def _by_route(route: Route, exception: str | None, message: str, *, spoke: bool) -> str:
    """The same of an agent in the pod, by the gateway's record."""
    if route.state == "down":
        return f"the way to the model was down: {route.reason}"
    if route.state == "none" and not spoke:
        ended = _line(exception, message) if exception else "the agent said nothing and ended"
        return f"the model was never reached: {route.reason}; {ended}"
    if exception in PROVIDER and _may_be(route):
        return f"{PROVIDER[exception]}: {_line(exception, message)}; {route.reason}"
    return ""


def _may_be(route: Route) -> bool:
    """The gateway's record allows what the exception says: the last call that counts failed, and not by a flood."""
    return route.state == "none" or (route.streak > 0 and route.rule != "flood")


def hopeless(exception: str | None, route: Route | None) -> bool:
    """Another trial would end the same way: the key or the model's name is wrong."""
    if route is not None and route.rule == "never answered":
        return set(route.failed) <= {"401", "403", "404"}
    return exception in PROVIDER and PROVIDER[exception].startswith(("the provider refused", "the provider has no"))


def _line(exception: str, message: str) -> str:
    first = message.strip().splitlines()[:1]
    return f"{exception}: {first[0]}" if first else exception
