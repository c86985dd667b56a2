"""Which image an agent needs, and which agents can't run here."""

from pathlib import Path

import pytest
from harbor.agents.factory import AgentFactory
from harbor.agents.installed.base import BaseInstalledAgent
from harbor.models.agent.name import AgentName

from incident_arena.errors import UserError
from incident_arena.folders import PACKAGE
from incident_arena.harbor.agent_images import ON_THE_HOST, Kind, image_name, kinds, options, split
from incident_arena.harbor.job import Request, compose
from incident_arena.images.agents import recipes


@pytest.mark.parametrize(
    ("agent", "image"),
    [
        ("claude-code", "agent-claude-code"),
        ("claude-code@2.1.280", "agent-claude-code"),
        ("claude-code@2.1.332", "agent-claude-code@2.1.332"),
        ("qwen-coder", "agent-qwen-coder"),
        ("oracle", "agent"),
        ("nop", "agent"),
        ("terminus-2", "agent"),
        ("my.module:Agent", "agent"),
    ],
)
def test_the_image_is_the_agents(agent: str, image: str) -> None:
    assert image_name(agent) == image
    assert options(agent) == ({} if image == "agent" else {"skip_install": True})


def test_every_agent_of_harbors_has_a_kind() -> None:
    assert set(kinds()) == set(AgentFactory.registered_names())
    for name in ON_THE_HOST | recipes(PACKAGE).keys():
        installed = issubclass(AgentFactory.get_agent_class(AgentName(name)), BaseInstalledAgent)
        assert kinds()[name] is (Kind.INSTALLED if installed else Kind.ON_THE_HOST)


@pytest.mark.parametrize("agent", ["cursor-cli", "goose", "aider", "goose@1.0"])
def test_an_installer_that_would_fetch_is_refused_with_how_to_bake_it(agent: str) -> None:
    with pytest.raises(UserError, match="no recipe") as caught:
        image_name(agent)
    assert caught.value.remedy.startswith(f"write images/agent_recipes/{agent.partition('@')[0]}.toml")


def test_a_recipe_is_all_that_an_agent_needs(tmp_path: Path) -> None:
    (tmp_path / "images/agent_recipes").mkdir(parents=True)
    (tmp_path / "images/agent_recipes/goose.toml").write_text(
        'manager = "npm"\npackage = "g"\nversion = "1"\nexecutables = ["g"]\ncheck = "g"\n'
    )
    assert image_name("goose", tmp_path) == "agent-goose"
    with pytest.raises(UserError, match="no recipe"):
        image_name("codex", tmp_path)


def test_an_unknown_agent_is_refused_with_those_that_run() -> None:
    with pytest.raises(UserError, match="is unknown") as caught:
        image_name("claude")
    assert "claude-code, codex, gemini-cli" in caught.value.remedy
    assert "goose" not in caught.value.remedy


def test_what_is_part_of_harbor_has_no_version() -> None:
    with pytest.raises(UserError, match="no version of its own"):
        image_name("terminus-2@1")


def test_name_and_version() -> None:
    assert split("codex@1.2") == ("codex", "1.2")
    assert split("codex") == ("codex", None)
    assert split("a.b:C") == ("a.b:C", None)


def test_the_job_uses_the_program_in_the_image(tmp_path: Path) -> None:
    asked = Request(
        tasks=(tmp_path,), agent="codex@1.2.3", scripts=(), model="m", trials=1, parallel=1, max_retries=0, keep=False,
        jobs=tmp_path, name="n",
    )  # fmt: skip
    config = compose(asked)
    assert config.environment.kwargs == {"agent_image": "agent-codex@1.2.3"}
    [agent] = config.agents
    assert (agent.name, agent.model_name, agent.kwargs) == ("codex", "m", {"skip_install": True})
