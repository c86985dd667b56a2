import dataclasses
import io
import tarfile
import time
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


FEW = transfer.Bounds(size=1000, members=20, depth=3, seconds=5, whole=False)


def test_hostile_members_are_left_out_and_named(tmp_path: Path) -> None:
    tar = archive(
        tmp_path / "a.tar",
        (member("./ok"), b"fine"),
        (member("../../escape"), b"x"),
        (member("/abs/file"), b"x"),
        (member("./in/../../../out"), b"x"),
        (member("./out", tarfile.SYMTYPE, "/etc/passwd"), b""),
        (member("./up", tarfile.SYMTYPE, "../.."), b""),
        (member("./up/through"), b"x"),
        (member("./hard", tarfile.LNKTYPE, "../../etc/passwd"), b""),
        (member("./inner", tarfile.LNKTYPE, "./ok"), b""),
        (member("./pipe", tarfile.FIFOTYPE), b""),
        (member("./dev", tarfile.CHRTYPE), b""),
        (member("./block", tarfile.BLKTYPE), b""),
        (member("./holes", tarfile.GNUTYPE_SPARSE), b""),
        (member("./two\nlines"), b"x"),
        (member("./\udcff\udcfe"), b"x"),
        (member("./bell\a"), b"x"),
        (member("./a/b/c/d"), b"x"),
    )
    target = tmp_path / "deep" / "er" / "target"
    refused = transfer.unpack(tar, target, FEW)
    assert (target / "ok").read_bytes() == b"fine"
    assert (target / "ok").stat().st_mode & 0o7777 == 0o644
    assert sorted(str(path.relative_to(target)) for path in target.rglob("*")) == ["ok", "up", "up/through"]
    assert not (target / "up").is_symlink()
    assert not (tmp_path / "escape").exists()
    assert len(refused) == 15
    assert refused[0] == "../../escape: leads out of its folder"
    assert refused[-4:-1] == [
        f"./{name}: has a name that is not plain" for name in ("two\\nlines", "\\udcff\\udcfe", "bell\\x07")
    ]
    assert refused[-1] == "./a/b/c/d: lies deeper than 3 folders"
    "\n".join(refused).encode()


def test_a_file_in_place_of_a_folder_costs_only_what_is_below(tmp_path: Path) -> None:
    tar = archive(tmp_path / "a.tar", (member("./a"), b"x"), (member("./a/b"), b"y"), (member("./c"), b"z"))
    assert len(transfer.unpack(tar, tmp_path / "target", FEW)) == 1
    assert sorted(path.name for path in (tmp_path / "target").iterdir()) == ["a", "c"]


def test_what_is_too_large_is_left_out_where_it_need_not_be_whole(tmp_path: Path) -> None:
    tar = archive(tmp_path / "a.tar", (member("./a"), b"x" * 600), (member("./b"), b"x" * 600), (member("./c"), b"x"))
    assert transfer.unpack(tar, tmp_path / "target", FEW) == ["./b: is larger than 1000 bytes with all before it"]
    assert sorted(path.name for path in (tmp_path / "target").iterdir()) == ["a", "c"]
    with pytest.raises(TransferError, match="larger than 1000"):
        transfer.unpack(tar, tmp_path / "whole", dataclasses.replace(FEW, whole=True))


def test_more_members_than_are_wanted_are_not_looked_at(tmp_path: Path) -> None:
    tar = archive(tmp_path / "a.tar", *((member(f"./{number}"), b"x") for number in range(50)))
    assert transfer.unpack(tar, tmp_path / "target", FEW) == ["all that follows: more than 20 files"]
    assert len(list((tmp_path / "target").iterdir())) == 20
    with pytest.raises(TransferError, match="more than 20 files"):
        transfer.unpack(tar, tmp_path / "whole", dataclasses.replace(FEW, whole=True))


def header(name: str, size: int, kind: bytes = tarfile.REGTYPE) -> bytes:
    """One header block, with whatever size."""
    info = member(name, kind)
    info.size = size
    return info.tobuf(tarfile.GNU_FORMAT)


HEADERS = {
    "goes back": header("./ok", 0) + header("./x", -1024) * 3,
    "a name of a gigabyte": header("./ok", 0) + header("././@LongLink", 1 << 30, tarfile.GNUTYPE_LONGNAME),
    "a long extended header": header("./ok", 0) + header("./x", 1 << 20, tarfile.XHDTYPE) + b"9" * (1 << 20),
    "names of names": header("./ok", 0) + (header("./x", 512, tarfile.GNUTYPE_LONGNAME) + b"n" * 512) * 5000,
    "noise": header("./ok", 0) + bytes(range(256)) * 16,
}


@pytest.mark.parametrize("what", HEADERS)
def test_headers_that_would_keep_the_reader_busy_end_it(tmp_path: Path, what: str) -> None:
    (tmp_path / "a.tar").write_bytes(HEADERS[what])
    began = time.monotonic()
    left_out = transfer.unpack(tmp_path / "a.tar", tmp_path / "target", FEW)
    assert time.monotonic() - began < 5
    assert [path.name for path in (tmp_path / "target").iterdir()] == ["ok"]
    assert (left_out == []) is (what == "noise")  # after a whole member the library takes noise for the end
    if what != "noise":
        with pytest.raises(TransferError, match="broken"):
            transfer.unpack(tmp_path / "a.tar", tmp_path / "whole", dataclasses.replace(FEW, whole=True))


@pytest.mark.parametrize("length", range(0, 4097, 256))
def test_of_an_archive_cut_anywhere_whole_files_are_kept(tmp_path: Path, length: int) -> None:
    tar = archive(tmp_path / "a.tar", (member("./a"), b"x" * 700), (member("./b"), b"y" * 200))
    tar.write_bytes(tar.read_bytes()[:length])
    transfer.unpack(tar, tmp_path / "target", FEW)
    assert {path.name: len(path.read_bytes()) for path in (tmp_path / "target").iterdir()}.items() <= {
        "a": 700,
        "b": 200,
    }.items()


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
        sink = transfer.spool(file, FEW)
        sink("stdout", b"x" * 100)
        with pytest.raises(TransferError, match="larger"):
            sink("stdout", b"x" * (2 << 20))
