"""What is lacking for a model to be reached is one message with a remedy, before anything is built."""

import os
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from incident_arena.errors import UserError
from incident_arena.harbor.contestants import Contestant
from incident_arena.harbor.experiment import AgentEntry
from incident_arena.harbor.readiness import SIGN_IN, require

KEYS = {"claude-code": "ANTHROPIC_API_KEY", "codex": "OPENAI_API_KEY", "gemini-cli": "GEMINI_API_KEY"}


@pytest.fixture(autouse=True)
def _nothing_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.endswith(("_API_KEY", "_BASE_URL", "_AUTH_TOKEN")) or name.upper().endswith("_PROXY"):
            monkeypatch.delenv(name)
    for name in SIGN_IN:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def server() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1"


@pytest.fixture
def nobody() -> Iterator[str]:
    """The URL of a port that is taken, and on which nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}/v1"


@pytest.mark.parametrize(
    ("agent", "model", "told", "remedy"),
    [
        ("codx", None, "is unknown", "codex"),
        ("codex", None, "needs a model", "-m PROVIDER/MODEL"),
        ("terminus-2", None, "needs a model", "-m PROVIDER/MODEL"),
        ("codex", "gpt-6", "no provider in front", "PROVIDER/gpt-6"),
        ("terminus-2", "gpt-6", "no provider in front", "PROVIDER/gpt-6"),
        ("codex", "openai/gpt-6", "OPENAI_API_KEY or CODEX_API_KEY is not set", "export OPENAI_API_KEY="),
        ("claude-code", None, "ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN is not set", "export ANTHROPIC_API_KEY="),
        ("claude-code", "anthropic/x", "ANTHROPIC_API_KEY or", "export ANTHROPIC_API_KEY="),
        ("gemini-cli", "google/gemini-3-pro", "GEMINI_API_KEY or", "export GOOGLE_API_KEY="),
        ("mini-swe-agent", "anthropic/x", "ANTHROPIC_API_KEY", "export ANTHROPIC_API_KEY="),
        ("terminus-2", "openai/gpt-6", "OPENAI_API_KEY", "export OPENAI_API_KEY="),
    ],
)
def test_what_is_lacking_is_told(agent: str, model: str | None, told: str, remedy: str) -> None:
    with pytest.raises(UserError, match=told) as refused:
        require(Contestant(agent=agent, model=model))
    assert remedy in refused.value.remedy


@pytest.mark.parametrize("agent", KEYS)
def test_a_key_is_enough_by_either_way(agent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = {"claude-code": "anthropic/x", "codex": "openai/x", "gemini-cli": "google/gemini-3-pro"}[agent]
    require(Contestant(agent=agent, model=model, env={KEYS[agent]: "a-key"}))
    monkeypatch.setenv(KEYS[agent], "a-key")
    require(Contestant(agent=agent, model=model))


def test_who_signs_in_otherwise_needs_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CODE_OAUTH_TOKEN", "token")
    require(Contestant(agent="claude-code"))


@pytest.mark.parametrize("agent", ["oracle", "nop"])
def test_who_calls_no_model_lacks_nothing(agent: str) -> None:
    require(Contestant(agent=agent))


@pytest.mark.parametrize("agent", ["codex", "terminus-2"])
def test_a_server_must_listen(agent: str, server: str, nobody: str) -> None:
    asked: dict[str, Any] = {"agent": agent, "model": "openai/x", "env": {"OPENAI_API_KEY": "any"}}
    require(Contestant(**asked, model_url=server))
    with pytest.raises(UserError, match=r"nobody listens at 127\.0\.0\.1:") as refused:
        require(Contestant(**asked, model_url=nobody))
    assert "start the server first" in refused.value.remedy


def test_a_server_of_ones_own_spares_no_cli_its_key(server: str) -> None:
    with pytest.raises(UserError, match="is not set") as refused:
        require(Contestant(agent="codex", model="openai/x", model_url=server))
    assert "any word" in refused.value.remedy


def test_every_model_of_an_experiment_is_looked_at() -> None:
    from incident_arena.cli.experiments import _contestants  # noqa: PLC0415 - the command line is slow to import

    entry = AgentEntry(agent="codex", models=("openai/a", "openai/b"), efforts=("low", "high"))
    asked = [(one.model, one.effort) for one in _contestants(entry)]
    assert sorted(asked) == [(model, effort) for model in ("openai/a", "openai/b") for effort in ("high", "low")]
