"""What each of Harbor's agents needs in the agent's pod: a program of its own that is baked in, or none.

An agent's installer would fetch from the network, which the pod does not have; so an installed agent runs only where
there is a recipe (incident_arena.images.agents), and Harbor is told to use what is there:

    image_name(agent) -> str     the image for the agent's pod, as `environment.kwargs["agent_image"]`
    options(agent) -> dict       what AgentConfig.kwargs must have for it
    split(agent) -> (name, version | None)

`agent` is what `arena run --agent` takes: a name, NAME@VERSION, or module:Class.
"""

from enum import StrEnum
from pathlib import Path
from typing import Any

from harbor.agents.factory import AgentFactory

from incident_arena.errors import UserError
from incident_arena.folders import PACKAGE
from incident_arena.images import agents


class Kind(StrEnum):
    """Where an agent's program is."""

    INSTALLED = "installed"
    ON_THE_HOST = "on the host"
    UNSUPPORTED = "not supported"


ON_THE_HOST = frozenset({"oracle", "nop", "terminus-2"})
"""Harbor's agents whose own program stays on the runner."""


def kinds(root: Path | None = None) -> dict[str, Kind]:
    """Every agent that Harbor has, by its name."""
    baked = agents.recipes(root or PACKAGE)
    return {
        name: Kind.INSTALLED if name in baked else Kind.ON_THE_HOST if name in ON_THE_HOST else Kind.UNSUPPORTED
        for name in AgentFactory.registered_names()
    }


def split(agent: str) -> tuple[str, str | None]:
    """Name and version of NAME or NAME@VERSION; module:Class has no version."""
    if ":" in agent:
        return agent, None
    name, at, version = agent.partition("@")
    return name, version if at else None


def image_name(agent: str, root: Path | None = None) -> str:
    """The image for the agent's pod; `agent` for one that runs on the host, and for module:Class.

    Args:
        agent: NAME, NAME@VERSION or module:Class.
        root: the package; this one when None.

    Raises:
        UserError: Harbor has no such agent, it can't run here, or it has no version to choose.
    """
    root = root or PACKAGE
    name, version = split(agent)
    if ":" in name:
        return agents.PLAIN
    kind = kinds(root).get(name)
    if kind is None:
        known = ", ".join(sorted(name for name, kind in kinds(root).items() if kind is not Kind.UNSUPPORTED))
        raise UserError(f"agent {name!r}", "is unknown", f"one of: {known}; or module:Class")
    if kind is Kind.UNSUPPORTED:
        reason = "has no recipe here, and its own installer would fetch from a network that the pod does not have"
        raise UserError(f"agent {name!r}", reason, f"write {agents.FOLDER}/{name}.toml: see docs/agents.md")
    if kind is Kind.ON_THE_HOST:
        if version is not None:
            raise UserError(f"agent {name!r}", "is part of Harbor and has no version of its own", f"give {name}")
        return agents.PLAIN
    return agents.image_for(name, version, default=agents.recipes(root)[name].version)


def options(agent: str) -> dict[str, Any]:
    """What Harbor must be told so that it uses the program in the image and installs nothing."""
    return {} if image_name(agent) == agents.PLAIN else {"skip_install": True}
