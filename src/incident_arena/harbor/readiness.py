"""What an agent lacks to reach its model, said before anything is built: a model, its provider, a key, a server."""

import asyncio
import os
from urllib.parse import urlsplit

from harbor.agents.agent_auth_resolution import (
    PROVIDERS,
    MissingModelCredentialError,
    parse_model_name,
    resolve_agent_model_connection,
)
from harbor.agents.factory import AgentFactory
from harbor.agents.installed.base import BaseInstalledAgent
from harbor.models.trial.config import AgentConfig

from incident_arena.egress import host
from incident_arena.egress.connect import DIAL_S, Target
from incident_arena.errors import UserError
from incident_arena.harbor.contestants import Contestant, agent_class, configure

NEEDS_MODEL = frozenset({"codex", "gemini-cli", "mini-swe-agent", "opencode", "pi", "terminus-2"})
"""Agents that end at once without a model's name; claude-code and qwen-coder have one of their own."""
SIGN_IN = (
    "ANTHROPIC_OAUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_USE_BEDROCK", "CODEX_AUTH_JSON_PATH",
    "CODEX_FORCE_AUTH_JSON", "GEMINI_FORCE_OAUTH", "GEMINI_OAUTH_CREDS_PATH", "GOOGLE_GENAI_USE_VERTEXAI",
)  # fmt: skip
"""Variables by which a CLI signs in without a key; whether that works it finds out itself."""


def require(contestant: Contestant) -> None:
    """Refuse a contestant that could not reach its model. Asks no provider anything; connects to `model_url`.

    Raises:
        UserError: as `contestants.configure`; or it lacks a model, the model's provider or key, or nobody listens at
            its model's URL.
    """
    made = agent_class(contestant.agent)
    if made.MODEL_CONNECTION is None:
        return  # calls no model
    agent, model = made.name(), contestant.model
    if model is None and agent in NEEDS_MODEL:
        raise UserError(f"agent {agent!r}", "needs a model", "name it: -m PROVIDER/MODEL, for one -m openai/MODEL")
    if model is not None and "/" not in model:
        reason = "has no provider in front, so that neither its key nor its host is known"
        raise UserError(f"model {model!r}", reason, f"give it as PROVIDER/{model}, for one openai/{model}")
    config, _ = configure(contestant)
    if not any(config.env.get(name) or os.environ.get(name) for name in SIGN_IN):
        _require_key(agent, config, installed=issubclass(made, BaseInstalledAgent))
    if contestant.model_url is not None:
        _require_server(contestant.model_url)


def _require_key(agent: str, config: AgentConfig, *, installed: bool) -> None:
    """Harbor checks what it is sure of; a CLI in the pod gets nowhere without a key, whatever its server asks for."""
    provider = PROVIDERS.get(parse_model_name(config.model_name)[0] or "") if config.model_name else None
    names = list(provider.api_key_candidate_names) if provider else []
    try:
        AgentFactory.run_preflight(config)
        connection = resolve_agent_model_connection(config)
    except MissingModelCredentialError:
        pass
    except ValueError as error:
        raise UserError(f"agent {agent!r}", str(error)) from error
    else:
        names = connection.api_key_candidate_names
        if connection.api_key or not (installed and names):
            return
    reason = f"has no key for its model: {' or '.join(names) or 'its variable'} is not set"
    remedy = f"export {names[0] if names else 'it'}=…, any word where a server of your own asks for none"
    raise UserError(f"agent {agent!r}", reason, remedy)


def _require_server(url: str) -> None:
    parts = urlsplit(url)
    target = Target(str(parts.hostname), parts.port or (443 if parts.scheme == "https" else 80))

    async def connect() -> None:
        _, writer = await asyncio.wait_for(host.dialler()(target), DIAL_S)
        writer.close()

    try:
        asyncio.run(connect())
    except (OSError, TimeoutError) as error:
        reason = f"nobody listens at {target}: {error or type(error).__name__}"
        raise UserError(f"model URL {url!r}", reason, "start the server first, or mend --model-url") from error
