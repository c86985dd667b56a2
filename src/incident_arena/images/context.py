"""What goes into an image: its context as a list of files, the key over it, and the copy that is handed to buildah."""

import hashlib
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from incident_arena.errors import UserError
from incident_arena.images import bases
from incident_arena.images.recipes import Recipe

FORMAT = "1"
"""Part of every key: a change in the way images are made changes all keys."""

KEY_DIGITS = 16
SCRIPT = b"#!"
NEVER = frozenset({"__pycache__", ".ruff_cache", ".mypy_cache", ".DS_Store"})


@dataclass(frozen=True)
class Item:
    """A file of the context: where it is or what is in it, where it goes, and what names its content if not read."""

    source: Path | str
    to: str
    content_key: str = ""

    @property
    def executable(self) -> bool:
        """Whether it may be run: binaries and scripts, whatever rights an installer has left to them."""
        if isinstance(self.source, str):
            return False
        if self.content_key:
            return True
        with self.source.open("rb") as stream:
            return stream.read(len(SCRIPT)) == SCRIPT

    def content(self) -> bytes:
        """What is in it."""
        return self.source.encode() if isinstance(self.source, str) else self.source.read_bytes()


def items(recipe: Recipe, root: Path, binaries: Path) -> list[Item]:
    """All files of an image's context, by where they go.

    Args:
        recipe: the image.
        root: the package.
        binaries: the node's binaries (a link to a folder that is named by its content's key).

    Raises:
        UserError: a source or a binary is missing.
    """
    found = [Item(text, to) for to, text in recipe.made.items()]
    if recipe.folder is not None:
        found += [Item(path, str(path.relative_to(recipe.folder))) for path in _files(recipe.folder)]
    for source in recipe.extras.sources:
        path = root / source.path
        if not path.exists():
            raise UserError(f"image {recipe.name!r}", f"source {source.path} is missing")
        for file in _files(path, source.exclude, source.only):
            below = "" if file == path else f"/{file.relative_to(path)}"
            found.append(Item(file, f"{source.to}{below}"))
    for binary in recipe.extras.binaries:
        path = binaries / binary.name
        if not path.exists():
            raise UserError(f"image {recipe.name!r}", f"the node's {binary.name} is not built", "arena node build")
        found.append(Item(path, binary.name, binaries.resolve().name))
    return sorted(found, key=lambda item: item.to)


def key(recipe: Recipe, context: Sequence[Item], used: Mapping[str, str]) -> str:
    """Sixteen hex digits over everything that goes in.

    Args:
        recipe: the image.
        context: its files.
        used: keys of the images that it uses.
    """
    digest = hashlib.sha256(FORMAT.encode())
    if recipe.base is not None:
        digest.update(f"{bases.DOCKERFILE}{bases.APT}".encode())
    for name in sorted(recipe.uses):
        digest.update(f"\nuses {name} {used[name]}".encode())
    for item in context:
        content = item.content_key or hashlib.sha256(item.content()).hexdigest()
        digest.update(f"\nfile {item.to}\0{item.executable}\0{content}".encode())
    return digest.hexdigest()[:KEY_DIGITS]


def stage(context: Sequence[Item], folder: Path) -> None:
    """Copy the context to `folder`; times and rights are its own, so that layers can be reused."""
    for item in context:
        target = folder / item.to
        target.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(item.source, str):
            target.write_text(item.source)
        else:
            shutil.copyfile(item.source, target)
        target.chmod(0o755 if item.executable else 0o644)
    for path in [folder, *folder.rglob("*")]:
        if path.is_dir():
            path.chmod(0o755)
        os.utime(path, (0, 0))


def _files(path: Path, exclude: tuple[str, ...] = (), only: tuple[str, ...] = ()) -> Iterator[Path]:
    if path.is_file():
        if not only or path.name.endswith(only):
            yield path
        return
    for child in sorted(path.iterdir()):
        if child.name in NEVER or child.name in exclude or child.suffix == ".pyc":
            continue
        yield from _files(child, exclude, only)
