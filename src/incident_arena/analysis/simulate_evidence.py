"""The simulator's evidence folders and transcripts, in the formats of records.py and of ATIF."""

import hashlib
import json
import random
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel

from incident_arena.analysis.simulate_verdict import HOSTILE, KINDS, Draw
from incident_arena.formats.records import (
    Action,
    Declaration,
    FileDigest,
    Health,
    Intent,
    Manifest,
    Observation,
    Outcome,
    Reconciled,
    Reconciliations,
    Snapshot,
    Stage,
)
from incident_arena.formats.task import KindLoad, LoadSpec, PlantedFault, Symptom, TaskSpec

STAGES = (
    ("node", 6), ("deploy", 5), ("ready", 22), ("healthy", 5), ("baseline", 60), ("snapshot A", 2), ("plant", 1),
    ("symptom", 14), ("snapshot B", 2),
)  # fmt: skip
GATHERING = (("snapshot C", 2), ("drain", 8), ("reconcile", 3), ("soak", 60), ("restart", 45), ("snapshot D", 2))
STEP_S = 4.0
BROKEN_FAILS = 0.9
"""Share of the broken kinds' operations that fail until the repair."""
CHANGES = 0.2
"""Share of the agent's acts that change something."""


def task_of(draw: Draw) -> TaskSpec:
    """The task as it was played."""
    return TaskSpec.model_validate(
        {
            "name": draw.task,
            "title": draw.task.rpartition("/")[2].replace("-", " "),
            "substrate": draw.task.partition("/")[0],
            "surface": draw.surface,
            "layer": draw.layer,
            "onset": draw.onset,
            "faults": [PlantedFault(name=fault) for fault in draw.faults],
            "load": LoadSpec(kinds={kind: KindLoad(rate=1.0, judged=True) for kind in KINDS}),
            "symptom": Symptom(kinds={"create": 0.5}),
            "challenges": [{"kind": "restart", "component": each} for each in ("mariadb", "redis-queue")],
            "permitted": [],
            "vocabulary": sorted({*draw.faults, "redis-cache.config"}),
        }
    )


def write_evidence(folder: Path, draw: Draw, *, hostile: bool) -> None:
    """One evidence folder, manifest last."""
    chance = random.Random(draw.seed)  # noqa: S311 - a seeded draw, no secret
    (folder / "snapshots").mkdir(parents=True)
    (folder / "task.json").write_text(task_of(draw).model_dump_json())
    _lines(folder / "stages.jsonl", _stages(draw))
    for label, at in zip("ABCD", (-20.0, -2.0, 2.0, 180.0), strict=True):
        moment = (draw.started if label in "AB" else draw.ended) + at
        facts = {"mariadb": {"accounts/site@%/grants/site.*/DELETE": label != "B"}, "redis-queue": {"maxmemory": 64}}
        snapshot = Snapshot(label=label, taken=moment, seconds=1.5, facts=facts)
        (folder / "snapshots" / f"{label}.json").write_text(snapshot.model_dump_json())
    _lines(folder / "ledger.jsonl", _ledger(draw, chance))
    _lines(folder / "observations.jsonl", _observations(draw, chance))
    _lines(folder / "actions.jsonl", _actions(draw, chance, hostile=hostile))
    span = int((draw.ended - draw.started) / STEP_S)
    beats = (Health(at=draw.started + beat * STEP_S, alive={"load": True, "referee": True}) for beat in range(span))
    _lines(folder / "health.jsonl", beats)
    state = Reconciled(taken=draw.ended + 15, records={}, queue={"short": {"queued": 0, "failed": 0}})
    (folder / "reconciled.json").write_text(Reconciliations(drained=state, end=state).model_dump_json())
    if draw.declared is not None:
        (folder / "declaration.json").write_text(Declaration(at=draw.declared).model_dump_json())
    _manifest(folder, draw)


