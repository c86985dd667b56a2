"""The records from before the load, written beside the ledger when it begins: none of them may be missing later."""

import json
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from incident_arena.formats.records import Record
from incident_arena.ledger.reading import LedgerError

FILE = "seeds.json"


class Seeds(Record):
    """Their names, as `Doctype/name`."""

    version: Literal[1] = 1
    records: tuple[str, ...]


def keep(folder: Path, records: tuple[str, ...]) -> None:
    """Write them down, unless an earlier process has."""
    file = folder / FILE
    if file.exists():
        return
    partial = file.with_suffix(".partial")
    partial.write_text(json.dumps(Seeds(records=records).model_dump(), indent=1))
    partial.rename(file)


def load(folder: Path) -> Seeds:
    """Read them.

    Raises:
        LedgerError: the load has not begun, or the file is none of its.
    """
    try:
        return Seeds.model_validate_json((folder / FILE).read_bytes())
    except (OSError, ValidationError) as error:
        raise LedgerError(str(folder / FILE), f"can't be read: {type(error).__name__}", "wait for the load") from error
