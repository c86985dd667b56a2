import pytest
from harbor.agents.agent_auth_resolution import resolve_agent_model_connection
from harbor.trial.network_policy import inference_endpoint_host

from incident_arena.errors import UserError
from incident_arena.harbor.contestants import Contestant, check, configure, options, variables

LOCAL = "http://127.0.0.1:8000/v1"
IN_POD = "https://model.arena.internal/v1"
UPSTREAMS = {"model.arena.internal": "http://127.0.0.1:8000"}


@pytest.fixture(autouse=True)
def _no_models_here(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "OPENAI_API_BASE", "CLINE_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


def test_effort_options_and_variables_reach_the_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THE_KEY", "secret-value")
    asked = Contestant(
        agent="codex",
        model="openai/gpt-6-sol",
        effort="xhigh",
        kwargs=options(["version=0.153.4", "skip_install=true"]),
        env=variables(["THE_KEY", "MODE=fast=yes"]),
    )
    config, upstreams = configure(asked)
    assert (config.name, config.model_name, upstreams) == ("codex", "openai/gpt-6-sol", {})
    assert config.kwargs == {"version": "0.153.4", "skip_install": True, "reasoning_effort": "xhigh"}
    assert config.env == {"THE_KEY": "${THE_KEY}", "MODE": "fast=yes"}
    assert "secret-value" not in config.model_dump_json()


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (Contestant(agent="codx"), "is unknown"),
        (Contestant(agent="terminus-1"), "is unknown"),
        (Contestant(agent="no.such:Agent"), "can't be imported"),
        (Contestant(agent="nop", effort="high"), "has no efforts"),
        (Contestant(agent="qwen-coder", effort="high"), "has no efforts"),
        (Contestant(agent="codex", effort="extreme"), "reasoning_effort"),
        (Contestant(agent="codex", kwargs={"colour": "red"}), "colour"),
    ],
)
def test_what_an_agent_can_not_be_asked_for_is_refused(asked: Contestant, told: str) -> None:
    with pytest.raises(UserError, match=told) as refused:
        check(asked)
    assert refused.value.remedy


@pytest.mark.parametrize("given", ["=x", "1A", "A B=c"])
def test_a_variable_has_a_name(given: str) -> None:
    with pytest.raises(UserError, match="is no name"):
        variables([given])


@pytest.mark.parametrize("given", ["x", "=x"])
def test_an_option_has_key_and_value(given: str) -> None:
    with pytest.raises(UserError, match="key=value"):
        options([given])


def test_a_variable_that_is_not_set_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("THE_KEY", raising=False)
    with pytest.raises(UserError, match="it is not set"):
        configure(Contestant(agent="codex", env=variables(["THE_KEY"])))


@pytest.mark.parametrize(
    ("agent", "model"),
    [
        ("claude-code", "anthropic/claude-opus-5-5"),
        ("codex", "openai/gpt-6-sol"),
        ("mini-swe-agent", "anthropic/claude-opus-5-5"),
        ("opencode", "openai/gpt-6-sol"),
    ],
)
@pytest.mark.parametrize("by", ["option", "environment"])
def test_an_agent_in_the_pod_gets_a_url_that_works_there_and_harbor_allows_its_host(
    agent: str, model: str, by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if by == "environment":
        monkeypatch.setenv(f"{model.partition('/')[0].upper()}_BASE_URL", LOCAL)
    config, upstreams = configure(Contestant(agent=agent, model=model, model_url=LOCAL if by == "option" else None))
    assert (config.base_url, upstreams) == (IN_POD, UPSTREAMS)
    connection = resolve_agent_model_connection(config)
    assert connection.user_supplied_base_url == IN_POD
    hosts = {inference_endpoint_host(connection.inference_base_url), *config.extra_allowed_hosts}
    assert hosts == {"model.arena.internal"}


CLINE = "harbor.agents.installed.cline.cline:ClineCli"


def test_an_agent_without_the_option_gets_its_providers_variable() -> None:
    config, upstreams = configure(Contestant(agent=CLINE, model="openai/gpt-6-sol", model_url=LOCAL))
    assert config.base_url is None
    assert IN_POD in config.env.values()
    assert (upstreams, config.extra_allowed_hosts) == (UPSTREAMS, ["model.arena.internal"])


def test_an_agent_on_this_machine_keeps_the_url(monkeypatch: pytest.MonkeyPatch) -> None:
    config, upstreams = configure(Contestant(agent="terminus-2", model="openai/gpt-6-sol", model_url=LOCAL))
    assert (config.base_url, upstreams) == (LOCAL, {})
    monkeypatch.setenv("OPENAI_BASE_URL", LOCAL)
    config, upstreams = configure(Contestant(agent="terminus-2", model="openai/gpt-6-sol"))
    assert (config.base_url, config.env, upstreams) == (None, {}, {})


def test_without_a_url_harbors_own_hosts_stand() -> None:
    config, upstreams = configure(Contestant(agent="claude-code", model="anthropic/claude-opus-5-5"))
    assert (config.base_url, config.extra_allowed_hosts, upstreams) == (None, [], {})


def test_agents_that_can_not_be_pointed_say_so() -> None:
    with pytest.raises(UserError, match="can't be given a model's URL"):
        configure(Contestant(agent="nop", model_url=LOCAL))
    with pytest.raises(UserError, match="model_api"):
        configure(Contestant(agent="pi", model="openai/gpt-6-sol", model_url=LOCAL))
    config, _ = configure(
        Contestant(agent="pi", model="openai/x", model_url=LOCAL, kwargs={"model_api": "openai-completions"})
    )
    assert config.base_url == IN_POD
