"""Evidence folders for tests: a whole episode of a task like frappe's, played by a seeded simulation.

`build()` plays a right fix. Its arguments change what the agent did and when; the `Episode` that it returns can be
edited further before it is written. Times are seconds since START.
"""

import hashlib
import json
import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from pydantic import BaseModel

from incident_arena.formats.records import (
    Action,
    Container,
    Declaration,
    Facts,
    FileDigest,
    Health,
    Intent,
    LedgerLine,
    Manifest,
    NamedCause,
    Observation,
    Outcome,
    Reconciled,
    Reconciliations,
    RecordState,
    Scalar,
    Snapshot,
    Stage,
    Usage,
)
from incident_arena.formats.task import (
    Deadlines,
    Event,
    KindLoad,
    LoadSpec,
    Permit,
    PlantedFault,
    Settling,
    Symptom,
    TaskSpec,
    Windows,
)
from incident_arena.ledger.reading import touches

START = 1_700_000_000.0
GRANTS = "mariadb.grants"
QUEUE = "redis-queue.config"
FAULTS = (GRANTS, QUEUE)
GRANT = "accounts/site@%/grants/database/site/DELETE"
POPS = ("blmove", "blpop")
RESTARTED = ("mariadb", "redis-queue", "worker-short")

STAGES = (
    ("node", 0, 4),
    ("deploy", 4, 3),
    ("ready", 7, 14),
    ("healthy", 21, 5),
    ("baseline", 26, 34),
    ("snapshot-A", 60, 1),
    ("plant", 61, 1),
    ("symptom", 62, 13),
    ("snapshot-B", 75, 1),
    ("agent", 76, 120),
    ("snapshot-C", 197, 1),
    ("drain", 198, 5),
    ("reconcile", 203, 1),
    ("soak", 204, 30),
    ("restart-mariadb", 234, 6),
    ("restart-redis-queue", 240, 5),
    ("restart-worker-short", 245, 5),
    ("churn-mariadb", 250, 1),
    ("restarted", 251, 34),
    ("drain-end", 285, 2),
    ("reconcile-end", 287, 1),
    ("snapshot-D", 288, 1),
)
PLANTED, AGENT, FIXED, DECLARED, AGENT_END, RESTART, END = 61.5, 76.0, 126.0, 190.0, 196.0, 234.0, 285.0
HARNESS = ("load", "referee", "prometheus", "admin")
BREAKS = {"delete": GRANTS, "bulk-update": QUEUE}
"""What each kind suffers from."""


def task() -> TaskSpec:
    """A task like frappe/deletes-and-jobs-fail."""
    live = [Permit(rule=f"{pop} live", path=f"redis-queue/acl/live/app/commands/{pop}", after=[True]) for pop in POPS]
    file = [Permit(rule=f"{pop} file", path=f"redis-queue/acl/file/app/commands/{pop}", after=[True]) for pop in POPS]
    return TaskSpec(
        name="frappe/deletes-and-jobs-fail",
        title="Deletes and jobs fail",
        substrate="frappe",
        surface="confined",
        layer="configuration",
        onset="at start",
        faults=[
            PlantedFault(name=GRANTS, parameters={"privileges": ["DELETE"]}),
            PlantedFault(name=QUEUE, parameters={"denied_commands": list(POPS)}),
        ],
        load=LoadSpec(
            kinds={
                "read": KindLoad(rate=2, judged=True, p95_floor=0.5),
                "create": KindLoad(rate=2, judged=True),
                "delete": KindLoad(rate=2, judged=True),
                "bulk-update": KindLoad(rate=1.6, judged=True, p95_floor=3),
                "sign-in": KindLoad(rate=0.5),
            }
        ),
        symptom=Symptom(kinds={"delete": 0.2, "bulk-update": 0.5}),
        windows=Windows(baseline=30, acceptance=30, soak=30, restarted=30),
        deadlines=Deadlines(agent=600),
        challenges=[
            *(Event(kind="restart", component=component) for component in RESTARTED),
            Event(kind="churn", component="mariadb"),
        ],
        permitted=[Permit(rule="DELETE", path=f"mariadb/{GRANT}", after=[True]), *live, *file],
        forbidden=["admin/queue-flush"],
        vocabulary=[GRANTS, QUEUE, "redis-cache.config"],
    )


