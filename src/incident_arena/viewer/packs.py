"""Packs: documents in JSON, gzip and base64, in the page while there is room, else in files beside it."""

import base64
import gzip
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import BaseModel

from incident_arena.analysis import job_files
from incident_arena.viewer.model import Ref

PACK_BYTES = 384 * 1024
"""Documents are put together until this size, uncompressed: what they have in common is then stored once."""


def encode(document: bytes) -> str:
    """JSON to text that can stand in markup or in a string literal: nothing in base64's alphabet ends either."""
    return base64.b64encode(gzip.compress(document, 7, mtime=0)).decode("ascii")


def decode(text: str) -> bytes:
    """The inverse of `encode`."""
    return gzip.decompress(base64.b64decode(text))


@dataclass
class Packer:
    """Collects packs.

    Attributes:
        budget: characters of packs that may still stand in the page.
        folder: where further packs go, one file each.
        token: what each file carries, so that a page takes no other page's files.
        inside: packs in the page, by number.
        outside: numbers of the packs that are files.
    """

    budget: int
    folder: Path
    token: str
    inside: dict[int, str] = field(default_factory=dict)
    outside: list[int] = field(default_factory=list)
    _open: list[bytes] = field(default_factory=list)
    _open_bytes: int = 0
    _next: int = 0

    def add(self, document: BaseModel) -> Ref:
        """Put a document into the open pack."""
        data = document.model_dump_json(exclude_defaults=False).encode()
        if self._open and self._open_bytes + len(data) > PACK_BYTES:
            self.close()
        ref = (self._next, len(self._open))
        self._open.append(data)
        self._open_bytes += len(data)
        return ref

    def close(self) -> None:
        """End the open pack: documents that are added later go into another one."""
        if not self._open:
            return
        text = encode(b"[" + b",".join(self._open) + b"]")
        if len(text) <= self.budget:
            self.budget -= len(text)
            self.inside[self._next] = text
        else:
            self.budget = 0  # what matters most was added first: nothing later overtakes it
            self.folder.mkdir(parents=True, exist_ok=True)
            job_files.replace(self.folder, f"{self._next}.js", f'arenaPack("{self.token}",{self._next},"{text}");\n')
            self.outside.append(self._next)
        self._open, self._open_bytes = [], 0
        self._next += 1


def packs_beside(folder: Path) -> Iterator[Path]:
    """The files in a page's folder that this module wrote; none where it is a link, behind which is something else."""
    if folder.is_dir() and not folder.is_symlink():
        yield from (path for path in sorted(folder.glob("*.js")) if path.stem.isdigit())
