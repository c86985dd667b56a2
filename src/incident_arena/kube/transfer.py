"""Files in and out of containers, as tar streams.

What comes out of a container is untrusted, the archive itself too: it may be cut, never end, or hold anything. Only
regular files and folders with plain names are taken, up to `Bounds`; whatever else there is is left out and named.
"""

import io
import os
import shutil
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from incident_arena.errors import InfrastructureError
from incident_arena.proc import Sink, Stream

TAR_CHANGED = 1
"""GNU tar's exit status when a file changed while it was read; the archive is whole."""
NAME_CHARACTERS = 1024
HEADER_BYTES = 4096
"""Of a header that only says more about the next member; Python's reader is slow with long ones."""
SLACK_BYTES = 1 << 20
MEMBER_BYTES = 2048
"""What an archive needs for each member beside its content: a header and padding, and those of a long name."""
SHOWN = 200


@dataclass(frozen=True)
class Bounds:
    """What is taken out of a container at most.

    Attributes:
        size: bytes of all files together.
        members: files and folders.
        depth: of folders; a file at the top has a depth of 1.
        seconds: for all of it.
        whole: what can't be had whole is an error; else it is what came.
    """

    size: int
    members: int
    depth: int
    seconds: float
    whole: bool


WHOLE = Bounds(size=2 << 30, members=100_000, depth=32, seconds=300.0, whole=True)
"""For the harness's own pods."""
BOUNDED = Bounds(size=64 << 20, members=5_000, depth=24, seconds=60.0, whole=False)
"""For the agent's pod. Logs of long trials have some 20 MB in a few hundred files."""

_WHOLE = """\
if [ -d "$1/$2" ]; then exec tar -c -f - -C "$1/$2" .; else exec tar -c -f - -C "$1" -- "$2"; fi
"""
# What is far too large or too much is not even read. Which those are is told on standard error.
_BOUNDED = """\
[ -d "$1/$2" ] || exec tar -c -f - -C "$1" -- "$2"
cd "$1/$2" || exit
find . -xdev -maxdepth "$3" -type f -size "+$5c" -printf '%p: is too large: %s bytes\\n' | head -n 100 >&2
find . -xdev -maxdepth "$3" ! \\( -type f -size "+$5c" \\) -print0 | head -z -n "$4" |
  tar -c -f - --format=gnu --no-recursion --null -T -
"""


class TransferError(InfrastructureError):
    """Files could not be copied into or out of a container."""


def command(source: str, bounds: Bounds) -> tuple[str, ...]:
    """The argument list that writes an archive of a file or of a folder's content, run in the container."""
    folder, name = parent(source)
    limits = (str(bounds.depth + 1), str(bounds.members + 1), str(bounds.size))
    return ("sh", "-c", _WHOLE if bounds.whole else _BOUNDED, "arena-download", folder, name, *limits)


def pack(source: Path, name: str | None = None) -> bytes:
    """Pack a file, or a folder's content, into an uncompressed tar archive.

    Args:
        source: file or folder.
        name: the file's name in the archive; its own when None. Ignored for a folder.
    """
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        if source.is_dir():
            for child in sorted(source.iterdir()):
                archive.add(child, arcname=child.name, filter=_anonymous)
        elif source.is_file():
            archive.add(source, arcname=name or source.name, filter=_anonymous)
        else:
            raise TransferError(f"upload of {str(source)!r}", "no such file or folder")
    return buffer.getvalue()


