"""An evidence folder, read and verified: nothing is judged that is missing, unfinished, altered or of another version.

The layout is that of `incident_arena.formats.records`. Only the files named there are read; what else lies in the
folder is never opened. Reading needs nothing but the folder: no network, no cluster.

Sealed evidence ends with the first reconciliation. It holds no snapshot D and none of the stages that follow.
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from incident_arena.errors import InfrastructureError
from incident_arena.formats.records import (
    Action,
    Declaration,
    FileDigest,
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

LABELS = ("A", "B", "C", "D")
SEALED_LABELS = ("A", "B", "C")
REQUIRED = (
    "task.json",
    "stages.jsonl",
    "ledger.jsonl",
    "reconciled.json",
    "observations.jsonl",
    "actions.jsonl",
    "health.jsonl",
)
OPTIONAL = ("declaration.json", "usage.jsonl")

GATHERING = ("agent", "snapshot-C", "drain", "reconcile")
"""Stages of gathering that all evidence holds."""
CHALLENGED = ("soak", "restarted", "drain-end", "reconcile-end", "snapshot-D")
"""Stages that evidence holds besides, and one for each of the task's challenges, unless it is sealed."""


class EvidenceError(InfrastructureError):
    """An evidence folder from which nothing can be judged."""

    def __init__(self, name: str, reason: str) -> None:
        """`name` is the file's in the folder, with a line number where there is one."""
        super().__init__(
            f"evidence '{name}'", reason, "there is no verdict and no reward; gather it anew with another trial"
        )


@dataclass(frozen=True)
class Evidence:
    """All of an evidence folder, parsed. Sequences are in the order of their files."""

    manifest: Manifest
    task: TaskSpec
    """As it was played: of sealed evidence without challenges."""
    stages: dict[str, Stage]
    """By name; when a stage was tried again, its last time."""
    snapshots: dict[str, Snapshot]
    ledger: tuple[LedgerLine, ...]
    reconciled: Reconciliations
    observations: tuple[Observation, ...]
    actions: tuple[Action, ...]
    health: tuple[Health, ...]
    declaration: Declaration | None
    usage: tuple[Usage, ...] | None
    """None: gathered before it was recorded. The manifest says so, which nobody but the referee writes."""


def load(folder: Path) -> Evidence:
    """Read an evidence folder and verify it against its manifest.

    Raises:
        EvidenceError: it is missing, unfinished, altered since it was closed, or of another version.
    """
    path = folder / "manifest.json"
    if not path.is_file():
        raise EvidenceError("manifest.json", "is missing: gathering never ended")
    manifest = _one(TypeAdapter(Manifest), "manifest.json", path.read_bytes())
    if not manifest.complete:
        raise EvidenceError("manifest.json", f"says that gathering is unfinished: {manifest.unfinished or 'no reason'}")
    needed = (*REQUIRED, *(f"snapshots/{label}.json" for label in _labels(manifest)))
    files = {name: _verified(folder, name, manifest) for name in needed}
    files |= {name: _verified(folder, name, manifest) for name in OPTIONAL if _present(folder, name, manifest)}
    evidence = _parse(manifest, files)
    _consistent(evidence)
    return evidence


def _labels(manifest: Manifest) -> tuple[str, ...]:
    return SEALED_LABELS if manifest.sealed else LABELS


def _present(folder: Path, name: str, manifest: Manifest) -> bool:
    return name in manifest.files or (folder / name).exists()


def _verified(folder: Path, name: str, manifest: Manifest) -> bytes:
    digest = manifest.files.get(name)
    path = folder / name
    if not path.is_file():
        raise EvidenceError(name, "is missing")
    if digest is None:
        raise EvidenceError(name, "is not in the manifest: it was added after gathering")
    content = path.read_bytes()
    if digest != FileDigest(sha256=hashlib.sha256(content).hexdigest(), bytes=len(content)):
        raise EvidenceError(name, f"was altered after gathering: it has {len(content)} bytes of another content")
    return content


def _parse(manifest: Manifest, files: dict[str, bytes]) -> Evidence:
    lines: TypeAdapter[LedgerLine] = TypeAdapter(LedgerLine)
    whole = files["ledger.jsonl"]
    files = {**files, "ledger.jsonl": whole[: whole.rfind(b"\n") + 1]}  # a writer that was killed leaves half a line
    stages = _lines(TypeAdapter(Stage), "stages.jsonl", files)
    task = _one(TypeAdapter(TaskSpec), "task.json", files["task.json"])
    return Evidence(
        manifest=manifest,
        task=task.model_copy(update={"challenges": []}) if manifest.sealed else task,
        stages={stage.name: stage for stage in stages},
        snapshots={
            label: _one(TypeAdapter(Snapshot), f"snapshots/{label}.json", files[f"snapshots/{label}.json"])
            for label in _labels(manifest)
        },
        ledger=_lines(lines, "ledger.jsonl", files),
        reconciled=_one(TypeAdapter(Reconciliations), "reconciled.json", files["reconciled.json"]),
        observations=_lines(TypeAdapter(Observation), "observations.jsonl", files),
        actions=_lines(TypeAdapter(Action), "actions.jsonl", files),
        health=_lines(TypeAdapter(Health), "health.jsonl", files),
        declaration=(
            _one(TypeAdapter(Declaration), "declaration.json", files["declaration.json"])
            if "declaration.json" in files
            else None
        ),
        usage=_lines(TypeAdapter(Usage), "usage.jsonl", files) if "usage.jsonl" in files else None,
    )


def _one[Model](adapter: TypeAdapter[Model], name: str, content: bytes) -> Model:
    try:
        return adapter.validate_json(content)
    except ValidationError as error:
        raise EvidenceError(name, _first(error)) from error


def _lines[Model](adapter: TypeAdapter[Model], name: str, files: dict[str, bytes]) -> tuple[Model, ...]:
    return tuple(
        _one(adapter, f"{name}:{number}", line)
        for number, line in enumerate(files[name].split(b"\n"), start=1)
        if line.strip()
    )


def _first(error: ValidationError) -> str:
    """Say the first thing that is wrong in one line; a version before all else."""
    details = error.errors(include_url=False)
    versions = [detail for detail in details if detail["loc"][-1:] == ("version",)]
    detail = (versions or details)[0]
    if versions:
        return f"is of version {detail['input']!r}, which this judge does not read"
    return f"cannot be read: {'.'.join(str(part) for part in detail['loc']) or 'content'}: {detail['msg']}"


def _consistent(evidence: Evidence) -> None:
    """Files that contradict each other are no evidence."""
    if evidence.task.name != evidence.manifest.task:
        raise EvidenceError(
            "task.json", f"is task {evidence.task.name!r}, the manifest's is {evidence.manifest.task!r}"
        )
    for label, snapshot in evidence.snapshots.items():
        if snapshot.label != label:
            raise EvidenceError(f"snapshots/{label}.json", f"holds snapshot {snapshot.label}")
    challenged = () if evidence.manifest.sealed else CHALLENGED
    wanted = (*GATHERING, *challenged, *(challenge.stage for challenge in evidence.task.challenges))
    lacking = [name for name in wanted if name not in evidence.stages]
    if lacking:
        raise EvidenceError("stages.jsonl", f"lacks the stages {', '.join(lacking)}: gathering stopped half-way")
