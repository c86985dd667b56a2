"""Recipes: one folder an image, with either a Dockerfile or, for a base, a base.toml.

They are in images/recipes/, in the folder images/ of a store and of a substrate, each folder named as its image:

Dockerfile    FROM arena.local/<other> names the image that it builds on
image.toml    what else is copied into the build's context, may be missing:
    [[sources]]
    path = "services"               in this package; "." is all of it
    to = "incident_arena/services"  in the context
    exclude = ["gateway"]           names that are left out, at any depth
    only = [".py"]                  endings of the files that are taken; all when it is missing
    [[binaries]]
    name = "coredns"                a binary of the node
    only_built_on = true            others are built on it, and no pod runs it
base.toml     suite = "bookworm", packages = ["ca-certificates"]: bootstrapped from Debian
"""

import re
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from incident_arena import folders
from incident_arena.errors import UserError

REGISTRY = "arena.local"
_USES = re.compile(rf"^\s*(?:FROM\s+|COPY\s+--from=){re.escape(REGISTRY)}/([a-z0-9-]+)", re.MULTILINE | re.IGNORECASE)


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Source(_Part):
    """A file or folder of this package that goes into the context."""

    path: str
    to: str
    exclude: tuple[str, ...] = ()
    only: tuple[str, ...] = ()


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


def load_all(root: Path, others: Sequence[Path] = ()) -> dict[str, Recipe]:
    """Read every recipe, those that others use first.

    Args:
        root: this package's folder.
        others: folders of substrates that stand elsewhere.

    Raises:
        UserError: a recipe can't be read, names an image that there is none of, uses itself, or has another's name.
    """
    found: dict[str, Recipe] = {}
    for folder in _folders(root, others):
        recipe = _load(folder)
        if recipe and recipe.name in found:
            raise UserError(f"image {recipe.name!r}", f"has two recipes: {found[recipe.name].folder}, {folder}")
        if recipe:
            found[recipe.name] = recipe
    return ordered(found)


def _folders(root: Path, others: Sequence[Path]) -> Iterator[Path]:
    places = [root / "images" / "recipes", *sorted(root.glob("stores/*/images"))]
    places += [folder / "images" for folder in folders.substrates(root, others).values()]
    for place in places:
        yield from sorted(path for path in place.glob("*") if path.is_dir())


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