@dataclass
class Episode:
    """An episode's records, still open to edits. `facts` by snapshot label, then store."""

    task: TaskSpec
    stages: list[Stage]
    facts: dict[str, dict[str, Facts]]
    lines: list[LedgerLine]
    drained: Reconciled | None
    end: Reconciled | None
    observations: list[Observation]
    actions: list[Action]
    health: list[Health]
    usage: list[Usage] | None
    """None: as evidence was before it was recorded."""
    declaration: Declaration | None
    agent_ended: float = START + AGENT_END
    complete: bool = True
    sealed: str = ""
    """Gathering ended after the first reconciliation, for this reason."""
    unlisted: set[str] = field(default_factory=set)
    """Files that are written but not in the manifest."""
    earlier: bool = False
    """Written as before there were challenges: the task of version 1 names restarts, which one churn follows."""

    def stage(self, name: str, **changes: object) -> None:
        """Change one stage."""
        self.stages = [one.model_copy(update=changes) if one.name == name else one for one in self.stages]

    def set(self, labels: str, path: str, value: Scalar) -> None:
        """Set a fact `<store>/<path>` in the snapshots of these labels; None takes it out."""
        store, _, rest = path.partition("/")
        for label in labels:
            if value is None:
                self.facts[label][store].pop(rest, None)
            else:
                self.facts[label][store][rest] = value

    def spec(self, **changes: object) -> None:
        """Change the task."""
        self.task = self.task.model_copy(update=changes)

    def edit(self, change: Callable[[Outcome], Outcome]) -> None:
        """Replace each outcome of the ledger."""
        self.lines = [change(line) if line.type == "outcome" else line for line in self.lines]

    def seal(self, reason: str) -> None:
        """End as a sealed episode does: without all that comes after the first reconciliation."""
        self.sealed, self.end = reason, None
        names = [one.name for one in self.stages]
        self.stages = self.stages[: names.index("reconcile") + 1]
        ended = self.stages[-1].started + self.stages[-1].seconds
        moments = {"lines": self.lines, "observations": self.observations, "health": self.health, "usage": self.usage}
        for name, records in moments.items():
            setattr(self, name, [one for one in records or () if one.at <= ended])
        del self.facts["D"]

    def act(self, at: float, what: str, *, kind: str = "change", source: str = "admin", **more: object) -> None:
        """Add an act of the agent."""
        fields = {"at": START + at, "source": source, "actor": "agent", "kind": kind, "what": what, **more}
        self.actions.append(Action.model_validate(fields))

    def write(self, folder: Path) -> Path:
        """Write the folder, closed by its manifest."""
        (folder / "snapshots").mkdir(parents=True, exist_ok=True)
        files = {
            "task.json": (earlier(self.task) if self.earlier else self.task.model_dump_json()).encode(),
            "stages.jsonl": _jsonl(_earlier_stages(self.stages) if self.earlier else self.stages),
            "ledger.jsonl": _jsonl(self.lines),
            "reconciled.json": Reconciliations(drained=self.drained, end=self.end).model_dump_json().encode(),
            "observations.jsonl": _jsonl(self.observations),
            "actions.jsonl": _jsonl(self.actions),
            "health.jsonl": _jsonl(self.health),
        }
        if self.usage is not None:
            files["usage.jsonl"] = _jsonl(self.usage)
        for label, moment in zip(self.facts, (60, 75, 197, 288), strict=False):
            snapshot = Snapshot(label=label, taken=START + moment, seconds=0.8, facts=self.facts[label])  # type: ignore[arg-type]
            files[f"snapshots/{label}.json"] = snapshot.model_dump_json().encode()
        (folder / "declaration.json").unlink(missing_ok=True)
        if self.declaration:
            files["declaration.json"] = self.declaration.model_dump_json().encode()
        for name, content in files.items():
            (folder / name).write_bytes(content)
        manifest = Manifest(
            task=self.task.name,
            episode="e-1",
            product="0.1.0",
            agent_started=START + AGENT,
            agent_ended=self.agent_ended,
            complete=self.complete,
            sealed=self.sealed,
            unfinished="" if self.complete else "the queue's pod was gone",
            files={name: digest(content) for name, content in files.items() if name not in self.unlisted},
        )
        (folder / "manifest.json").write_text(manifest.model_dump_json())
        return folder


def earlier(spec: TaskSpec) -> str:
    """A task as version 1 had it."""
    told = spec.model_dump(mode="json")
    challenges = told.pop("challenges")
    restarts = [challenge["component"] for challenge in challenges if challenge["kind"] == "restart"]
    return json.dumps(told | {"version": 1, "restarts": restarts})


def _earlier_stages(stages: Iterable[Stage]) -> list[Stage]:
    return [stage.model_copy(update={"name": stage.name.replace("churn-mariadb", "churn")}) for stage in stages]


