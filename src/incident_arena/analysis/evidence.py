"""What one trial left behind, loaded on demand: its verdict, its evidence, its transcript.

`trial_verdict(trial)` is the Verdict, `evidence_folder(trial)` the folder with manifest.json and stages.jsonl,
`Evidence(folder)` its files as typed records, `transcript_path(trial)` agent/trajectory.json (ATIF). Each may be None.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, TypeAdapter, ValidationError

from incident_arena.analysis.trial import Trial
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
)
from incident_arena.formats.task import TaskSpec
from incident_arena.formats.verdict import Verdict

_LEDGER: TypeAdapter[LedgerLine] = TypeAdapter(LedgerLine)


def trial_verdict(trial: Trial) -> Verdict | None:
    """The whole verdict; None when there is none that this version can read."""
    return _document(trial.folder / "verifier" / "verdict.json", Verdict)


def transcript_path(trial: Trial) -> Path | None:
    """Where the trajectory is; None when the agent left none."""
    path = trial.folder / "agent" / "trajectory.json"
    return path if path.is_file() else None


def evidence_folder(trial: Trial) -> Path | None:
    """The evidence inside `artifacts/`, wherever Harbor put it; None when none was gathered."""
    for root, folders, files in os.walk(trial.folder / "artifacts"):
        folders.sort()
        if "stages.jsonl" in files and "manifest.json" in files:
            return Path(root)
    return None


@dataclass(frozen=True)
class Evidence:
    """An evidence folder (records.py has its layout). Files that are missing or damaged read as None or as no lines."""

    folder: Path

    def manifest(self) -> Manifest | None:
        """Digests, and whether gathering ended."""
        return _document(self.folder / "manifest.json", Manifest)

    def task(self) -> TaskSpec | None:
        """The task as it was played."""
        return _document(self.folder / "task.json", TaskSpec)

    def snapshot(self, label: str) -> Snapshot | None:
        """Snapshot A, B, C or D."""
        return _document(self.folder / "snapshots" / f"{label}.json", Snapshot)

    def reconciled(self) -> Reconciliations | None:
        """What became of the ledger's records and jobs."""
        return _document(self.folder / "reconciled.json", Reconciliations)

    def declaration(self) -> Declaration | None:
        """The agent's declaration."""
        return _document(self.folder / "declaration.json", Declaration)

    def stages(self) -> Iterator[Stage]:
        """Stages in order."""
        return _lines(self.folder / "stages.jsonl", TypeAdapter(Stage))

    def observations(self) -> Iterator[Observation]:
        """Fault observers."""
        return _lines(self.folder / "observations.jsonl", TypeAdapter(Observation))

    def actions(self) -> Iterator[Action]:
        """The agent's acts, by the servers' own audit."""
        return _lines(self.folder / "actions.jsonl", TypeAdapter(Action))

    def health(self) -> Iterator[Health]:
        """The harness's health."""
        return _lines(self.folder / "health.jsonl", TypeAdapter(Health))

    def ledger(self) -> Iterator[LedgerLine]:
        """The load's ledger: the largest file, so it is never held whole."""
        return _lines(self.folder / "ledger.jsonl", _LEDGER)


def _document[Document: BaseModel](path: Path, kind: type[Document]) -> Document | None:
    try:
        return kind.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None


def _lines[Line](path: Path, kind: TypeAdapter[Line]) -> Iterator[Line]:
    try:
        file = path.open("rb")
    except OSError:
        return
    with file:
        for line in file:
            try:
                yield kind.validate_json(line)
            except ValidationError:
                continue
