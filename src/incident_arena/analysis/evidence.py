"""What one trial left behind, loaded on demand: its verdict and its evidence.

`trial_verdict(trial)` is the Verdict, `evidence_of(trial)` the folder with manifest.json and stages.jsonl as typed
records. Each may be None.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, TypeAdapter, ValidationError

from incident_arena.analysis import job_files
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

VERDICT = "verifier/verdict.json"
_LEDGER: TypeAdapter[LedgerLine] = TypeAdapter(LedgerLine)


def trial_verdict(trial: Trial) -> Verdict | None:
    """The whole verdict; None when there is none that this version can read."""
    return job_files.document(trial.folder, VERDICT, Verdict)[0]


def evidence_of(trial: Trial) -> "Evidence | None":
    """The evidence inside `artifacts/`, wherever Harbor put it; None when none was gathered."""
    name = job_files.find(trial.folder, "artifacts", frozenset({"stages.jsonl", "manifest.json"}))
    return Evidence(trial.folder, f"{name}/") if name else None


@dataclass(frozen=True)
class Evidence:
    """An evidence folder (records.py has its layout). Files that are missing or damaged read as None or as no lines.

    Attributes:
        folder: where links stop being trusted: the trial's folder.
        below: the evidence below it, with a slash behind; empty when the folder is the evidence itself.
    """

    folder: Path
    below: str = ""

    def manifest(self) -> Manifest | None:
        """Digests, and whether gathering ended."""
        return self._document("manifest.json", Manifest)

    def task(self) -> TaskSpec | None:
        """The task as it was played."""
        return self._document("task.json", TaskSpec)

    def snapshot(self, label: str) -> Snapshot | None:
        """Snapshot A, B, C or D."""
        return self._document(f"snapshots/{label}.json", Snapshot)

    def reconciled(self) -> Reconciliations | None:
        """What became of the ledger's records and jobs."""
        return self._document("reconciled.json", Reconciliations)

    def declaration(self) -> Declaration | None:
        """The agent's declaration."""
        return self._document("declaration.json", Declaration)

    def stages(self) -> Iterator[Stage]:
        """Stages in order."""
        return self._lines("stages.jsonl", TypeAdapter(Stage))

    def observations(self) -> Iterator[Observation]:
        """Fault observers."""
        return self._lines("observations.jsonl", TypeAdapter(Observation))

    def actions(self) -> Iterator[Action]:
        """The agent's acts, by the servers' own audit."""
        return self._lines("actions.jsonl", TypeAdapter(Action))

    def health(self) -> Iterator[Health]:
        """The harness's health."""
        return self._lines("health.jsonl", TypeAdapter(Health))

    def ledger(self) -> Iterator[LedgerLine]:
        """The load's ledger: the largest file, so it is never held whole."""
        return self._lines("ledger.jsonl", _LEDGER)

    def _document[Document: BaseModel](self, name: str, kind: type[Document]) -> Document | None:
        return job_files.document(self.folder, self.below + name, kind)[0]

    def _lines[Line](self, name: str, kind: TypeAdapter[Line]) -> Iterator[Line]:
        try:
            for line in job_files.lines(self.folder, self.below + name):
                try:
                    yield kind.validate_json(line)
                except ValidationError:
                    continue
        except OSError:
            return
