"""The one way in which files of job folders are opened, by the tables, the judges of trajectories and the page.

A job folder may come from anywhere. So a name is walked from its folder part by part, and no part may be a link: else
a trial could put a file of the reader's machine into a page, or a judge's answer into one. What is opened is a regular
file (a FIFO would wait for ever, a device may do anything), and its size is bounded before it is read or parsed.

All functions take the trusted folder (a job's or a trial's) and a name below it. They raise OSError, whose `strerror`
is the reason in words; `reason(error)` gives it, also for what a parser raises.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from pydantic import BaseModel, ValidationError

MEBI = 1024 * 1024
DOCUMENT_BYTES = 32 * MEBI
"""Of a document that is parsed whole; real ones have some 100 KB."""
TRANSCRIPT_BYTES = 128 * MEBI
RECORDS_BYTES = 1024 * MEBI
"""Of a file of records, one a line; read as a stream."""
LINE_BYTES = 4 * MEBI
DEPTH = 6
"""Folders below `artifacts/` that are looked into."""

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


def reason(error: Exception) -> str:
    """Why something could not be read, in one line."""
    if isinstance(error, FileNotFoundError):
        return "missing"
    if isinstance(error, OSError):
        return error.strerror or type(error).__name__
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        return f"{where}: {first['msg']}" if where else str(first["msg"])
    if isinstance(error, RecursionError):
        return "nested too deeply"
    return f"{type(error).__name__}: {error}"


@contextmanager
def _holding(folder: Path, name: str) -> Iterator[tuple[int, str]]:
    """The open folder that holds the last part of `name`, and that part."""
    *parts, last = name.split("/")
    at = _open_folder(folder)
    try:
        for part in parts:
            inner = _open_folder(part, at)
            os.close(at)
            at = inner
        yield at, last
    finally:
        os.close(at)


def _open_folder(name: Path | str, at: int | None = None) -> int:
    if name == "..":
        raise OSError(errno.EXDEV, "leads out of its folder", str(name))
    try:
        return os.open(name, _FOLDER, dir_fd=at)
    except OSError as error:
        if error.errno in {errno.ELOOP, errno.ENOTDIR}:
            raise _no_folder(name, at, error) from None
        raise


def _no_folder(name: Path | str, at: int | None, error: OSError) -> OSError:
    """In words: the kernel says ENOTDIR of a link too."""
    try:
        link = stat.S_ISLNK(os.stat(name, dir_fd=at, follow_symlinks=False).st_mode)
    except OSError:
        link = error.errno == errno.ELOOP
    return _link(name) if link else FileNotFoundError(errno.ENOENT, "No such file or directory", str(name))


def _link(name: Path | str) -> OSError:
    return OSError(errno.ELOOP, f"'{Path(name).name}' is a link, and links are not followed", str(name))


def _regular(status: os.stat_result, name: str) -> None:
    if stat.S_ISLNK(status.st_mode):
        raise _link(name)
    if not stat.S_ISREG(status.st_mode):
        kinds = {stat.S_IFIFO: "a FIFO", stat.S_IFDIR: "a folder", stat.S_IFSOCK: "a socket"}
        kind = kinds.get(stat.S_IFMT(status.st_mode), "a device")
        raise OSError(errno.EINVAL, f"is {kind}, not a regular file", name)


def open_file(folder: Path, name: str, limit: int = DOCUMENT_BYTES) -> BinaryIO:
    """Open a file for reading.

    Raises:
        OSError: it is missing, not a regular file, below a link, or larger than `limit` bytes.
    """
    with _holding(folder, name) as (at, last):
        # Looked at first, because opening alone is enough for a device to act.
        _regular(os.stat(last, dir_fd=at, follow_symlinks=False), last)
        file = os.fdopen(os.open(last, os.O_RDONLY | _FILE, dir_fd=at), "rb")
    try:
        status = os.fstat(file.fileno())
        _regular(status, last)
        _small_enough(status.st_size, limit, last)
    except OSError:
        file.close()
        raise
    return file


def _small_enough(size: int, limit: int, name: str) -> None:
    if size > limit:
        raise OSError(errno.EFBIG, f"is larger than {limit // MEBI} MiB", name)


def read(folder: Path, name: str, limit: int = DOCUMENT_BYTES) -> bytes:
    """All of a file.

    Raises:
        OSError: as `open_file`; also when it grows past the limit meanwhile.
    """
    with open_file(folder, name, limit) as file:
        data = file.read(limit + 1)
    _small_enough(len(data), limit, name)
    return data


def lines(folder: Path, name: str, limit: int = RECORDS_BYTES) -> Iterator[bytes]:
    """The lines of a file of records; one that is too long to be a record comes in pieces, which no reader takes.

    Raises:
        OSError: as `open_file`, when the first line is asked for.
    """
    with open_file(folder, name, limit) as file:
        while line := file.readline(LINE_BYTES):
            yield line


def document[Document: BaseModel](
    folder: Path, name: str, kind: type[Document], limit: int = DOCUMENT_BYTES
) -> tuple[Document | None, str]:
    """A JSON document, or None and why not; "missing" when there is no such file."""
    if "/" not in name and not os.path.lexists(f"{folder}/{name}"):  # most trials lack most files: be quick about it
        return None, "missing"
    try:
        return kind.model_validate_json(read(folder, name, limit)), ""
    except (OSError, ValueError, RecursionError, OverflowError) as error:
        return None, reason(error)


def exists(folder: Path, name: str) -> bool:
    """Something goes by that name, whatever it is; also when a link on the way hides it."""
    try:
        with _holding(folder, name) as (at, last):
            os.stat(last, dir_fd=at, follow_symlinks=False)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return True


def append(folder: Path, name: str, text: str) -> None:
    """Add text to a file in one write, so that two processes don't mix theirs; the file is made if need be.

    Raises:
        OSError: it can't be written, is no regular file, or is below a link.
    """
    with _holding(folder, name) as (at, last):
        with suppress(FileNotFoundError):
            _regular(os.stat(last, dir_fd=at, follow_symlinks=False), last)
        handle = os.open(last, os.O_WRONLY | os.O_APPEND | os.O_CREAT | _FILE, 0o666, dir_fd=at)
    with os.fdopen(handle, "ab", buffering=0) as file:
        _regular(os.fstat(file.fileno()), last)
        file.write(text.encode("utf-8", "replace"))


def replace(folder: Path, name: str, text: str) -> None:
    """Write a file in one step. What went by its name is gone then: no link is followed, no FIFO waited for.

    Raises:
        OSError: it can't be written, is a folder, or is below a link.
    """
    with _holding(folder, name) as (at, last):
        draft = f".{last}.{os.getpid()}"
        with suppress(FileNotFoundError):
            os.unlink(draft, dir_fd=at)
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FILE, 0o666, dir_fd=at)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(draft, last, src_dir_fd=at, dst_dir_fd=at)


def folders(folder: Path) -> Iterator[tuple[Path, bool]]:
    """Its folders by name, hidden ones left out; with True for a link that may stand for one, which is not followed.

    Raises:
        OSError: it can't be listed.
    """
    with os.scandir(folder) as entries:
        found = sorted((entry.name, entry.is_symlink()) for entry in entries if _may_be_folder(entry))
    for name, link in found:
        if not name.startswith("."):
            yield folder / name, link


def _may_be_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir() or (entry.is_symlink() and not entry.is_file())
    except OSError:
        return True  # a link to itself


def find(folder: Path, name: str, wanted: frozenset[str], depth: int = DEPTH) -> str | None:
    """The first folder, by name and from above, at or below `name` that has all `wanted` files; None when none has."""
    try:
        with _holding(folder, f"{name}/.") as (at, _):
            inner, files = [], set()
            with os.scandir(at) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        inner.append(entry.name)
                    else:
                        files.add(entry.name)
    except OSError:
        return None
    if wanted <= files:
        return name
    if depth > 0:
        for one in sorted(inner):
            if found := find(folder, f"{name}/{one}", wanted, depth - 1):
                return found
    return None


def texts(folder: Path, name: str, suffixes: frozenset[str]) -> list[tuple[int, str]]:
    """Size and name of the regular files in folder `name` ("" is the folder itself) with such a suffix."""
    found = []
    try:
        with _holding(folder, f"{name}/." if name else ".") as (at, _), os.scandir(at) as entries:
            for entry in entries:
                status = entry.stat(follow_symlinks=False)
                if Path(entry.name).suffix in suffixes and stat.S_ISREG(status.st_mode):
                    found.append((status.st_size, f"{name}/{entry.name}" if name else entry.name))
    except OSError:
        return []
    return sorted(found, key=lambda one: one[1])
