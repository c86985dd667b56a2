import io
import tarfile
from pathlib import Path

import pytest

from incident_arena.kube import TransferError, transfer


def archive(path: Path, *members: tuple[tarfile.TarInfo, bytes]) -> Path:
    with tarfile.open(path, "w") as stream:
        for info, data in members:
            info.size = len(data)
            stream.addfile(info, io.BytesIO(data))
    return path


def member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.mode = kind, link, 0o6777
    return info


def test_hostile_members_are_left_out_and_named(tmp_path: Path) -> None:
    tar = archive(
        tmp_path / "a.tar",
        (member("./ok"), b"fine"),
        (member("../../escape"), b"x"),
        (member("./out", tarfile.SYMTYPE, "/etc/passwd"), b""),
        (member("./up", tarfile.SYMTYPE, "../.."), b""),
        (member("./up/through"), b"x"),
        (member("./hard", tarfile.LNKTYPE, "../../etc/passwd"), b""),
        (member("./pipe", tarfile.FIFOTYPE), b""),
        (member("./dev", tarfile.CHRTYPE), b""),
    )
    target = tmp_path / "deep" / "er" / "target"
    refused = transfer.unpack(tar, target)
    assert (target / "ok").read_bytes() == b"fine"
    assert not (target / "ok").stat().st_mode & 0o6000
    assert sorted(path.name for path in target.iterdir()) == ["ok", "up"]
    assert (target / "up").is_dir()
    assert not (target / "up").is_symlink()
    assert not (tmp_path / "escape").exists()
    assert len(refused) == 6


def test_absolute_names_stay_inside(tmp_path: Path) -> None:
    tar = archive(tmp_path / "a.tar", (member("/abs/file"), b"x"))
    transfer.unpack(tar, tmp_path / "target")
    assert (tmp_path / "target" / "abs" / "file").exists()


def test_too_large_is_an_error(tmp_path: Path) -> None:
    tar = archive(tmp_path / "a.tar", (member("./a"), b"x" * 600), (member("./b"), b"x" * 600))
    with pytest.raises(TransferError, match="larger than 1000"):
        transfer.unpack(tar, tmp_path / "target", limit=1000)


def test_a_cut_off_archive_is_an_error(tmp_path: Path) -> None:
    tar = archive(tmp_path / "a.tar", (member("./a"), b"x" * 6000))
    tar.write_bytes(tar.read_bytes()[:3000])
    with pytest.raises(TransferError, match="broken"):
        transfer.unpack(tar, tmp_path / "target")


def test_no_archive_at_all_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.tar").write_bytes(b"")
    with pytest.raises(TransferError, match="broken"):
        transfer.place(tmp_path / "a.tar", tmp_path / "target")


def test_a_link_in_place_of_a_file_is_refused(tmp_path: Path) -> None:
    tar = archive(tmp_path / "a.tar", (member("file", tarfile.SYMTYPE, "/etc/passwd"), b""))
    with pytest.raises(TransferError, match="file"):
        transfer.place(tar, tmp_path / "target")
    assert not (tmp_path / "target").exists()


def test_packing_hides_who_owns_the_files(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("x")
    with tarfile.open(fileobj=io.BytesIO(transfer.pack(tmp_path))) as stream:
        info = stream.getmember("x")
    assert (info.uid, info.gid, info.uname) == (0, 0, "")


def test_a_download_stream_may_not_pass_its_limit(tmp_path: Path) -> None:
    with (tmp_path / "f").open("wb") as file:
        sink = transfer.spool(file, limit=10)
        sink("stdout", b"x" * 100)
        with pytest.raises(TransferError, match="larger"):
            sink("stdout", b"x" * (2 << 20))
