"""Locks between processes of the same data folder, freed by the kernel however a process ends."""

import contextlib
import fcntl
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from incident_arena.wait import until


@contextlib.contextmanager
def locked(path: Path, *, deadline_s: float, waiting: Callable[[str], None] | None = None) -> Iterator[None]:
    """Hold the lock at `path` for a `with` block.

    Args:
        path: the lock file; made when missing, never removed (removing it would let two hold it).
        deadline_s: seconds to wait for it.
        waiting: called once, with a sentence, when another process holds it.

    Raises:
        DeadlineError: another process held it for too long; says which.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    told = False

    def take() -> tuple[bool, str]:
        nonlocal told
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(descriptor, 32, 0).decode(errors="replace").strip()
            if waiting and not told:
                waiting(f"waiting for process {holder or '?'}, which holds {path.name}")
                told = True
            return False, f"held by process {holder or '?'}"
        return True, ""

    try:
        until(f"lock {path}", take, deadline_s=deadline_s)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        yield
    finally:
        os.close(descriptor)
