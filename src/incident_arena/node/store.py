"""The prepared image store: images are unpacked once, and each node starts with all of them.

A store is a containerd root into which the images were imported, in a folder named by what is in it, never changed
afterwards. A node gets copies of the two databases, a link to each unpacked snapshot, and hard links to the blobs,
so that nothing a node does to its images reaches the store.
"""

import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from pathlib import Path

from incident_arena import proc
from incident_arena.errors import InfrastructureError
from incident_arena.lock import locked
from incident_arena.node.spec import NodeSpec
from incident_arena.settings import Settings

METADATA = Path("io.containerd.metadata.v1.bolt")
SNAPSHOTTER = Path("io.containerd.snapshotter.v1.overlayfs")
CONTENT = Path("io.containerd.content.v1.content")
DATABASES = (METADATA / "meta.db", SNAPSHOTTER / "metadata.db")
IMAGES = "images.json"
DEADLINE_S = 1800.0

type Say = Callable[[str], None]


def key(archives: Mapping[str, Path]) -> str:
    """Sixteen hex digits over references and archive names, which are content keys themselves."""
    text = "\n".join(f"{reference} {archive.name}" for reference, archive in sorted(archives.items()))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def prepare(settings: Settings, archives: Mapping[str, Path], say: Say) -> Path:
    """Find or make the store that holds these images.

    Args:
        settings: where stores are.
        archives: reference to OCI archive.
        say: told what is being done.

    Returns:
        The store's folder.

    Raises:
        CommandError, InfrastructureError: containerd could not import an archive.
    """
    folder = settings.stores / key(archives)
    if folder.exists():
        os.utime(folder)
        return folder
    settings.stores.mkdir(parents=True, exist_ok=True)
    with locked(settings.stores / "lock", deadline_s=DEADLINE_S, waiting=say):
        if folder.exists():
            return folder
        for leftover in settings.stores.glob("*.tmp"):
            shutil.rmtree(leftover)
        temporary = Path(tempfile.mkdtemp(prefix="store-", suffix=".tmp", dir=settings.stores))
        held = _start_from_newest(settings, temporary)
        new = {reference: archive for reference, archive in archives.items() if reference not in held}
        say(f"unpacking {len(new)} of {len(archives)} images into the store")
        _import(settings, temporary, new, drop=held - set(archives))
        (temporary / IMAGES).write_text(json.dumps(sorted(archives)))
        _verify(temporary / "root", archives)
        temporary.rename(folder)
        _prune(settings, folder)
    return folder


def _start_from_newest(settings: Settings, folder: Path) -> set[str]:
    """Take over the newest store by hard links, so that only images that are new have to be unpacked.

    Returns:
        References of the images that it has.
    """
    stores = [path for path in settings.stores.iterdir() if (path / IMAGES).exists()]
    if not stores:
        return set()
    newest = max(stores, key=lambda path: path.stat().st_mtime)
    proc.run(["cp", "-al", newest / "root", folder / "root"], deadline_s=DEADLINE_S)
    for database in DATABASES:  # these are written in place, which a hard link would carry into the other store
        (folder / "root" / database).unlink()
        shutil.copy2(newest / "root" / database, folder / "root" / database)
    return set(json.loads((newest / IMAGES).read_text()))


def _import(settings: Settings, folder: Path, archives: Mapping[str, Path], drop: AbstractSet[str]) -> None:
    """Run a containerd for as long as the imports take, in namespaces of its own so that it leaves nothing."""
    config = folder / "containerd.toml"
    off = json.dumps([f"io.containerd.{part}" for part in ("grpc.v1.cri", "cri.v1.images", "cri.v1.runtime")])
    config.write_text(
        f'version = 3\nroot = "{folder}/root"\nstate = "{folder}/state"\ndisabled_plugins = {off}\n'
        f'[grpc]\n  address = "{folder}/sock"\n[ttrpc]\n  address = "{folder}/sock.ttrpc"\n'
    )
    ctr = f"{settings.bin}/ctr --address {folder}/sock --namespace k8s.io"
    script = [
        "set -eu",
        f"{settings.bin}/containerd --config {config} >{folder}/log 2>&1 &",
        f"until {ctr} version >/dev/null 2>&1; do kill -0 $!; sleep 0.05; done",
        *(f"{ctr} images import --local --snapshotter overlayfs {archive}" for archive in archives.values()),
        *(f"{ctr} images rm --sync {reference}" for reference in sorted(drop)),
        "kill -TERM $!; wait $! || true",
    ]
    argv = ["unshare", "--pid", "--fork", "--kill-child=KILL", "--mount", "--mount-proc", "--net"]
    proc.run([*argv, "sh", "-c", "\n".join(script)], deadline_s=DEADLINE_S)
    for leftover in ("state", "sock", "sock.ttrpc", "log"):
        path = folder / leftover
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


def _verify(root: Path, archives: Mapping[str, Path]) -> None:
    """The store has a snapshot at least for each image, and every reference is in its database."""
    database = (root / METADATA / "meta.db").read_bytes()
    missing = [reference for reference in archives if reference.encode() not in database]
    if missing or not any((root / SNAPSHOTTER / "snapshots").iterdir()):
        raise InfrastructureError(
            "image store", f"lacks {', '.join(missing) or 'snapshots'} after the import", "arena images build"
        )


def _prune(settings: Settings, keep: Path) -> None:
    """Remove stores that no node uses; a node's snapshots are links into its store.

    One that was asked for within the last hour stays: another process may be about to start a node with it.
    """
    used = {keep.resolve()}
    recent = time.time() - 3600
    for record in settings.nodes.glob("*/store"):
        used.add(record.resolve())
    for store in settings.stores.iterdir():
        if store.stat().st_mtime > recent:
            continue
        if store.is_dir() and store.resolve() not in used and not store.name.endswith(".tmp"):
            shutil.rmtree(store)


def link_into(store: Path, spec: NodeSpec) -> None:
    """Give a new node all images of the store."""
    golden, own = store / "root", spec.folder / "containerd" / "root"
    (spec.folder / "store").symlink_to(store)
    for database in DATABASES:
        (own / database.parent).mkdir(parents=True)
        shutil.copy2(golden / database, own / database)
    (own / SNAPSHOTTER / "snapshots").mkdir()
    for snapshot in (golden / SNAPSHOTTER / "snapshots").iterdir():
        (own / SNAPSHOTTER / "snapshots" / snapshot.name).symlink_to(snapshot)
    blobs = golden / CONTENT / "blobs" / "sha256"
    target = own / CONTENT / "blobs" / "sha256"
    target.mkdir(parents=True)
    (own / CONTENT / "ingest").mkdir()
    for blob in blobs.iterdir():
        os.link(blob, target / blob.name)
