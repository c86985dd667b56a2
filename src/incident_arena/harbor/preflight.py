"""What must be there before an episode can start; nothing is built then."""

from collections.abc import Sequence
from pathlib import Path

from incident_arena.episode import needs
from incident_arena.errors import UserError
from incident_arena.images import agents
from incident_arena.images import build as images
from incident_arena.node import build as node
from incident_arena.settings import Settings

ONLY_JUDGING = "to judge recorded trials again, use -e incident_arena.harbor:JudgeEnvironment"


def require_built(settings: Settings, agent_image: str = agents.PLAIN, tasks: Sequence[Path] = ()) -> None:
    """Refuse when the node's programs or the images are missing, or are of another version.

    Args:
        settings: where they are.
        agent_image: the image of the agent's pod.
        tasks: exported tasks that are to be played. What only a task that is not told here needs is found missing when
            its episode is made, before a node starts.

    Raises:
        UserError: names all that is missing, and the remedies.
    """
    missing: list[UserError] = []
    names = {*needs.ALWAYS, agent_image}
    try:
        node.require(settings)
        for task in tasks:
            names |= needs.image_names(settings, task / "environment", agent_image)
    except UserError as error:
        missing.append(error)
    try:
        images.find_images(settings, names)
    except UserError as error:
        missing.append(error)
    if missing:
        remedies = dict.fromkeys(error.remedy for error in missing)
        raise UserError(
            "episodes",
            "can't start: " + "; ".join(f"{error.thing}: {error.reason}" for error in missing),
            f"{' and '.join(f'`{remedy}`' for remedy in remedies)}; {ONLY_JUDGING}",
        )
