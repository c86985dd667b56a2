"""What must be there before an episode can start; nothing is built then."""

from incident_arena.errors import UserError
from incident_arena.images import build as images
from incident_arena.node import build as node
from incident_arena.settings import Settings

ONLY_JUDGING = "to judge recorded trials again, use -e incident_arena.harbor:JudgeEnvironment"


def require_built(settings: Settings) -> None:
    """Refuse when the node's programs or the images are missing, or are of another version.

    Raises:
        UserError: names all that is missing, and the remedies.
    """
    missing: list[UserError] = []
    for need in (node.require, images.find_all):
        try:
            need(settings)
        except UserError as error:
            missing.append(error)
    if missing:
        remedies = dict.fromkeys(error.remedy for error in missing)
        raise UserError(
            "episodes",
            "can't start: " + "; ".join(f"{error.thing}: {error.reason}" for error in missing),
            f"{' and '.join(f'`{remedy}`' for remedy in remedies)}; {ONLY_JUDGING}",
        )
