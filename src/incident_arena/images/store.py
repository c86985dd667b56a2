"""Archives of built images: `<name>-<key>.tar`, written so that a build that dies leaves a good store."""

import hashlib
import json
import shutil
import tarfile
from pathlib import Path
from typing import IO

from incident_arena.errors import InfrastructureError

_CHUNK = 1 << 20


def verify(archive: Path, reference: str) -> None:
    """Check that an OCI archive holds that image whole.

    Raises:
        InfrastructureError: it names another image, lacks a blob, or a blob is not what its name says.
    """
    try:
        with tarfile.open(archive, "r:") as tar:
            index = json.load(_open(tar, "index.json"))
            names = [
                entry.get("annotations", {}).get("org.opencontainers.image.ref.name") for entry in index["manifests"]
            ]
            if names != [reference]:
                raise _broken(archive, f"holds {names}, not {reference}")
            manifest_digest = index["manifests"][0]["digest"]
            manifest = json.load(_open(tar, _blob(manifest_digest)))
            for digest in [
                manifest_digest,
                manifest["config"]["digest"],
                *(one["digest"] for one in manifest["layers"]),
            ]:
                if _sha256(_open(tar, _blob(digest))) != digest:
                    raise _broken(archive, f"blob {digest} has other content")
    except (tarfile.TarError, KeyError, ValueError, EOFError) as error:
        raise _broken(archive, f"can't be read: {error}") from None


def remove_unfinished(folder: Path) -> None:
    """Remove what a build that died has left. The lock must be held."""
    for leftover in folder.glob("*.tmp"):
        leftover.unlink()
    for leftover in folder.glob("context-*"):
        shutil.rmtree(leftover)


def _open(tar: tarfile.TarFile, name: str) -> IO[bytes]:
    member = tar.extractfile(name)
    if member is None:
        raise KeyError(name)
    return member


def _blob(digest: str) -> str:
    return f"blobs/{digest.replace(':', '/', 1)}"


def _sha256(file: IO[bytes]) -> str:
    digest = hashlib.sha256()
    while chunk := file.read(_CHUNK):
        digest.update(chunk)
    return f"sha256:{digest.hexdigest()}"


def _broken(archive: Path, reason: str) -> InfrastructureError:
    return InfrastructureError(f"image archive {archive.name}", reason, "arena images build")
