"""The prepared image store: images are unpacked once, and each node starts with all of them.

A store is a containerd root into which the images were imported, in a folder named by what is in it, never changed
afterwards. One that has more than is asked for serves as well, and a new one keeps what the newest had: so a store
grows with each agent's image that is used, and going back to another agent unpacks nothing. An image that was built
anew takes the place of the one before. A node gets copies of the two databases, a link to each unpacked snapshot, and
hard links to the blobs, so that nothing a node does to its images reaches the store.
"""

import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from pathlib import Path

from incident_arena import proc
from incident_arena.errors import InfrastructureError
from incident_arena.lock import locked
from incident_arena.node.spec import NodeSpec
from incident_arena.progress import Say, step
from incident_arena.settings import Settings

METADATA = Path("io.containerd.metadata.v1.bolt")
SNAPSHOTTER = Path("io.containerd.snapshotter.v1.overlayfs")
CONTENT = Path("io.containerd.content.v1.content")
DATABASES = (METADATA / "meta.db", SNAPSHOTTER / "metadata.db")
CONTENTS = "contents.json"
"""Reference → archive of each image that a store has."""
DEADLINE_S = 1800.0


def key(archives: Mapping[str, Path]) -> str:
    """Sixteen hex digits over references and archive names, which are content keys themselves."""
    text = "\n".join(f"{reference} {archive.name}" for reference, archive in sorted(archives.items()))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def prepare(settings: Settings, archives: Mapping[str, Path], say: Say) -> Path:
    """Find or make a store that holds these images.

    Args:
        settings: where stores are.
        archives: reference to OCI archive.
        say: told what is being done.

    Returns:
        The store's folder.

    Raises:
        CommandError, InfrastructureError: containerd could not import an archive.
    """
    if found := _holding(settings, archives):
        return found
    settings.stores.mkdir(parents=True, exist_ok=True)
    with locked(settings.stores / "lock", deadline_s=DEADLINE_S, waiting=say):
        if found := _holding(settings, archives):
            return found
        for leftover in settings.stores.glob("*.tmp"):
            shutil.rmtree(leftover)
        temporary = Path(tempfile.mkdtemp(prefix="store-", suffix=".tmp", dir=settings.stores))
        held = _start_from_newest(settings, temporary)
        contents = {**still_wanted(held, archives), **archives}
        new = {reference: archive for reference, archive in archives.items() if reference not in held}
        count = f"{len(new)} of {len(archives)} images"
        with step(say, f"unpacking {count} into the store", f"unpacked {count}"):
            _import(settings, temporary, new, drop=set(held) - set(contents))
        listed = {reference: str(archive) for reference, archive in sorted(contents.items())}
        (temporary / CONTENTS).write_text(json.dumps(listed))
        _verify(temporary / "root", contents)
        folder = settings.stores / key(contents)
        temporary.rename(folder)
        _prune(settings, folder)
    return folder


def still_wanted(held: Mapping[str, Path], asked: Mapping[str, Path]) -> dict[str, Path]:
    """What a new store keeps of the newest: images that are still built and have no newer one among those asked for."""
    renewed = {reference.rpartition(":")[0] for reference in asked}
    return {
        reference: archive
        for reference, archive in held.items()
        if archive.exists() and reference.rpartition(":")[0] not in renewed
    }


def _holding(settings: Settings, archives: Mapping[str, Path]) -> Path | None:
    """The smallest store that has them all, noted as used just now."""
    stores = {path: _contents(path) for path in _stores(settings)}
    found = [path for path, contents in stores.items() if archives.items() <= contents.items()]
    if not found:
        return None
    smallest = min(found, key=lambda path: len(stores[path]))
    os.utime(smallest)
    return smallest


def _stores(settings: Settings) -> list[Path]:
    return [path.parent for path in settings.stores.glob(f"*/{CONTENTS}") if path.parent.suffix != ".tmp"]


def _contents(store: Path) -> dict[str, Path]:
    listed = json.loads((store / CONTENTS).read_text())
    return {reference: Path(archive) for reference, archive in listed.items()}


def _start_from_newest(settings: Settings, folder: Path) -> dict[str, Path]:
    """Take over the newest store by hard links, so that only images that are new have to be unpacked.

    Returns:
        Reference → archive of the images that it has.
    """
    stores = _stores(settings)
    if not stores:
        return {}
    newest = max(stores, key=lambda path: path.stat().st_mtime)
    proc.run(["cp", "-al", newest / "root", folder / "root"], deadline_s=DEADLINE_S)
    for database in DATABASES:  # these are written in place, which a hard link would carry into the other store
        (folder / "root" / database).unlink()
        shutil.copy2(newest / "root" / database, folder / "root" / database)
    return _contents(newest)


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
