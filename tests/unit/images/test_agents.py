"""Agents' recipes: each makes an image of its own, at its version or at another."""

from pathlib import Path

import pytest
from harbor.agents.factory import AgentFactory

from incident_arena.errors import UserError
from incident_arena.folders import PACKAGE
from incident_arena.images import agents, build
from incident_arena.settings import Settings

NAMES = ("claude-code", "codex", "gemini-cli", "mini-swe-agent", "opencode", "pi", "qwen-coder")
RECIPE = """\
manager = "{manager}"
package = "@maker/tool"
version = "1.2.3"
with = ["more"]
executables = ["tool"]
node = true
check = "tool --version"
steps = ["rm -rf rest"]
lines = ["RUN touch /x"]
[environment]
QUIET = "1"
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in ("agent", "nodejs"):
        folder = tmp_path / "images/recipes" / name
        folder.mkdir(parents=True)
        (folder / "Dockerfile").write_text("FROM scratch\n")
    (tmp_path / "images/agent_recipes").mkdir()
    (tmp_path / "images/agent_recipes/tool.toml").write_text(RECIPE.format(manager="npm"))
    return tmp_path


def plan(root: Path, *names: str) -> dict[str, build.Planned]:
    return build.plan(Settings(home=root / "home"), root, names)


def test_the_checkout_has_a_recipe_for_each_agent_under_the_name_that_harbor_has() -> None:
    assert tuple(agents.recipes(PACKAGE)) == NAMES
    assert set(NAMES) <= set(AgentFactory.registered_names())


@pytest.mark.parametrize("name", NAMES)
def test_the_image_is_a_layer_over_the_agents_and_ends_as_its_user(name: str) -> None:
    text = agents.image_recipes(PACKAGE)[f"agent-{name}"].made["Dockerfile"]
    last = text.split("\nFROM ")[-1]
    assert last.startswith("arena.local/agent\n")
    assert [line for line in last.splitlines() if line.startswith("USER")] == ["USER 0:0", "USER 1000:1000"]
    assert f"grep -F -e '{agents.recipes(PACKAGE)[name].version}'" in last


def test_what_goes_in_is_what_the_recipe_says(root: Path) -> None:
    recipe = agents.image_recipes(root)["agent-tool"]
    text = recipe.made["Dockerfile"]
    for part in (
        "npm install --omit=dev --ignore-scripts", "RUN rm -rf rest\n", "COPY --from=arena.local/nodejs", 'QUIET="1"',
        "RUN touch /x\n", "ln -s /opt/program/node_modules/.bin/tool /usr/local/bin/tool", "tool --version",
    ):  # fmt: skip
        assert part in text
    assert '"@maker/tool": "1.2.3"' in recipe.made["package.json"]
    assert set(recipe.uses) == {"agent", "nodejs"}
    assert list(plan(root, "agent-tool")) == [*sorted(recipe.uses), "agent-tool"]


def test_a_lock_is_taken_for_the_recipes_version_alone(root: Path) -> None:
    assert not agents.is_locked(root, "tool", None)
    before = plan(root, "agent-tool")["agent-tool"].image
    (root / "images/agent_recipes/tool.lock").write_text("{}")
    planned = plan(root, "agent-tool", "agent-tool@2.0.0")
    assert planned["agent-tool"].image.key != before.key
    assert agents.is_locked(root, "tool", None)
    assert agents.is_locked(root, "tool", "1.2.3")
    assert not agents.is_locked(root, "tool", "2.0.0")
    files = {name: [item.to for item in one.context] for name, one in planned.items()}
    assert files["agent-tool"] == ["Dockerfile", "package-lock.json", "package.json"]
    assert files["agent-tool@2.0.0"] == ["Dockerfile", "package.json"]
    assert "npm ci " in planned["agent-tool"].recipe.made["Dockerfile"]
    assert "grep -F -e '2.0.0'" in planned["agent-tool@2.0.0"].recipe.made["Dockerfile"]


def test_python_packages_without_a_lock_are_named(root: Path) -> None:
    (root / "images/agent_recipes/tool.toml").write_text(RECIPE.format(manager="pypi"))
    assert agents.image_recipes(root)["agent-tool"].made["requirements.txt"] == "@maker/tool==1.2.3\nmore\n"
    (root / "images/agent_recipes/tool.lock").write_text("x==1\n")
    locked = agents.image_recipes(root)["agent-tool"]
    assert "requirements.txt" not in locked.made
    assert "--require-hashes" in locked.made["Dockerfile"]


def test_what_has_no_lock_says_so_when_it_is_built(root: Path) -> None:
    assert "tool 1.2.3 has no lock" in agents.image_recipes(root)["agent-tool"].note
    (root / "images/agent_recipes/tool.lock").write_text("{}")
    planned = plan(root, "agent-tool", "agent-tool@2.0.0")
    assert planned["agent-tool"].recipe.note == ""
    assert "tool 2.0.0 has no lock" in planned["agent-tool@2.0.0"].recipe.note


def test_each_version_has_an_image_and_an_archive_of_its_own(root: Path) -> None:
    planned = plan(root, "agent-tool", "agent-tool@2.0.0")
    one, other = planned["agent-tool"].image, planned["agent-tool@2.0.0"].image
    assert other.name == "agent-tool@2.0.0"
    assert other.reference == f"arena.local/agent-tool:{other.key}"
    assert other.archive.name == f"agent-tool-{other.key}.tar"
    assert one.key != other.key


def test_the_recipes_own_version_is_no_other(root: Path) -> None:
    del root
    assert agents.image_for("tool") == agents.image_for("tool", "1.2.3", default="1.2.3") == "agent-tool"
    assert agents.image_for("tool", "2.0.0", default="1.2.3") == "agent-tool@2.0.0"


@pytest.mark.parametrize("version", ["", "latest", "1 && x", "../1", "1'"])
def test_what_is_no_version_is_refused(version: str) -> None:
    with pytest.raises(UserError, match="is no version"):
        agents.image_for("tool", version)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[[", "can't be read"),
        (RECIPE.format(manager="curl"), "manager"),
        (f"more = 1\n{RECIPE.format(manager='npm')}", "more"),
        (RECIPE.format(manager="npm").replace('["tool"]', "[]"), "executables"),
    ],
)
def test_a_wrong_recipe_is_refused_with_its_name(root: Path, text: str, reason: str) -> None:
    (root / "images/agent_recipes/tool.toml").write_text(text)
    with pytest.raises(UserError, match=reason) as caught:
        agents.recipes(root)
    assert caught.value.thing == "agent 'tool'"


def test_the_pods_images_are_not_the_agents(root: Path) -> None:
    (root / "images/recipes/nodejs/image.toml").write_text("only_built_on = true\n")
    assert build.plain_names(Settings(), root) == ("agent",)
    with pytest.raises(UserError, match="not built, or changed since: agent, agent-tool") as caught:
        build.find_images(Settings(home=root / "home"), ["agent", "agent-tool"], root)
    assert caught.value.remedy == "arena images build and arena agents build tool"