def digest(content: bytes) -> FileDigest:
    """A file's entry in the manifest."""
    return FileDigest(sha256=hashlib.sha256(content).hexdigest(), bytes=len(content))


def _jsonl(records: Iterable[BaseModel]) -> bytes:
    return b"".join(record.model_dump_json().encode() + b"\n" for record in records)


def build(
    *,
    fixed: dict[str, float | None] | None = None,
    saved: bool = True,
    declared: float | None = DECLARED,
    causes: tuple[NamedCause, ...] | None = None,
    seed: int = 7,
) -> Episode:
    """Play an episode.

    Args:
        fixed: when the agent repaired each fault; None: never. Both at FIXED where not given.
        saved: the queue's repair is in the ACL file too, so that it outlives the restart.
        declared: when the agent declared; None: never.
        causes: the causes that its declaration names.
        seed: of the latencies.
    """
    moments = dict.fromkeys(FAULTS, FIXED) | (fixed or {})
    broken = _Broken(
        moments[GRANTS], moments[QUEUE], queue_returns=None if saved or moments[QUEUE] is None else RESTART + 8
    )
    lines = _ledger(broken, seed)
    backlog = broken.at(QUEUE, AGENT_END)
    episode = Episode(
        task=task(),
        stages=[Stage(name=name, started=START + at, seconds=lasts, ok=True) for name, at, lasts in STAGES],
        facts={label: _facts(label, moments, saved=saved) for label in "ABCD"},
        lines=list(lines),
        drained=None if backlog else _reconciled(lines, 203),
        end=None if broken.at(QUEUE, END) else _reconciled(lines, 287),
        observations=list(_observations(broken)),
        actions=[],
        health=[Health(at=START + at, alive=dict.fromkeys(HARNESS, True)) for at in range(30, 290, 2)],
        usage=[_usage(at) for at in range(30, 290, 5)],
        declaration=None if declared is None else Declaration(at=START + declared, causes=causes),
    )
    if backlog:
        episode.stage("drain", ok=False, detail="212 jobs queued in short")
    if broken.at(QUEUE, END):
        episode.stage("drain-end", ok=False, detail="98 jobs queued in short")
    _acts(episode, moments, declared)
    return episode


@dataclass(frozen=True)
class _Broken:
    """Which fault bites when."""

    grants_fixed: float | None
    queue_fixed: float | None
    queue_returns: float | None

    def at(self, fault: str, moment: float) -> bool:
        fixed = self.grants_fixed if fault == GRANTS else self.queue_fixed
        returned = fault == QUEUE and self.queue_returns is not None and moment >= self.queue_returns
        return moment >= PLANTED and (fixed is None or moment < fixed or returned)


@cache
def _ledger(broken: _Broken, seed: int) -> tuple[LedgerLine, ...]:
    return tuple(_lines(task(), broken, random.Random(seed)))


def _lines(spec: TaskSpec, broken: _Broken, chance: random.Random) -> Iterable[LedgerLine]:
    arrivals = sorted(
        (number / kind.rate + chance.random() / kind.rate, name)
        for name, kind in spec.load.kinds.items()
        for number in range(int(22 * kind.rate), int(289 * kind.rate))
    )
    for id_, (due, kind) in enumerate(arrivals, start=1):
        when = START + due
        record = {"delete": f"ToDo/d{id_}", "create": f"ToDo/c{id_}", "bulk-update": f"ToDo/b{id_ % 40}"}.get(kind)
        effect = {"delete": "deleted", "create": "created", "bulk-update": f"v{id_}"}.get(kind, "")
        records = (record,) if record else ()
        if kind == "delete":
            records = (f"ToDo/d{id_}", f"job/Version/d{id_}")
        yield Intent(id=id_, kind=kind, due=when, at=when + 0.002, records=records, effect=effect)
        yield _outcome(id_, kind, due, broken, chance)


def _outcome(id_: int, kind: str, due: float, broken: _Broken, chance: random.Random) -> Outcome:
    typical = {"bulk-update": 0.5, "sign-in": 0.2}.get(kind, 0.06)
    latency = typical * chance.lognormvariate(0, 0.35)
    fields: dict[str, object] = {"result": "ok", "status": 200}
    fault = BREAKS.get(kind)
    if fault == GRANTS and broken.at(GRANTS, due):
        fields = {"result": "indeterminate", "status": 500, "error": "OperationalError 1142"}
    elif fault == QUEUE and broken.at(QUEUE, due):
        fields = {"result": "wrong", "status": 200, "error": "no effect in time", "owed": True}
        latency = 10.0
    at = START + due + latency
    return Outcome.model_validate({"id": id_, "kind": kind, "due": START + due, "at": at, "latency": latency, **fields})


