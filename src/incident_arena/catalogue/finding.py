"""The tasks: `substrates/<substrate>/tasks/<name>/`, with what they build on in their substrates and in `surfaces/`."""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from incident_arena import charts, folders
from incident_arena.errors import UserError
from incident_arena.formats.task import TaskSpec
from incident_arena.mistakes import mistakes
from incident_arena.settings import Settings

TASKS = "tasks"
SPEC = "task.toml"


@dataclass(frozen=True)
class Catalogue:
    """What a package's folder holds, with substrates that stand elsewhere."""

    root: Path
    others: tuple[Path, ...] = ()

    @property
    def substrates(self) -> dict[str, Path]:
        """The folder of each substrate by its name, sorted.

        Raises:
            UserError: one that stands elsewhere is not there.
        """
        return folders.substrates(self.root, self.others)

    @property
    def surfaces(self) -> Path:
        """One folder a surface."""
        return self.root / "surfaces"

    @property
    def harness(self) -> Path:
        """The chart that every substrate's chart gets as a part."""
        return self.root / "harness" / "chart"

    def tasks(self) -> dict[str, Path]:
        """The folder of each task by its name, sorted."""
        found = {
            f"{name}/{path.parent.name}": path.parent
            for name, folder in self.substrates.items()
            for path in folder.glob(f"{TASKS}/*/{SPEC}")
        }
        return dict(sorted(found.items()))

    def names(self) -> list[str]:
        """Names of all tasks, sorted."""
        return list(self.tasks())

    def surface_names(self) -> list[str]:
        """Names of all surfaces, sorted."""
        return sorted(path.name for path in self.surfaces.iterdir() if path.is_dir()) if self.surfaces.exists() else []

    def application(self, substrate: str) -> dict[str, Any]:
        """What a substrate's chart tells the harness of its application; empty without such a chart.

        Raises:
            UserError: there is no such substrate.
        """
        return charts.application(self.substrate(substrate) / "chart")

    def kinds(self, substrate: str) -> dict[str, str]:
        """Kind of each of a substrate's stores, by its name."""
        return charts.kinds(self.substrate(substrate) / "chart")

    def components(self, substrate: str) -> tuple[str, ...]:
        """Names of a substrate's components, sorted."""
        return tuple(sorted(self.application(substrate).get("components") or {}))

    def substrate(self, name: str) -> Path:
        """A substrate's folder.

        Raises:
            UserError: there is no such substrate; lists those that exist.
        """
        known = self.substrates
        if name not in known:
            raise UserError(
                f"substrate {name!r}", "there is no such substrate", f"one of: {', '.join(known) or 'none'}"
            )
        return known[name]

    def folder(self, name: str) -> Path:
        """A task's folder.

        Raises:
            UserError: there is no such task; lists those that exist.
        """
        known = self.tasks()
        if name not in known:
            raise UserError(f"task {name!r}", "there is no such task", f"one of: {', '.join(known) or 'none'}")
        return known[name]

    def load(self, name: str) -> TaskSpec:
        """A task's facts.

        Raises:
            UserError: no such task, or its task.toml is wrong; all that is wrong at once.
        """
        return read(self.folder(name), name)


def find(settings: Settings) -> Catalogue:
    """The tasks of this package, and those of the substrates that the settings name."""
    return Catalogue(folders.PACKAGE, settings.substrates)


def read(folder: Path, name: str) -> TaskSpec:
    """Read a task folder's task.toml; the `name` in it may be left out.

    Raises:
        UserError: it is wrong; one line for each mistake.
    """
    try:
        facts: dict[str, Any] = tomllib.loads((folder / SPEC).read_text())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise UserError(f"{folder.name}/{SPEC}", str(error)) from error
    try:
        spec = TaskSpec.model_validate({"name": name} | facts)
    except ValidationError as error:
        wrong = mistakes(error, "task")
        raise UserError(f"task {name!r}", "\n  " + "\n  ".join(wrong), f"mend {SPEC}") from error
    if spec.name != name:
        raise UserError(f"task {name!r}", f"its task.toml says name = {spec.name!r}", "the name is the folder's")
    return spec
