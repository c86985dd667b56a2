"""Files of job folders are opened in one way: regular files below the folder, of a bounded size, through no link."""

import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from incident_arena.analysis import job_files
from incident_arena.analysis.harbor_files import JobResult


@pytest.fixture(autouse=True)
def in_time() -> Iterator[None]:
    """A FIFO that is opened the plain way waits for ever; fail instead."""
    signal.signal(signal.SIGALRM, lambda *_: pytest.fail("it waits"))
    signal.alarm(20)
    yield
    signal.alarm(0)


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text('{"n_total_trials": 7}')
    return outside


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "job"
    (made / "a" / "b").mkdir(parents=True)
    (made / "a" / "b" / "file").write_text('{"n_total_trials": 3}\n{"n_total_trials": 4}\n')
    return made


def test_a_regular_file_is_read(folder):
    assert job_files.read(folder, "a/b/file").count(b"\n") == 2
    assert len(list(job_files.lines(folder, "a/b/file"))) == 2


@pytest.mark.parametrize("level", ["file", "middle", "first", "folder", "itself", "dangling"])
def test_no_link_is_followed_at_any_level(folder, secret, tmp_path, level):
    name = "a/b/file"
    if level == "file":
        (folder / name).unlink()
        (folder / name).symlink_to(secret / "file")
    elif level == "middle":
        (folder / name).unlink()
        (folder / "a" / "b").rmdir()
        (folder / "a" / "b").symlink_to(secret)
    elif level == "first":
        (secret / "b").mkdir()
        (secret / "b" / "file").write_text("secret")
        (folder / "a").rename(tmp_path / "moved")
        (folder / "a").symlink_to(secret)
    elif level == "folder":
        (tmp_path / "link").symlink_to(folder)
        folder = tmp_path / "link"
    else:
        (folder / name).unlink()
        (folder / name).symlink_to("file" if level == "itself" else "nothing")
    with pytest.raises(OSError, match="is a link") as failed:
        job_files.read(folder, name)
    assert "links are not followed" in job_files.reason(failed.value)
    with pytest.raises(OSError, match="is a link"):
        job_files.append(folder, name, "x")
    assert job_files.document(folder, name, JobResult)[0] is None
    assert (secret / "file").read_text() == '{"n_total_trials": 7}'
    assert not (folder / "a" / "b" / "nothing").exists()


@pytest.mark.parametrize("kind", ["fifo", "socket", "folder", "device"])
def test_what_is_no_regular_file_is_refused_at_once(folder, kind):
    path = folder / "odd"
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "device":
        try:
            os.mknod(path, 0o20666, os.makedev(1, 5))
        except PermissionError:
            pytest.skip("devices can't be made here")
    else:
        unix = socket.socket(socket.AF_UNIX)
        unix.bind(os.fspath(path))
        unix.close()
    for act in (lambda: job_files.read(folder, "odd"), lambda: job_files.append(folder, "odd", "x")):
        with pytest.raises(OSError, match="not a regular file"):
            act()
    assert job_files.exists(folder, "odd")


@pytest.mark.parametrize("name", ["../outside/file", "a/../../outside/file", "a/b/../file"])
@pytest.mark.usefixtures("secret")
def test_no_name_leads_out(folder, name):
    with pytest.raises(OSError, match="leads out"):
        job_files.read(folder, name)


def test_size_is_bounded_before_reading(folder):
    with (folder / "sparse").open("wb") as file:
        file.truncate(2 * job_files.DOCUMENT_BYTES)
    found, why = job_files.document(folder, "sparse", JobResult)
    assert found is None
    assert why == "is larger than 32 MiB"


def test_a_line_without_end_comes_in_pieces(folder):
    (folder / "long").write_bytes(b"x" * (2 * job_files.LINE_BYTES + 5) + b"\nend\n")
    lengths = [len(line) for line in job_files.lines(folder, "long")]
    assert lengths == [job_files.LINE_BYTES, job_files.LINE_BYTES, 6, 4]


def test_what_is_appended_is_kept(folder):
    job_files.append(folder, "new", "one\n")
    job_files.append(folder, "new", "two \ud800\n")
    assert (folder / "new").read_text() == "one\ntwo ?\n"


@pytest.mark.parametrize("kind", ["nothing", "file", "link", "dangling", "fifo"])
def test_a_file_that_is_written_replaces_what_stood_there(folder, secret, kind):
    path = folder / "a" / "new"
    if kind == "file":
        path.write_text("a longer text than the new one")
    elif kind in {"link", "dangling"}:
        path.symlink_to(secret / ("file" if kind == "link" else "none"))
    elif kind == "fifo":
        os.mkfifo(path)
    job_files.replace(folder, "a/new", "é\n")
    assert (path.read_text(), path.is_symlink()) == ("é\n", False)
    assert [one.name for one in secret.iterdir()] == ["file"]
    assert (secret / "file").read_text() == '{"n_total_trials": 7}'
    assert sorted(one.name for one in (folder / "a").iterdir()) == ["b", "new"]


def test_nothing_is_written_below_a_link_or_onto_a_folder(folder, secret):
    (folder / "link").symlink_to(secret)
    with pytest.raises(OSError, match="is a link"):
        job_files.replace(folder, "link/new", "x")
    with pytest.raises(IsADirectoryError):
        job_files.replace(folder, "a", "x")
    assert [one.name for one in secret.iterdir()] == ["file"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[" * 100_000, "recursion"),
        ('{"n_total_trials": 1' + "0" * 30 + "}", "less than"),
        ('{"n_total_trials": 1' + "0" * 5000 + "}", "out of range"),
        ('{"n_total_trials": "\\ud800"}', "hex escape"),
        ("", "EOF"),
    ],
)
def test_what_no_parser_can_take_is_a_reason(folder, text, why):
    (folder / "x").write_text(text)
    found, said = job_files.document(folder, "x", JobResult)
    assert found is None
    assert why in said


def test_folders_are_listed_and_links_told_apart(folder, secret):
    (folder / "link").symlink_to(secret)
    (folder / "self").symlink_to("self")
    (folder / "to-file").symlink_to(secret / "file")
    (folder / ".hidden").mkdir()
    assert [(path.name, link) for path, link in job_files.folders(folder)] == [
        ("a", False), ("link", True), ("self", True),
    ]  # fmt: skip


def test_evidence_is_not_looked_for_behind_links(folder, secret):
    (folder / "a" / "c").symlink_to(secret)
    assert job_files.find(folder, "a", frozenset({"file"})) == "a/b"
    assert job_files.find(folder, "a/c", frozenset({"file"})) is None
    deep = folder / "/".join("d" * 9)
    deep.mkdir(parents=True)
    (deep / "wanted").write_text("")
    assert job_files.find(folder, "d", frozenset({"wanted"})) is None