def _anonymous(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


class _Plain(tarfile.TarInfo):
    """A member whose header can't keep the reader busy: sizes below zero have it go in circles, long ones for hours."""

    def _proc_member(self, archive: tarfile.TarFile) -> tarfile.TarInfo:
        if self.size < 0 or (self.size > HEADER_BYTES and not (self.isreg() or self.isdir())):
            raise tarfile.ReadError(f"a header says {self.size} bytes")
        return super()._proc_member(archive)  # type: ignore[misc, no-any-return]


def unpack(archive: Path, target: Path, bounds: Bounds = WHOLE) -> list[str]:
    """Unpack an untrusted archive below `target`.

    Args:
        archive: a tar file.
        target: folder; made if need be.
        bounds: what is taken at most.

    Returns:
        One line for each member that was left out: its name and why. Also that the archive was cut, unless it has to
        be whole.

    Raises:
        TransferError: it has to be whole, and is cut off, not an archive, or too large.
    """
    target.mkdir(parents=True, exist_ok=True)
    left_out: list[str] = []
    try:
        with tarfile.open(archive, "r:", tarinfo=_Plain) as stream:
            _take(stream, target, bounds, left_out)
    except TransferError:
        raise
    except Exception as error:  # the reader's own mistakes on a hostile archive must not end more than this copy
        if bounds.whole:
            raise TransferError(f"download into {str(target)!r}", f"the archive is broken: {error}") from error
        left_out.append(f"all that follows: the archive is broken: {type(error).__name__}: {error}")
    return left_out


def _take(stream: tarfile.TarFile, target: Path, bounds: Bounds, left_out: list[str]) -> None:
    size = 0
    for number, member in enumerate(stream):
        if number >= bounds.members:
            _too_much(bounds, target, f"more than {bounds.members} files", left_out)
            return
        reason = _unwanted(member, bounds)
        if not reason and member.isreg() and size + member.size > bounds.size:
            _too_much(bounds, target, f"is larger than {bounds.size} bytes with all before it", left_out, member.name)
            continue
        try:
            if not reason:
                size += _write(stream, member, target)
        except OSError as error:
            if bounds.whole:
                raise TransferError(f"download into {str(target)!r}", f"{shown(member.name)}: {error}") from error
            reason = error.strerror or type(error).__name__
        if reason:
            left_out.append(f"{shown(member.name)}: {reason}")


def _too_much(bounds: Bounds, target: Path, reason: str, left_out: list[str], name: str = "all that follows") -> None:
    if bounds.whole:
        raise TransferError(f"download into {str(target)!r}", reason)
    left_out.append(f"{shown(name)}: {reason}")


def _unwanted(member: tarfile.TarInfo, bounds: Bounds) -> str:
    """Why a member is not taken; empty when it is."""
    parts = PurePosixPath(member.name).parts
    if not (member.isdir() or (member.isreg() and not member.issparse())):
        return "is neither a file nor a folder"
    if member.name.startswith("/") or ".." in parts:
        return "leads out of its folder"
    if not member.name.isprintable() or len(member.name) > NAME_CHARACTERS:
        return "has a name that is not plain"
    return f"lies deeper than {bounds.depth} folders" if len(parts) > bounds.depth else ""


def _write(stream: tarfile.TarFile, member: tarfile.TarInfo, target: Path) -> int:
    """Put one member below `target`; returns its bytes. Below it are only files and folders that came this way."""
    path = target / member.name
    if member.isdir():
        path.mkdir(parents=True, exist_ok=True)
        return 0
    content = stream.extractfile(member)
    assert content is not None
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o644), "wb") as file:
            shutil.copyfileobj(content, file)
    except tarfile.TarError:  # cut within this file
        path.unlink()
        raise
    return member.size


def shown(name: str) -> str:
    """A name or a line from a container, safe to write down: one line, and not too long."""
    return repr(name[:SHOWN] + ("…" if len(name) > SHOWN else ""))[1:-1]


def lines(said: str) -> list[str]:
    """What a container said on standard error, in lines that are safe to write down."""
    return [shown(line) for line in said.splitlines()[:SHOWN]]


def place(archive: Path, target: Path, bounds: Bounds = WHOLE) -> list[str]:
    """Put the one file of an untrusted archive at the path `target`, or a folder's archive below it.

    A folder's archive holds names relative to the folder (`./x`), a file's its name alone.

    Raises:
        TransferError: as `unpack`, or `target` is a folder and the archive is of a file.
    """
    if not _is_file(archive):
        return unpack(archive, target, bounds)
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".arena-", dir=target.parent) as scratch:
        refused = unpack(archive, Path(scratch), bounds)
        files = [path for path in Path(scratch).iterdir() if path.is_file()]
        if len(files) != 1 or target.is_dir():
            raise TransferError(f"download to {str(target)!r}", "; ".join(refused) or "is not one regular file")
        files[0].replace(target)
    return refused


def has_members(archive: Path) -> bool:
    """Whether there is anything in an untrusted archive."""
    return _first(archive) is not None


def _is_file(archive: Path) -> bool:
    first = _first(archive)
    return first is not None and first.name != "." and not first.name.startswith("./")


def _first(archive: Path) -> tarfile.TarInfo | None:
    try:
        with tarfile.open(archive, "r:", tarinfo=_Plain) as stream:
            return stream.next()
    except Exception:  # noqa: BLE001 - unpack says what is wrong
        return None


def spool(file: BinaryIO, bounds: Bounds = WHOLE) -> Sink:
    """A sink that writes standard output to `file`.

    Raises (when called):
        TransferError: more came than `bounds` can need.
    """
    limit = bounds.size + bounds.members * MEMBER_BYTES + SLACK_BYTES

    def sink(stream: Stream, data: bytes) -> None:
        if stream == "stderr":
            return
        if file.tell() + len(data) > limit:
            raise TransferError("download", f"the archive is larger than {limit} bytes")
        file.write(data)

    return sink


def parent(target: str) -> tuple[str, str]:
    """Split a container's path into its folder and its last part."""
    path = PurePosixPath(target)
    return path.parent.as_posix(), path.name
