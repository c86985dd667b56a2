"""What must be there before an episode can start; nothing is built then."""

from incident_arena.errors import UserError
from incident_arena.settings import Settings

PROGRAMS = ("kubectl", "helm")
REMEDY = "run `arena setup`; only to judge recorded trials again, use -e incident_arena.harbor:JudgeEnvironment"


def require_built(settings: Settings) -> None:
    """Refuse when the node's programs or the images are missing.

    Raises:
        UserError: names what is missing, and the remedy.
    """
    missing = [f"program {settings.bin / name}" for name in PROGRAMS if not (settings.bin / name).exists()]
    if not any(settings.images.glob("*.tar")):
        missing.append(f"images in {settings.images}")
    if missing:
        raise UserError("the node", f"is not built; missing: {', '.join(missing)}", REMEDY)
