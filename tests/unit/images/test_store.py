"""Archives are verified before they get their name."""

from pathlib import Path

import pytest
from tests.unit.images import oci

from incident_arena.errors import InfrastructureError
from incident_arena.images import store

REFERENCE = "arena.local/a:0123456789abcdef"


def test_a_whole_archive_passes(tmp_path: Path) -> None:
    oci.write(tmp_path / "a.tar", REFERENCE)
    store.verify(tmp_path / "a.tar", REFERENCE)


def test_another_image_is_refused(tmp_path: Path) -> None:
    oci.write(tmp_path / "a.tar", "arena.local/b:1")
    with pytest.raises(InfrastructureError, match=r"not arena\.local/a"):
        store.verify(tmp_path / "a.tar", REFERENCE)


def test_a_blob_with_other_content_is_refused(tmp_path: Path) -> None:
    oci.write(tmp_path / "a.tar", REFERENCE, layer=b"changed", named=b"layer")
    with pytest.raises(InfrastructureError, match="other content"):
        store.verify(tmp_path / "a.tar", REFERENCE)


@pytest.mark.parametrize("keep", [0, 700, 2000])
def test_a_cut_archive_is_refused(tmp_path: Path, keep: int) -> None:
    archive = tmp_path / "a.tar"
    oci.write(archive, REFERENCE)
    archive.write_bytes(archive.read_bytes()[:keep])
    with pytest.raises(InfrastructureError) as caught:
        store.verify(archive, REFERENCE)
    assert caught.value.remedy == "arena images build"


def test_what_a_dead_build_left_is_removed_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "a-1.tar").touch()
    (tmp_path / "a-2.tar.tmp").touch()
    (tmp_path / "context-x").mkdir()
    (tmp_path / "storage").mkdir()
    store.remove_unfinished(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a-1.tar", "storage"]
