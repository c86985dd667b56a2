"""Build what is not built yet: unchanged is never rebuilt, changed always is."""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from incident_arena.errors import UserError
from incident_arena.images import bases, context, recipes, store
from incident_arena.images.buildah import Buildah
from incident_arena.images.recipes import REGISTRY, Recipe
from incident_arena.lock import locked
from incident_arena.settings import Settings

LOCK_S = 7200.0
ETC_APT = Path("/etc/apt")

type Progress = Callable[[str], None]


@dataclass(frozen=True)
class BuiltImage:
    """An image: its name, the key over what goes in, its full reference, and its OCI archive."""

    name: str
    key: str
    reference: str
    archive: Path


@dataclass(frozen=True)
class Planned:
    """An image as it has to be for this checkout, built or not."""

    recipe: Recipe
    context: tuple[context.Item, ...]
    image: BuiltImage

    @property
    def built(self) -> bool:
        """Whether its archive is there. A base has none: it is only built on."""
        return self.recipe.base is None and self.image.archive.exists()


def plan(settings: Settings, root: Path) -> dict[str, Planned]:
    """Key every image of the checkout at `root`; those that others use come first.

    Raises:
        UserError: a recipe is wrong, or something that goes in is missing.
    """
    planned: dict[str, Planned] = {}
    for name, recipe in recipes.load_all(root).items():
        items = tuple(context.items(recipe, root, settings.bin))
        key = context.key(recipe, items, {used: planned[used].image.key for used in recipe.uses})
        image = BuiltImage(name, key, f"{REGISTRY}/{name}:{key}", settings.images / f"{name}-{key}.tar")
        planned[name] = Planned(recipe, items, image)
    return planned


def list_all(settings: Settings, root: Path | None = None) -> list[Planned]:
    """All images but the bases, built or not."""
    return [one for one in plan(settings, root or recipes.checkout()).values() if one.recipe.base is None]


def find_all(settings: Settings, root: Path | None = None) -> dict[str, BuiltImage]:
    """All images, by name.

    Raises:
        UserError: some are not built for what the checkout holds now; it names them.
    """
    planned = list_all(settings, root)
    if missing := [one.image.name for one in planned if not one.built]:
        raise UserError("images", f"not built, or changed since: {', '.join(missing)}", "arena images build")
    return {one.image.name: one.image for one in planned}


def build_all(settings: Settings, progress: Progress, root: Path | None = None) -> dict[str, BuiltImage]:
    """Build every image that is not built for what the checkout holds now.

    Args:
        settings: where archives are.
        progress: told of each image that is built, and of waiting for another process that builds.
        root: the checkout; this one when None.

    Raises:
        UserError: not root, or a recipe is wrong.
        CommandError: a build failed; its output is in `logs/` beside the archives.
        InfrastructureError: an archive came out broken.
    """
    root = root or recipes.checkout()
    settings.images.mkdir(parents=True, exist_ok=True)
    with locked(settings.images / "lock", deadline_s=LOCK_S, waiting=progress):
        store.remove_unfinished(settings.images)
        planned = plan(settings, root)
        todo = [one for one in planned.values() if one.recipe.base is None and not one.built]
        if todo:
            builder = _Builder(settings, planned, Buildah.open(settings.images / "storage"), progress)
            for one in todo:
                builder.archive(one)
    return {name: one.image for name, one in planned.items() if one.recipe.base is None}


class _Builder:
    def __init__(self, settings: Settings, planned: dict[str, Planned], buildah: Buildah, progress: Progress) -> None:
        self.logs = settings.images / "logs"
        self.logs.mkdir(exist_ok=True)
        self.planned = planned
        self.buildah = buildah
        self.progress = progress

    def archive(self, one: Planned) -> None:
        """Build an image and write its archive: to a temporary name, verified, then renamed."""
        self._have(one)
        temporary = one.image.archive.with_suffix(".tar.tmp")
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
        self.progress(f"building image {one.image.name} ({one.image.key})")
        log = self.logs / f"{one.image.name}-{one.image.key}.log"
        with tempfile.TemporaryDirectory(prefix="context-", dir=self.logs.parent) as name:
            folder = Path(name)
            if one.recipe.base is None:
                context.stage(one.context, folder)
            else:
                bases.bootstrap(one.recipe.base, folder, ETC_APT, log)
            references = {f"{REGISTRY}/{used_name}": other.image.reference for used_name, other in used.items()}
            self.buildah.build(one.image.reference, folder, references, log)
