"""The tasks of a checkout: `tasks/<substrate>/<name>/`, with what they build on in `substrates/` and `surfaces/`."""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from incident_arena.errors import UserError
from incident_arena.formats.task import TaskSpec

SPEC = "task.toml"


@dataclass(frozen=True)
class Catalogue:
    """A checkout's folders."""

    root: Path

    @property
    def tasks(self) -> Path:
        """One folder a substrate, in it one a task."""
        return self.root / "tasks"

    @property
    def substrates(self) -> Path:
        """One folder a substrate; `harness` is the part that all share."""
        return self.root / "substrates"

    @property
    def surfaces(self) -> Path:
        """One folder a surface."""
        return self.root / "surfaces"

    def names(self) -> list[str]:
        """Names of all tasks, sorted."""
        return sorted(f"{path.parent.parent.name}/{path.parent.name}" for path in self.tasks.glob(f"*/*/{SPEC}"))

    def substrate_names(self) -> list[str]:
        """Names of all substrates that a task can have, sorted."""
        return sorted(path.parent.name for path in self.substrates.glob("*/chart") if path.parent.name != "harness")

    def surface_names(self) -> list[str]:
        """Names of all surfaces, sorted."""
        return sorted(path.name for path in self.surfaces.iterdir() if path.is_dir()) if self.surfaces.exists() else []

    def application(self, substrate: str) -> dict[str, Any]:
        """What a substrate's chart tells the harness of its application; empty without such a chart."""
        values = self.substrates / substrate / "chart" / "values.yaml"
        told = yaml.safe_load(values.read_text()) if values.is_file() else None
        found = ((told or {}).get("harness") or {}).get("application")
        return found if isinstance(found, dict) else {}

    def kinds(self, substrate: str) -> dict[str, str]:
        """Kind of each of a substrate's stores, by its name."""
        return {str(each["name"]): str(each["kind"]) for each in self.application(substrate).get("stores") or []}

    def components(self, substrate: str) -> tuple[str, ...]:
        """Names of a substrate's components, sorted."""
        return tuple(sorted(self.application(substrate).get("components") or {}))

    def folder(self, name: str) -> Path:
        """A task's folder.

        Raises:
            UserError: there is no such task; lists those that exist.
        """
        folder = self.tasks / name
        if name.count("/") != 1 or not (folder / SPEC).is_file():
            raise UserError(f"task {name!r}", "there is no such task", f"one of: {', '.join(self.names()) or 'none'}")
        return folder

    def load(self, name: str) -> TaskSpec:
        """A task's facts.

        Raises:
            UserError: no such task, or its task.toml is wrong; all that is wrong at once.
        """
        return read(self.folder(name))


def find(start: Path | None = None) -> Catalogue:
    """The checkout around a folder (this process's own when None), else the one that this product runs from.

    Raises:
        UserError: there is none.
    """
    here = (start or Path.cwd()).resolve()
    for root in (here, *here.parents, Path(__file__).resolve().parents[3]):
        if (root / "tasks").is_dir() and (root / "substrates").is_dir():
            return Catalogue(root)
    raise UserError("tasks", f"no checkout with tasks/ and substrates/ at or above {here}", "run it in a checkout")


def read(folder: Path) -> TaskSpec:
    """Read a task folder's task.toml; its `name` may be left out.

    Raises:
        UserError: it is wrong; one line for each mistake.
    """
    try:
        facts: dict[str, Any] = tomllib.loads((folder / SPEC).read_text())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise UserError(f"{folder.name}/{SPEC}", str(error)) from error
    name = f"{folder.parent.name}/{folder.name}"
    try:
        spec = TaskSpec.model_validate({"name": name} | facts)
    except ValidationError as error:
        mistakes = [
            f"{'.'.join(map(str, each['loc'])) or 'task'}: {each['msg']}" for each in error.errors(include_url=False)
        ]
        raise UserError(f"task {name!r}", "\n  " + "\n  ".join(mistakes), f"mend {SPEC}") from error
    if spec.name != name:
        raise UserError(f"task {name!r}", f"its task.toml says name = {spec.name!r}", "the name is the folder's")
    return spec
