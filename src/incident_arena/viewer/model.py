"""What the page's script is given: JSON in packs (packs.py).

The index has what the leaderboard and the lists need; a TrialDetail, its Timeline and its
Transcript are loaded when their trial is opened. Times inside a
Timeline are seconds since the agent started (negative before it), rounded to a tenth; every other time is seconds since
the epoch.
"""

from pydantic import BaseModel, ConfigDict

from incident_arena.analysis.judgements import Judgement
from incident_arena.analysis.shapes import Picture
from incident_arena.analysis.sides import Sides
from incident_arena.formats.records import Scalar
from incident_arena.formats.verdict import Verdict

type Ref = tuple[int, int]
"""Where a document is: number of its pack, and its place in it."""


class Shown(BaseModel):
    """Something the page shows."""

    model_config = ConfigDict(frozen=True)


class KindSeries(Shown):
    """One operation kind in bins of equal length.

    Attributes:
        n: operations due in each bin.
        ok: those of them that succeeded.
        p95: 95th percentile of their latency in milliseconds, None where nothing ended.
    """

    name: str
    judged: bool
    n: list[int]
    ok: list[int]
    p95: list[int | None]


class Span(Shown):
    """A state over a stretch of time."""

    start: float
    end: float
    state: str
    text: str = ""


class Lane(Shown):
    """A named row of spans."""

    name: str
    spans: list[Span]


class Act(Shown):
    """One act of the agent, by the servers' own audit."""

    at: float
    source: str
    actor: str
    kind: str
    what: str
    detail: str
    ok: bool
    forbidden: bool


class Timeline(Shown):
    """What happened when. `origin` is the agent's start (seconds since the epoch), `step` a bin's length in seconds."""

    origin: float
    start: float
    end: float
    step: float
    kinds: list[KindSeries]
    stages: list[Span]
    observers: list[Lane]
    health: list[Lane]
    acts: list[Act]
    acts_left_out: int = 0
    declared: float | None = None
    agent_ended: float | None = None


class Bound(Shown):
    """What the task demands of one operation kind, besides its own healthy window."""

    kind: str
    judged: bool
    rate: float
    success_floor: float
    p95_floor: float


class QueueState(Shown):
    """Jobs by state in each queue at one moment; also how many of the ledger's records were looked up."""

    name: str
    taken: float
    queues: dict[str, dict[str, int]]
    records: int
    seeds_missing: list[str]


class TaskFacts(Shown):
    """A task as it was played."""

    name: str
    title: str = ""
    substrate: str = ""
    surface: str = ""
    layer: str = ""
    onset: str = ""
    faults: list[str] = []
    permitted: list[str] = []
    windows: dict[str, float] = {}
    bounds: list[Bound] = []


class TrialDetail(Shown):
    """One trial when it is opened. `deciding` is the check that gave the failure class; None when nothing failed."""

    verdict: Verdict | None
    deciding: str | None
    during: str
    """The stage in which the deciding moment lies."""
    reconciled: list[QueueState]
    judgements: list[Judgement]
    """What judges of trajectories said of it."""
    facts: list[tuple[str, str]]
    """Label and value: what was run, and where it is."""
    notes: list[str]
    """What could not be shown, and why."""


class Call(Shown):
    """A tool call; `arguments` as text."""

    name: str
    arguments: str


class Step(Shown):
    """One step of a transcript. `at` as Harbor wrote it (ISO 8601)."""

    number: int
    source: str
    at: str
    model: str
    text: str
    reasoning: str
    calls: list[Call]
    results: list[str]


class Log(Shown):
    """A text file that the trial left."""

    name: str
    text: str
    left_out: int = 0
    """Characters in the middle that are not shown."""


class Transcript(Shown):
    """What the agent said and did, and what its scripts printed."""

    steps: list[Step]
    steps_left_out: int
    logs: list[Log]
    note: str = ""


class TrialRow(Shown):
    """One line of a list of trials. `who`, `task` and `status` are as in `analysis.trial.Trial`."""

    name: str
    job: str
    task: str
    who: str
    agent: str
    effort: str
    status: str
    reason: str
    simulated: bool
    reward: int | None
    failure_class: str
    refused: bool
    outcome: str
    safety: str
    repaired: int | None
    faults: int | None
    agent_seconds: float | None
    started: float | None
    turns: int | None
    tokens: int | None
    cost: float | None
    cost_source: str | None
    """As in the report's table `trials`: `prices`, or `agent` for what the agent itself reported."""
    detail: Ref
    timeline: Ref | None
    transcript: Ref | None


class Column(Shown):
    """A column of a table. `kind`: text, count, share, heat, money, duration, tokens, number."""

    name: str
    kind: str
    help: str = ""


class Cell(Shown):
    """A figure with its interval, where it has one."""

    value: Scalar
    low: float | None = None
    high: float | None = None
    note: str = ""


class Table(Shown):
    """A table that `analysis` computed.

    Attributes:
        links: what its first column names: who, task, or nothing.
        first: shown at once, not on demand.
    """

    key: str
    title: str
    caption: str
    links: str
    first: bool
    columns: list[Column]
    rows: list[list[Cell]]


class Index(Shown):
    """The first thing that the page reads."""

    version: int
    product: str
    made: float
    token: str
    """What the files beside the page must carry, so that another page's are not taken for them."""
    folder: str
    simulated: int
    """Trials that the simulator made up; the page must say so beside their figures."""
    jobs: list[str]
    notes: list[str]
    statuses: dict[str, str]
    tables: list[Table]
    pictures: list[Picture]
    compared: Sides
    tasks: list[TaskFacts]
    trials: list[TrialRow]
    outside: list[int]
    """Packs that are files beside the page."""
