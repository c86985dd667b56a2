"""Where a task's proof is: beside the task; of an installed package, which is left as it is, below ARENA_HOME."""

from pathlib import Path

from incident_arena import folders
from incident_arena.catalogue.finding import Catalogue
from incident_arena.formats.proof import FILE, Proof, read
from incident_arena.settings import Settings


def place(settings: Settings, catalogue: Catalogue, name: str) -> Path:
    """Where a task's proof is written.

    Raises:
        UserError: there is no such task.
    """
    folder = catalogue.folder(name)
    if folder.is_relative_to(folders.PACKAGE) and folders.checkout() is None:
        return settings.home / "proofs" / name / FILE
    return folder / FILE


def find(settings: Settings, catalogue: Catalogue, name: str) -> Proof | None:
    """A task's proof: what was proven here, else what came with the task; None when there is none.

    Raises:
        UserError: there is no such task, or its proof can't be read.
    """
    return read(place(settings, catalogue, name)) or read(catalogue.folder(name) / FILE)
