"""What is errored, and what an agent's own words can't make so."""

import pytest
from harbor.models.agent.name import AgentName
from harbor.models.trial.error_policy import ERROR_POLICIES

from incident_arena.analysis.errored import ON_HOST, PROVIDER, START, hopeless, why_errored
from incident_arena.route import RULES, Route, State

RATE = "ApiRateLimitError"


def route(state: State = "held", rule: str = "all answered", streak: int = 0, **failed: int) -> Route:
    return Route(
        state=state, rule=rule, reason=f"because {rule}", agent_started=0, agent_ended=9, calls=9, answered=9,
        failed=failed, streak=streak, last="200", last_at=8, refusals=0, refused=False, not_allowed=0, hosts=(),
    )  # fmt: skip


HELD = route()
DOWN = route("down", "down at the end", 11)
NONE = route("none", "no call")
BLINK = route("held", "blink", 1)
FLOOD = route("held", "flood", 20)


def why(exception: str | None, seen: Route | None, **more: object) -> str:
    facts: dict[str, object] = {
        "declared": False, "agent": "codex", "model": "m", "output_tokens": 100, "message": "line one\nline two",
    }  # fmt: skip
    return why_errored(exception=exception, route=seen, **(facts | more))  # type: ignore[arg-type]


def test_the_classes_are_harbors_and_without_a_valid_reward() -> None:
    for name in PROVIDER | START:
        assert not ERROR_POLICIES[name].has_valid_reward


def test_every_retried_class_of_a_provider_is_known() -> None:
    told = {name for name, policy in ERROR_POLICIES.items() if policy.should_retry and policy.should_grade}
    assert told <= set(PROVIDER)


def test_host_agents_are_harbors_or_ours() -> None:
    assert set(AgentName.values()) | {"script", "play"} >= ON_HOST


@pytest.mark.parametrize(
    ("exception", "seen", "errored"),
    [
        (None, None, False),
        (None, HELD, False),
        (None, DOWN, True),
        (None, BLINK, False),
        (None, FLOOD, False),
        ("NonZeroAgentExitCodeError", None, False),
        ("NonZeroAgentExitCodeError", HELD, False),
        ("NonZeroAgentExitCodeError", BLINK, False),
        ("NonZeroAgentExitCodeError", DOWN, True),
        ("AgentTimeoutError", HELD, False),
        ("AgentTimeoutError", DOWN, True),
        ("AgentSafetyRefusalError", HELD, False),
        ("ContextWindowExceededError", HELD, False),
        ("BadRequestError", None, False),
        (RATE, None, False),
        (RATE, DOWN, True),
        (RATE, BLINK, True),
        (RATE, HELD, False),
        (RATE, FLOOD, False),
        ("AgentAuthenticationError", HELD, False),
        ("AgentAuthenticationError", NONE, True),
        ("AgentSetupTimeoutError", None, True),
        ("AgentSetupTimeoutError", NONE, True),
        ("CancelledError", DOWN, False),
    ],
)
def test_both_witnesses_are_heard(exception: str | None, seen: Route | None, errored: bool) -> None:  # noqa: FBT001
    reason = why(exception, seen)
    assert bool(reason) is errored
    assert "line two" not in reason


@pytest.mark.parametrize("exception", PROVIDER)
def test_what_a_program_in_the_pod_prints_proves_nothing_alone(exception: str) -> None:
    for model in ("m", None):
        assert why(exception, None, model=model) == ""
        assert why(exception, HELD, model=model) == ""
    assert why(exception, NONE, model=None) == ""
    assert why(exception, DOWN, model=None)
    assert why(exception, None, agent="terminus-2")


@pytest.mark.parametrize("seen", [None, HELD, DOWN, NONE, BLINK, FLOOD])
@pytest.mark.parametrize("exception", [None, RATE, "NonZeroAgentExitCodeError", "AgentSetupTimeoutError"])
def test_who_declared_is_judged(exception: str | None, seen: Route | None) -> None:
    assert why(exception, seen, declared=True) == ""


@pytest.mark.parametrize("exception", [None, "NonZeroAgentExitCodeError", "AgentTimeoutError"])
def test_no_call_and_no_word_is_errored_only_where_the_pod_calls_the_model(exception: str | None) -> None:
    assert why(exception, NONE, output_tokens=None)
    assert why(exception, NONE, output_tokens=0)
    assert not why(exception, NONE, output_tokens=50)
    assert not why(exception, NONE, output_tokens=None, model=None)
    for agent in ON_HOST:
        assert not why(exception, NONE, output_tokens=None, agent=agent)


def test_the_calls_of_a_pod_say_nothing_of_an_agent_on_the_host() -> None:
    assert not why(None, DOWN, agent="terminus-2")
    assert why("RateLimitError", HELD, agent="terminus-2").startswith("the provider's limit of requests: ")


def test_a_wrong_key_is_not_tried_again() -> None:
    never = "never answered"
    assert never in RULES
    assert hopeless("NonZeroAgentExitCodeError", route("down", never, **{"401": 2}))
    assert not hopeless("NonZeroAgentExitCodeError", route("down", never, **{"401": 2, "429": 1}))
    assert not hopeless(RATE, DOWN)
    assert not hopeless(None, DOWN)
    assert hopeless("AuthenticationError", None)
    assert not hopeless("RateLimitError", None)
