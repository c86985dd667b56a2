"""Which store is made for which images, and which stores are removed."""

import json
import os
import time
from pathlib import Path

from incident_arena.node import store
from incident_arena.node.spec import NodeSpec
from incident_arena.settings import Settings


def test_the_key_follows_the_images_not_their_order(tmp_path: Path) -> None:
    one, two = tmp_path / "a-1.tar", tmp_path / "b-2.tar"
    assert store.key({"a:1": one, "b:2": two}) == store.key({"b:2": two, "a:1": one})
    assert store.key({"a:1": one}) != store.key({"a:2": one})
    assert store.key({"a:1": one}) != store.key({"a:1": two})


def make(settings: Settings, name: str, contents: dict[str, Path]) -> Path:
    folder = settings.stores / name
    (folder / "root").mkdir(parents=True)
    listed = {reference: str(archive) for reference, archive in contents.items()}
    (folder / store.CONTENTS).write_text(json.dumps(listed))
    return folder


def test_a_store_that_has_more_serves_as_well(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    a, b, c = ({f"r/{name}:1": tmp_path / f"{name}-1.tar"} for name in "abc")
    wide = make(settings, "wide", a | b | c)
    narrow = make(settings, "narrow", a | b)
    make(settings, "store-x.tmp", a)
    assert store.prepare(settings, a, lambda _: None) == narrow
    assert store.prepare(settings, a | c, lambda _: None) == wide
    assert store._holding(settings, {"r/a:2": tmp_path / "a-2.tar"}) is None


def test_a_new_store_keeps_other_agents_images_but_no_old_ones(tmp_path: Path) -> None:
    held = {f"r/{name}:1": tmp_path / f"{name}-1.tar" for name in ("frappe", "agent-one", "agent-gone")}
    for archive in held.values():
        archive.touch()
    held["r/agent-gone:1"].unlink()
    asked = {"r/frappe:2": tmp_path / "frappe-2.tar", "r/agent-two:1": tmp_path / "agent-two-1.tar"}
    assert store.still_wanted(held, asked) == {"r/agent-one:1": tmp_path / "agent-one-1.tar"}


def test_only_old_stores_that_no_node_uses_are_removed(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    for name in ("kept", "used", "recent", "old"):
        folder = settings.stores / name
        folder.mkdir(parents=True)
        if name != "recent":
            os.utime(folder, (time.time() - 7200,) * 2)
    (settings.nodes / "n").mkdir(parents=True)
    (settings.nodes / "n" / "store").symlink_to(settings.stores / "used")
    store._prune(settings, settings.stores / "kept")
    assert {path.name for path in settings.stores.iterdir()} == {"kept", "used", "recent"}


def test_a_node_gets_its_own_databases_and_links_to_the_rest(tmp_path: Path) -> None:
    golden = tmp_path / "store"
    for database in store.DATABASES:
        (golden / "root" / database).parent.mkdir(parents=True)
        (golden / "root" / database).write_text("golden")
    (golden / "root" / store.SNAPSHOTTER / "snapshots" / "1" / "fs").mkdir(parents=True)
    blobs = golden / "root" / store.CONTENT / "blobs" / "sha256"
    blobs.mkdir(parents=True)
    (blobs / "abc").write_text("blob")
    folder = tmp_path / "node"
    folder.mkdir()
    spec = NodeSpec("n", 1, folder, tmp_path, "10.200", "c/n", "pause")
    store.link_into(golden, spec)
    own = folder / "containerd" / "root"
    (own / store.DATABASES[0]).write_text("changed")
    (own / store.CONTENT / "blobs" / "sha256" / "abc").unlink()
    (own / store.SNAPSHOTTER / "snapshots" / "1").unlink()
    assert (golden / "root" / store.DATABASES[0]).read_text() == "golden"
    assert (blobs / "abc").read_text() == "blob"
    assert (golden / "root" / store.SNAPSHOTTER / "snapshots" / "1" / "fs").is_dir()
