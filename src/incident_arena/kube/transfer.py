"""Files in and out of containers, as tar streams.

What comes out of a container is untrusted: members that leave the target folder, links out of it, devices and pipes
are left out and named, and the whole may not pass a size.
"""

import io
import tarfile
import tempfile
from pathlib import Path, PurePosixPath

from incident_arena.errors import InfrastructureError
from incident_arena.proc import Sink, Stream

MAX_DOWNLOAD_BYTES = 2 << 30
TAR_CHANGED = 1
"""GNU tar's exit status when a file changed while it was read; the archive is whole."""


class TransferError(InfrastructureError):
    """Files could not be copied into or out of a container."""


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


def unpack(archive: Path, target: Path, *, limit: int = MAX_DOWNLOAD_BYTES) -> list[str]:
    """Unpack an untrusted archive below `target`.

    Args:
        archive: a tar file.
        target: folder; made if need be.
        limit: most bytes that all files together may have.

    Returns:
        One line for each member that was left out: its name and why.

    Raises:
        TransferError: the archive is cut off, not an archive, or too large.
    """
    target.mkdir(parents=True, exist_ok=True)
    refused: list[str] = []
    total = 0
    try:
        with tarfile.open(archive, "r:") as stream:
            for member in stream:
                total += member.size
                if total > limit:
                    raise TransferError(f"download into {str(target)!r}", f"is larger than {limit} bytes")
                try:
                    stream.extract(member, target, filter="data")
                except (tarfile.FilterError, FileExistsError, NotADirectoryError, IsADirectoryError) as error:
                    refused.append(f"{member.name}: {error}")
    except tarfile.TarError as error:
        raise TransferError(f"download into {str(target)!r}", f"the archive is broken: {error}") from error
    return refused


def place(archive: Path, target: Path) -> list[str]:
    """Put the one file of an untrusted archive at the path `target`, or a folder's archive below it.

    A folder's archive holds names relative to the folder (`./x`), a file's its name alone.

    Raises:
        TransferError: as `unpack`, or `target` is a folder and the archive is of a file.
    """
    if not _is_file(archive):
        return unpack(archive, target)
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".arena-", dir=target.parent) as scratch:
        refused = unpack(archive, Path(scratch))
        files = [path for path in Path(scratch).iterdir() if path.is_file() and not path.is_symlink()]
        if len(files) != 1 or target.is_dir():
            raise TransferError(f"download to {str(target)!r}", "; ".join(refused) or "is not one regular file")
        files[0].replace(target)
    return refused


def _is_file(archive: Path) -> bool:
    try:
        with tarfile.open(archive, "r:") as stream:
            first = stream.next()
    except tarfile.TarError:
        return False  # unpack says what is wrong
    return first is not None and first.name != "." and not first.name.startswith("./")


def spool(file: io.BufferedWriter, *, limit: int = MAX_DOWNLOAD_BYTES) -> Sink:
    """A sink that writes standard output to `file`.

    Raises (when called):
        TransferError: more than `limit` bytes came.
    """

    def sink(stream: Stream, data: bytes) -> None:
        if stream == "stderr":
            return
        if file.tell() + len(data) > limit + (1 << 20):
            raise TransferError(f"download to {file.name!r}", f"is larger than {limit} bytes")
        file.write(data)

    return sink


def parent(target: str) -> tuple[str, str]:
    """Split a container's path into its folder and its last part."""
    path = PurePosixPath(target)
    return path.parent.as_posix(), path.name
