"""Build what is not built yet: unchanged is never rebuilt, changed always is."""

import tempfile
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from incident_arena import folders
from incident_arena.errors import InfrastructureError, UserError
from incident_arena.images import agents, bases, context, recipes, store
from incident_arena.images.buildah import Buildah
from incident_arena.images.recipes import REGISTRY, Recipe
from incident_arena.lock import locked
from incident_arena.proc import CommandError
from incident_arena.progress import Say, step
from incident_arena.settings import Settings

LOCK_S = 7200.0
ETC_APT = Path("/etc/apt")


@dataclass(frozen=True)
class BuiltImage:
    """An image: its name, the key over what goes in, its full reference, and its OCI archive."""

    name: str
    key: str
    reference: str
    archive: Path


@dataclass(frozen=True)
class Planned:
    """An image as it has to be for these sources, built or not."""

    recipe: Recipe
    context: tuple[context.Item, ...]
    image: BuiltImage

    @property
    def built(self) -> bool:
        """Whether its archive is there. What others are only built on has none."""
        return self.recipe.kept and self.image.archive.exists()


def plan(settings: Settings, root: Path, names: Collection[str]) -> dict[str, Planned]:
    """Key these images and what they are built on; those that others use come first.

    Args:
        settings: where archives and binaries are, and substrates besides this package's.
        root: the package.
        names: of images; an agent's may have a version (see images.agents).

    Raises:
        UserError: no such image, a recipe is wrong, or something that goes in is missing.
    """
    planned: dict[str, Planned] = {}
    known = recipes.ordered({**recipes.load_all(root, settings.substrates), **agents.image_recipes(root, names)})
    for name, recipe in recipes.with_uses(known, names).items():
        items = tuple(context.items(recipe, root, settings.bin))
        key = context.key(recipe, items, {used: planned[used].image.key for used in recipe.uses})
        reference, archive = f"{REGISTRY}/{recipe.name}:{key}", settings.images / f"{recipe.name}-{key}.tar"
        planned[name] = Planned(recipe, items, BuiltImage(name, key, reference, archive))
    return planned


def plain_names(settings: Settings, root: Path | None = None) -> tuple[str, ...]:
    """The images that pods of some task run, without agents' own: all recipes that are not only built on."""
    known = recipes.load_all(root or folders.PACKAGE, settings.substrates)
    return tuple(name for name, recipe in known.items() if recipe.kept)


def list_images(settings: Settings, names: Collection[str], root: Path | None = None) -> list[Planned]:
    """These images, built or not.

    Raises:
        UserError: as `plan`.
    """
    planned = plan(settings, root or folders.PACKAGE, names)
    return [planned[name] for name in planned if name in names]


def find_images(settings: Settings, names: Collection[str], root: Path | None = None) -> dict[str, BuiltImage]:
    """These images, by name.

    Raises:
        UserError: some are not built for what the sources are now; it names them.
    """
    planned = list_images(settings, names, root)
    if missing := [one.image.name for one in planned if not one.built]:
        baked = [name.removeprefix(f"{agents.PLAIN}-") for name in missing if name.startswith(f"{agents.PLAIN}-")]
        verbs = ["arena images build"] if len(baked) < len(missing) else []
        remedy = " and ".join([*verbs, *(f"arena agents build {name}" for name in baked)])
        raise UserError("images", f"not built, or changed since: {', '.join(missing)}", remedy)
    return {one.image.name: one.image for one in planned}


def build_images(
    settings: Settings, names: Collection[str], say: Say, root: Path | None = None
) -> dict[str, BuiltImage]:
    """Build those of these images that are not built for what the sources are now.

    Args:
        settings: where archives are.
        names: of images; what they are built on is built too.
        say: told when each begins and has ended, and of waiting for another process that builds.
        root: the package; this one when None.

    Raises:
        UserError: not root, no such image, or a recipe is wrong.
        InfrastructureError: a build failed, with the end of its log and where that is; or an archive came out broken.
    """
    root = root or folders.PACKAGE
    settings.images.mkdir(parents=True, exist_ok=True)
    with locked(settings.images / "lock", deadline_s=LOCK_S, waiting=say):
        store.remove_unfinished(settings.images)
        planned = plan(settings, root, names)
        todo = [planned[name] for name in planned if name in names and not planned[name].built]
        if todo:
            builder = _Builder(settings, planned, Buildah.open(settings.images / "storage"), say)
            for one in todo:
                builder.archive(one)
    return {name: one.image for name, one in planned.items() if name in names}


class _Builder:
    def __init__(self, settings: Settings, planned: dict[str, Planned], buildah: Buildah, say: Say) -> None:
        self.logs = settings.images / "logs"
        self.logs.mkdir(exist_ok=True)
        self.planned = planned
        self.buildah = buildah
        self.say = say

    def archive(self, one: Planned) -> None:
        """Build an image and write its archive: to a temporary name, verified, then renamed."""
        self._have(one)
        temporary = one.image.archive.with_suffix(".tar.tmp")
        with step(self.say, f"writing image {one.image.name}", f"wrote image {one.image.name}"):
            self.buildah.push(one.image.reference, temporary)
            store.verify(temporary, one.image.reference)
            temporary.rename(one.image.archive)

    def _have(self, one: Planned) -> None:
        """Have an image in buildah's storage, and before it what it uses."""
        if self.buildah.has(one.image.reference):
            return
        if one.built:
            self.buildah.pull(one.image.archive)
            return
        used = {name: self.planned[name] for name in one.recipe.uses}
        for other in used.values():
            self._have(other)
        name = one.image.name
        if one.recipe.note:
            self.say(one.recipe.note)
        with step(self.say, f"building image {name} ({one.image.key})", f"built image {name}"):
            self._build(one, {f"{REGISTRY}/{name}": other.image.reference for name, other in used.items()})

    def _build(self, one: Planned, references: dict[str, str]) -> None:
        log = self.logs / f"{one.recipe.name}-{one.image.key}.log"
        with tempfile.TemporaryDirectory(prefix="context-", dir=self.logs.parent) as name:
            folder = Path(name)
            try:
                if one.recipe.base is not None:
                    bases.bootstrap(one.recipe.base, folder, ETC_APT, log)
                else:
                    context.stage(one.context, folder)
                self.buildah.build(one.image.reference, folder, references, log)
            except CommandError as error:
                thing = f"image {one.image.name!r}"
                raise InfrastructureError(thing, f"its build {error.reason}", f"read the whole log: {log}") from error
