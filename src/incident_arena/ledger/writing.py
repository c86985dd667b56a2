"""Writes the ledger.

Each line goes to the kernel by one write() before the caller goes on: a killed process loses none. What a crash of the
whole node would lose is not guarded against: the episode ends with the node.
"""

import os
from pathlib import Path

from incident_arena.formats.records import LedgerLine
from incident_arena.ledger import reading as ledger


class Ledger:
    """The open ledger. One writer at a time."""

    def __init__(self, path: Path) -> None:
        """Open the ledger for appending; `before` are the lines that an earlier process left.

        The rest of a line that its writer did not finish is cut off: that operation had not begun (an intent) or is
        pending (an outcome).

        Raises:
            LedgerError: the file holds something else, or can't be written.
        """
        self._path = path
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
            data = path.read_bytes()
        except OSError as error:
            raise ledger.LedgerError(str(path), f"can't be opened: {error.strerror}") from error
        complete = data.rfind(b"\n") + 1
        if complete < len(data):
            os.ftruncate(self._file, complete)
        self.before: list[LedgerLine] = ledger.parse(data[:complete], path.name)

    def write(self, line: LedgerLine) -> None:
        """Append a line.

        Raises:
            LedgerError: the disk is full, say. The load must not go on without its ledger.
        """
        data = line.model_dump_json().encode() + b"\n"
        try:
            written = os.write(self._file, data)
        except OSError as error:
            raise ledger.LedgerError(str(self._path), f"can't be written: {error.strerror}") from error
        if written != len(data):
            raise ledger.LedgerError(str(self._path), "took only a part of a line", "free space on its volume")

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)