def write_transcript(folder: Path, draw: Draw, steps: int, cache_writes: int | None, *, hostile: bool) -> None:
    """agent/trajectory.json, as Harbor's agents write it: indented by two."""
    folder.mkdir(parents=True, exist_ok=True)
    text = HOSTILE if hostile else "SHOW GRANTS FOR 'site'@'%'"
    turns = [
        {
            "step_id": number,
            "timestamp": datetime.fromtimestamp(draw.started + 5 * number, UTC).isoformat(),
            "source": "user" if number == 1 else "agent",
            "message": f"Step {number}: {text}",
            **({} if number == 1 else _tool_call(number, text)),
        }
        for number in range(1, steps + 1)
    ]
    document = {
        "schema_version": "ATIF-v1.8",
        "session_id": f"simulated-{draw.seed:08x}",
        "agent": {"name": "simulated", "version": "1"},
        "steps": turns,
        "final_metrics": {
            "total_prompt_tokens": draw.tokens,
            "total_steps": 30 + draw.seed % 25,
            **({"extra": {"total_cache_creation_input_tokens": cache_writes}} if cache_writes is not None else {}),
        },
    }
    (folder / "trajectory.json").write_text(json.dumps(document, indent=2))


def _tool_call(number: int, text: str) -> dict[str, object]:
    return {
        "tool_calls": [{"tool_call_id": f"c{number}", "function_name": "bash", "arguments": {"command": text}}],
        "observation": {"results": [{"source_call_id": f"c{number}", "content": f"output {text}"}]},
    }


def _stages(draw: Draw) -> Iterable[Stage]:
    at = draw.started - sum(seconds for _, seconds in STAGES)
    for name, seconds in STAGES:
        yield Stage(name=name, started=at, seconds=seconds, ok=True)
        at += seconds
    yield Stage(name="agent", started=draw.started, seconds=draw.ended - draw.started, ok=True)
    at = draw.ended
    for name, seconds in GATHERING:
        yield Stage(name=name, started=at, seconds=seconds, ok=True)
        at += seconds


def _ledger(draw: Draw, chance: random.Random) -> Iterable[Intent | Outcome]:
    broken = draw.started + 0.6 * (draw.ended - draw.started)
    for number in range(400):
        due = draw.started - 60 + number * (draw.ended - draw.started + 260) / 400
        kind = KINDS[number % len(KINDS)]
        bad = draw.started - 15 < due < broken and kind in {"create", "delete"} and chance.random() < BROKEN_FAILS
        took = round(chance.lognormvariate(-2.5, 0.4) * (3 if bad else 1), 4)
        yield Intent(id=number, kind=kind, due=due, at=due, records=(f"ToDo/{number}",) if kind == "create" else ())
        yield Outcome(
            id=number, kind=kind, due=due, at=due + took, result="failed" if bad else "ok", latency=took,
            status=403 if bad else 200, error="permission denied" if bad else "",
        )  # fmt: skip


def _observations(draw: Draw, chance: random.Random) -> Iterable[Observation]:
    repairs = {fault: draw.started + chance.uniform(0.3, 0.8) * (draw.ended - draw.started) for fault in draw.faults}
    at = draw.started - 15
    while at < draw.ended + 200:
        for fault, repaired in repairs.items():
            yield Observation(
                at=at, fault=fault, state="clear" if at > repaired else "planted", seen={"ok": at > repaired}
            )
        at += 3 * STEP_S


def _actions(draw: Draw, chance: random.Random, *, hostile: bool) -> Iterable[Action]:
    detail = HOSTILE if hostile else "SHOW GRANTS FOR 'site'@'%'"
    at = draw.started + 10
    while at < draw.ended - 20:
        change = chance.random() < CHANGES
        yield Action(
            at=at, source="mariadb", actor="operator", kind="change" if change else "read",
            what="GRANT" if change else "SHOW", detail=detail,
        )  # fmt: skip
        at += chance.uniform(10, 60)
    if draw.declared is not None:
        yield Action(at=draw.declared, source="admin", actor="agent", kind="declare", what="declare")


def _manifest(folder: Path, draw: Draw) -> None:
    files = {
        str(path.relative_to(folder)): FileDigest(
            sha256=hashlib.sha256(path.read_bytes()).hexdigest(), bytes=path.stat().st_size
        )
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
    manifest = Manifest(
        task=draw.task, episode=f"simulated-{draw.seed:08x}", product="0.1.0", agent_started=draw.started,
        agent_ended=draw.ended, complete=True, files=files,
    )  # fmt: skip
    (folder / "manifest.json").write_text(manifest.model_dump_json())


def _lines(path: Path, records: Iterable[BaseModel]) -> None:
    with path.open("w") as file:
        file.writelines(record.model_dump_json() + "\n" for record in records)
