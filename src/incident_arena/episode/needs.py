"""Which images a task needs: those that its rendered manifests name, and the two that every node needs."""

import json
import re
from pathlib import Path

from incident_arena import proc
from incident_arena.episode import values
from incident_arena.formats.task import TaskSpec
from incident_arena.images import agents, build
from incident_arena.images.build import BuiltImage
from incident_arena.images.recipes import REGISTRY
from incident_arena.node import build as node_build
from incident_arena.settings import Settings

ALWAYS = ("pause", "coredns")
RENDER_S = 60.0
_MARK = "asked"
_NAMED = re.compile(rf"{re.escape(REGISTRY)}/([a-z0-9-]+):{_MARK}\b")


def image_names(settings: Settings, task_folder: Path, agent_image: str = agents.PLAIN) -> frozenset[str]:
    """Names of the images that a node needs for a task.

    Args:
        settings: where the node's binaries are; helm is one of them.
        task_folder: exported `environment/`.
        agent_image: what runs where the chart names the image `agent`.

    Raises:
        UserError: the binaries are not built.
        CommandError: the chart is wrong.
    """
    helm = node_build.require(settings) / "helm"
    task = TaskSpec.model_validate_json((task_folder / "task.json").read_text())
    marks = {name: f"{REGISTRY}/{name}:{_MARK}" for name in build.plain_names(settings)}
    told = values.make(task, task_folder, episode="needs", images=marks, api_address="127.0.0.1")
    argv = (helm, "template", "arena", task_folder / "chart", "--values", "-")
    manifests = proc.run(argv, deadline_s=RENDER_S, stdin=json.dumps(told)).stdout
    return frozenset({*ALWAYS, *(agent_image if name == agents.PLAIN else name for name in named_in(manifests))})


def named_in(manifests: str) -> frozenset[str]:
    """Names of the images that manifests refer to, when these were rendered with marks."""
    return frozenset(_NAMED.findall(manifests))


def find(settings: Settings, task_folder: Path, agent_image: str = agents.PLAIN) -> dict[str, BuiltImage]:
    """The images that a node needs for a task, by the names that its chart has for them.

    Args:
        settings: where they are.
        task_folder: exported `environment/`.
        agent_image: what the chart gets as `agent`.

    Raises:
        UserError: some are not built for what the sources are now.
        CommandError: the chart is wrong.
    """
    built = build.find_images(settings, image_names(settings, task_folder, agent_image))
    return {agents.PLAIN if name == agent_image else name: image for name, image in built.items()}