@cache
def _reconciled(lines: tuple[LedgerLine, ...], taken: float) -> Reconciled:
    """What honest stores say: each record in the state of the last touch that was certain to take effect."""
    records: dict[str, RecordState] = {}
    for name, its in touches(lines, START + taken, Settling().job).items():
        certain = [touch for touch in its if touch.certain]
        gone = any(touch.effect == "deleted" for touch in certain)
        values = [touch.effect for touch in certain if touch.effect not in ("deleted", "created")]
        records[name] = RecordState(exists=not gone, value=values[-1] if values and not gone else None)
    queues = {name: {"queued": 0, "started": 0, "failed": 0} for name in ("short", "default", "long")}
    return Reconciled(taken=START + taken, records=records, queue=queues)


def _observations(broken: _Broken) -> Iterable[Observation]:
    for at in range(31, 290, 2):
        for fault in FAULTS:
            state = "planted" if broken.at(fault, at) else "clear"
            seen = {"DELETE": state == "clear"} if fault == GRANTS else {"blmove": state == "clear"}
            yield Observation.model_validate({"at": START + at, "fault": fault, "state": state, "seen": seen})


def _usage(at: float) -> Usage:
    """A steady application; MariaDB and the worker have other pods after their restarts."""
    containers = tuple(
        Container(component=name, name=name, pod=f"{name}-{at >= RESTART}", restarts=0, measured=START + at - 2,
                  cpu=at * 0.2, memory=memory)
        for name, memory in (("mariadb", 200_000_000), ("web", 300_000_000), ("worker-short", 95_000_000))
    )  # fmt: skip
    return Usage(at=START + at, containers=containers, connections={"mariadb": 12, "redis-queue": 8}, waiting=0)


def _facts(label: str, fixed: dict[str, float | None], *, saved: bool) -> dict[str, Facts]:
    """A state like frappe's: A healthy, B broken, C and D as the repairs left it."""
    done = {fault: moment is not None for fault, moment in fixed.items()}
    granted = label == "A" or (label in "CD" and done[GRANTS])
    live = label == "A" or (label == "C" and done[QUEUE]) or (label == "D" and done[QUEUE] and saved)
    file = label == "A" or (label in "CD" and done[QUEUE] and saved)
    privileges = ("SELECT", "INSERT", "UPDATE", *(("DELETE",) if granted else ()))
    mariadb: Facts = {f"accounts/site@%/grants/database/site/{name}": True for name in privileges}
    mariadb |= {
        "accounts/site@%/locked": False,
        "accounts/operator@%/grants/global/RELOAD": True,
        "globals/live/read_only": "OFF",
        "globals/live/max_connections": 151,
        "globals/file/mariadbd/max_connections": "151",
        "schema/site/table/tabToDo": "5f1c",
        "rows/site.tabNote": "77ab",
    }
    queue: Facts = {"config/live/maxmemory": "268435456", "config/file/maxmemory": "268435456"}
    for where, allowed in (("live", live), ("file", file)):
        commands = ("rpush", "lpop", "ping", *(POPS if allowed else ()))
        queue |= {f"acl/{where}/app/commands/{command}": True for command in commands}
        queue |= {f"acl/{where}/app/keys/~*": True, f"acl/{where}/app/enabled": True}
    components = ("edge", "web", "worker-short", "worker-default", "scheduler")
    kubernetes: Facts = {f"deployments/{name}/replicas": 1 for name in components}
    return {"mariadb": mariadb, "redis-queue": queue, "redis-cache": {"config/live/maxmemory": "67108864"},
            "kubernetes": kubernetes}  # fmt: skip


def _acts(episode: Episode, fixed: dict[str, float | None], declared: float | None) -> None:
    episode.act(90, "status", kind="read")
    episode.act(95, "SHOW GRANTS", kind="read", source="mariadb")
    if (moment := fixed[GRANTS]) is not None:
        episode.act(moment - 0.5, "GRANT", source="mariadb", detail="GRANT DELETE ON site.* TO site@'%'")
    if (moment := fixed[QUEUE]) is not None:
        episode.act(moment - 0.4, "acl-set", detail='{"rules":["+blmove","+blpop"]}')
        episode.act(moment - 0.3, "acl-save")
    if declared is not None:
        episode.act(declared - 10, "status", kind="read")
        episode.act(declared, "declare", kind="declare")
