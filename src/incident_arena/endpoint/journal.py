"""The log: one JSON line for each request. Never a header, a query or a body, so never a key."""

import json
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from incident_arena.errors import UserError


class Entry(BaseModel):
    """One request, written when its answer is decided.

    `kind`: the step's kind, "over" past the script's end, "beside" for a request that has no place in it, "other" for
    one that asks for no answer. Tokens are those that the answer told its client, 0 where it told none; `input_tokens`
    holds the `cached_tokens` and `cache_write_tokens`.
    """

    model_config = ConfigDict(frozen=True)

    version: Literal[1] = 1
    time: float
    method: str
    path: str
    api: str = ""
    model: str = ""
    stream: bool = False
    conversation: str = ""
    step: Annotated[int, Field(ge=1)] | None = None
    kind: str = "other"
    status: int
    input_tokens: int = 0
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    output_tokens: int = 0


class Journal:
    """The entries, in memory and, line by line, in a file if one is named.

    Raises:
        UserError: the file can't be written.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.entries: list[Entry] = []
        try:
            self._file = path.open("a", encoding="utf-8", buffering=1) if path else None
        except OSError as error:
            raise UserError(f"log '{path}'", f"can't be written: {error.strerror}") from None

    def write(self, entry: Entry) -> None:
        """Add an entry; it is in the file when this returns."""
        self.entries.append(entry)
        if self._file:
            self._file.write(json.dumps(entry.model_dump()) + "\n")

    def close(self) -> None:
        """Close the file."""
        if self._file:
            self._file.close()
