"""Who plays: an agent with its model, effort and options, as Harbor's configuration of an agent."""

import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from harbor.agents.agent_auth_resolution import PROVIDERS, ResolvedModelConnection, resolve_agent_model_connection
from harbor.agents.base import BaseAgent
from harbor.agents.factory import AgentFactory
from harbor.agents.installed.base import BaseInstalledAgent
from harbor.models.trial.config import AgentConfig
from harbor.trial.network_policy import inference_endpoint_host

from incident_arena.errors import UserError
from incident_arena.harbor import OFFLINE_PRICES, agent_images
from incident_arena.harbor.endpoints import route

EFFORT = "reasoning_effort"
"""Harbor's option of an agent."""
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, kw_only=True)
class Contestant:
    """What an agent is asked to play with.

    Attributes:
        agent: Harbor's name of an agent, NAME@VERSION of one that is baked, or `module:Class`.
        model: its model's name, with the provider in front; None where the agent has none, or a default.
        effort: how hard the model reasons; None: the agent's own default.
        kwargs: Harbor's options of the agent.
        env: variables for the agent; a value `${NAME}` is taken from this process when the trial starts, and is not
            written into the job.
        model_url: base URL of the model's server as seen from this machine; None: the environment's or the provider's.
    """

    agent: str
    model: str | None = None
    effort: str | None = None
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)
    model_url: str | None = None


def agent_class(agent: str) -> type[BaseAgent]:
    """The class of an agent by Harbor's name or `module:Class`.

    Raises:
        UserError: there is none.
    """
    agent_images.image_name(agent)
    try:
        return AgentFactory.get_agent_class_from_config(_named(agent))
    except (ValueError, ImportError, AttributeError) as error:
        raise UserError(f"agent {agent!r}", f"can't be imported: {error}", "give it as module:Class") from error


def check(contestant: Contestant) -> None:
    """Refuse what the agent can't be asked for; looks at no environment variable.

    Raises:
        UserError: no such agent, or it has no such effort or option.
    """
    made = agent_class(contestant.agent)
    if contestant.effort is not None and not made.capabilities.reasoning_effort:
        raise UserError(f"effort {contestant.effort!r}", f"agent {contestant.agent!r} has no efforts", "leave it out")
    try:
        made.parse_options(_options(contestant))
    except ValueError as error:
        told = [line.strip() for line in str(error).splitlines() if line.startswith("  ")]
        remedy = f"`harbor agent schema {contestant.agent}` shows its options"
        raise UserError(f"agent {contestant.agent!r}", "; ".join(told) or str(error), remedy) from error


def configure(contestant: Contestant) -> tuple[AgentConfig, dict[str, str]]:
    """Harbor's configuration of an agent, and the model servers that the gateway has to know (`endpoints.route`).

    Raises:
        UserError: as `check`; or a variable is not set, or the agent can't be pointed at the model's URL.
    """
    check(contestant)
    made = agent_class(contestant.agent)
    config = _named(contestant.agent)
    config.model_name = contestant.model
    config.kwargs = _options(contestant)
    config.env = dict(contestant.env)
    unset = [name for name, value in contestant.env.items() if value == f"${{{name}}}" and name not in os.environ]
    if unset:
        reason = f"agent {contestant.agent!r} wants it, and it is not set"
        raise UserError(f"variable {unset[0]!r}", reason, f"export {unset[0]}=…, or leave it out")
    if contestant.model_url is not None:
        # Checked before Harbor sees it, which would repeat a password.
        route(contestant.model_url)
        _point(made, config, contestant.model_url)
    if made.MODEL_CONNECTION is None or not issubclass(made, BaseInstalledAgent):
        return config, {}  # has no model, or calls it from this machine
    supplied = _connection(config).user_supplied_base_url
    if not supplied:
        return config, {}
    url, upstreams = route(supplied)
    if url != supplied:
        _point(made, config, url)
    _allow(config, url)
    return config, upstreams


def variables(given: Iterable[str]) -> dict[str, str]:
    """The `env` of a contestant from `NAME` and `NAME=VALUE`.

    Raises:
        UserError: one has no name.
    """
    found = {}
    for one in given:
        name, equals, value = one.partition("=")
        if not VARIABLE.fullmatch(name):
            raise UserError(f"--agent-env {name!r}", "is no name of a variable", "give it as NAME or NAME=VALUE")
        found[name] = value if equals else f"${{{name}}}"
    return found


def options(given: Iterable[str]) -> dict[str, Any]:
    """The `kwargs` of a contestant from `key=value`; a value that is JSON is read as such, any other as text.

    Raises:
        UserError: one has no key or no value.
    """
    found: dict[str, Any] = {}
    for one in given:
        key, equals, value = one.partition("=")
        if not key.strip() or not equals:
            raise UserError(f"--agent-kwarg {one!r}", "has no key or no value", "give it as key=value")
        try:
            found[key.strip()] = json.loads(value)
        except json.JSONDecodeError:
            found[key.strip()] = value
    return found


def _named(agent: str) -> AgentConfig:
    return AgentConfig(import_path=agent) if ":" in agent else AgentConfig(name=agent_images.split(agent)[0])


def _options(contestant: Contestant) -> dict[str, Any]:
    baked = agent_images.options(contestant.agent)
    return baked | dict(contestant.kwargs) | ({} if contestant.effort is None else {EFFORT: contestant.effort})


def _connection(config: AgentConfig) -> ResolvedModelConnection:
    os.environ.setdefault(OFFLINE_PRICES, "True")
    try:
        return resolve_agent_model_connection(config)
    except ValueError as error:
        agent = config.name or config.import_path
        remedy = f"`harbor agent auth {agent}` tells how it is pointed at a model (pi needs --agent-kwarg model_api=…)"
        raise UserError(f"agent {agent!r}", str(error), remedy) from error


def _point(made: type[BaseAgent], config: AgentConfig, url: str) -> None:
    """Tell the agent its model's base URL: by Harbor's option where it has that, else by the provider's variable."""
    if made.capabilities.base_url:
        config.base_url = url
        return
    if made.MODEL_CONNECTION is None:
        raise UserError(f"agent {made.name()!r}", "can't be given a model's URL", "leave --model-url out")
    connection = _connection(config)
    provider = PROVIDERS.get(connection.provider or "")
    names = [*([connection.base_url_source_name] if connection.base_url_source_name else []),
             *(provider.base_url_candidate_names if provider else []),
             *connection.base_url_candidate_names]  # fmt: skip
    if not names:
        reason = f"no variable is known that gives it the URL of model {config.model_name!r}"
        raise UserError(f"agent {made.name()!r}", reason, "name the provider: -m PROVIDER/MODEL")
    config.env = config.env | {names[0]: url}


def _allow(config: AgentConfig, url: str) -> None:
    """Let the agent reach the host where Harbor does not see by itself that it has to."""
    host = inference_endpoint_host(url)
    if host is not None and inference_endpoint_host(_connection(config).inference_base_url) != host:
        config.extra_allowed_hosts = [host]
