"""The log of calls: JSON lines in a file that the runner reads when the agent has ended."""

from pathlib import Path

from incident_arena.route import Call

MOST = 50_000
"""Lines that are kept: more than any trial has, fewer than would fill a disk."""


class Log:
    """Appends calls to a file, flushed one by one."""

    def __init__(self, path: Path) -> None:
        """See the class; a file that is there is gone on with, since the pod's container may have restarted."""
        self._lines = len(path.read_bytes().splitlines()) if path.exists() else 0
        self._file = path.open("ab")

    def add(self, call: Call) -> None:
        """Write one call; those after MOST are left out."""
        if self._lines >= MOST:
            return
        self._lines += 1
        self._file.write(call.model_dump_json().encode() + b"\n")
        self._file.flush()
