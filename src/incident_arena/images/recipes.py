"""Recipes: one folder an image, with either a Dockerfile or, for a base, a base.toml.

images/<name>/Dockerfile    FROM arena.local/<other> names the image that it builds on
images/<name>/image.toml    what else is copied into the build's context, may be missing:
    [[sources]]
    path = "src/incident_arena"     in the checkout
    to = "incident_arena"           in the context
    exclude = ["cli"]               names that are left out, at any depth
    only = "agent.packages"         the one name that is taken, at any depth
    [[binaries]]
    name = "coredns"                a binary of the node
    only_built_on = true            others are built on it, and no pod runs it
images/<name>/base.toml     suite = "bookworm", packages = ["ca-certificates"]: bootstrapped from Debian
"""

import re
import tomllib
from collections.abc import Collection, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from incident_arena.errors import UserError

REGISTRY = "arena.local"
_USES = re.compile(rf"^\s*(?:FROM\s+|COPY\s+--from=){re.escape(REGISTRY)}/([a-z0-9-]+)", re.MULTILINE | re.IGNORECASE)


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Source(_Part):
    """A file or folder of the checkout that goes into the context."""

    path: str
    to: str
    exclude: tuple[str, ...] = ()
    only: str = ""


class Binary(_Part):
    """One of the node's binaries that goes into the context, under its name."""

    name: str


class Extras(_Part):
    """image.toml."""

    sources: tuple[Source, ...] = ()
    binaries: tuple[Binary, ...] = ()
    only_built_on: bool = False


class Base(_Part):
    """base.toml."""

    suite: str
    packages: tuple[str, ...]


class Recipe(_Part):
    """One image's recipe.

    Attributes:
        name: the image's, without a version.
        folder: what is in it goes into the context; None when all of it is `made` or in `extras`.
        extras: what else goes in.
        base: when it is bootstrapped instead of built.
        uses: images that must be built before it.
        made: files of the context that are in no folder: where they go to their text.
        note: said when it is built.
    """

    name: str
    folder: Path | None
    extras: Extras = Extras()
    base: Base | None = None
    uses: tuple[str, ...] = ()
    made: Mapping[str, str] = {}
    note: str = ""

    @property
    def kept(self) -> bool:
        """Whether it has an archive; one that others are only built on has none."""
        return self.base is None and not self.extras.only_built_on


def checkout() -> Path:
    """The checkout's root: recipes and sources are not part of the installed package."""
    return Path(__file__).resolve().parents[3]


def load_all(root: Path) -> dict[str, Recipe]:
    """Read every recipe under `root`/images, those that others use first.

    Raises:
        UserError: a recipe can't be read, names an image that there is none of, or uses itself.
    """
    folders = [path for path in sorted((root / "images").iterdir()) if path.is_dir()]
    return ordered({path.name: recipe for path in folders if (recipe := _load(path))})


def ordered(recipes: Mapping[str, Recipe]) -> dict[str, Recipe]:
    """The same recipes, those that others use first.

    Raises:
        UserError: one names an image that there is none of, or uses itself.
    """
    for recipe in recipes.values():
        if unknown := sorted(set(recipe.uses) - set(recipes)):
            raise UserError(f"image {recipe.name!r}", f"uses {unknown[0]!r}", f"known are: {', '.join(recipes)}")
    return {name: recipes[name] for name in _ordered({name: recipe.uses for name, recipe in recipes.items()})}


def with_uses(recipes: Mapping[str, Recipe], names: Collection[str]) -> dict[str, Recipe]:
    """Those of `names` and all that they are built on, in the order of `recipes`.

    Raises:
        UserError: no such image.
    """
    if unknown := sorted(set(names) - set(recipes)):
        raise UserError(f"image {unknown[0]!r}", "is unknown", f"known are: {', '.join(sorted(recipes))}")
    wanted, todo = set[str](), list(names)
    while todo:
        if (name := todo.pop()) not in wanted:
            wanted.add(name)
            todo += recipes[name].uses
    return {name: recipe for name, recipe in recipes.items() if name in wanted}


def used_by(dockerfile: str) -> tuple[str, ...]:
    """The images that a Dockerfile names."""
    return tuple(dict.fromkeys(_USES.findall(dockerfile)))


def _ordered(uses: Mapping[str, tuple[str, ...]]) -> list[str]:
    try:
        return list(TopologicalSorter(uses).static_order())
    except CycleError as error:
        raise UserError("images", f"use each other in a circle: {', '.join(error.args[1])}") from None


def _load(folder: Path) -> Recipe | None:
    dockerfile, base, extras = folder / "Dockerfile", folder / "base.toml", folder / "image.toml"
    try:
        if base.exists():
            return Recipe(name=folder.name, folder=folder, base=Base.model_validate(tomllib.loads(base.read_text())))
        if not dockerfile.exists():
            return None
        more = Extras.model_validate(tomllib.loads(extras.read_text()) if extras.exists() else {})
    except (ValidationError, tomllib.TOMLDecodeError) as error:
        raise UserError(f"image {folder.name!r}", f"its recipe can't be read: {error}") from None
    return Recipe(name=folder.name, folder=folder, extras=more, uses=used_by(dockerfile.read_text()))
