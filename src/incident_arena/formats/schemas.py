"""JSON Schemas of the evidence files and the verdict, generated from the models.

`python -m incident_arena.formats.schemas` writes them into docs/reference/schemas/, or into a folder that it is given.
"""

import json
import sys
from pathlib import Path

from pydantic import TypeAdapter

from incident_arena.formats.records import (
    Action,
    Declaration,
    Health,
    LedgerLine,
    Manifest,
    Observation,
    Reconciliations,
    Snapshot,
    Stage,
    Usage,
)
from incident_arena.formats.task import TaskSpec
from incident_arena.formats.verdict import Verdict

FOLDER = Path("docs/reference/schemas")
DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schemas() -> dict[str, str]:
    """File name to the schema's text, for each file format; a `.jsonl` file's schema is that of one line."""
    adapters: dict[str, TypeAdapter[object]] = {
        "manifest": TypeAdapter(Manifest),
        "task": TypeAdapter(TaskSpec),
        "stage": TypeAdapter(Stage),
        "snapshot": TypeAdapter(Snapshot),
        "ledger-line": TypeAdapter(LedgerLine),
        "reconciled": TypeAdapter(Reconciliations),
        "observation": TypeAdapter(Observation),
        "action": TypeAdapter(Action),
        "health": TypeAdapter(Health),
        "usage": TypeAdapter(Usage),
        "declaration": TypeAdapter(Declaration),
        "verdict": TypeAdapter(Verdict),
    }
    return {f"{name}.json": _text(adapter) for name, adapter in adapters.items()}


def write(folder: Path) -> None:
    """Write every schema into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in schemas().items():
        (folder / name).write_text(text)


def _text(adapter: TypeAdapter[object]) -> str:
    return json.dumps({"$schema": DIALECT, **adapter.json_schema()}, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    write(Path(sys.argv[1]) if sys.argv[1:] else FOLDER)
