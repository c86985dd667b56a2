"""Tasks: a folder each, `substrates/<substrate>/tasks/<name>/`, with its facts in task.toml.

task.toml         TaskSpec
instruction.md    what the agent is told (a Jinja2 template over the substrate's facts)
values.yaml       overlay over the chart's values; may be missing
solution/*.sh     solve.sh, and further right fixes
wrong/*.sh        wrong fixes; the first line `# class: …` says which class each must get
"""

from typing import Annotated, Any, Literal

from pydantic import Field, JsonValue, model_validator

from incident_arena.formats.records import Record, Scalar

type Positive = Annotated[float, Field(gt=0)]
type Mapping = Literal["ours", "paper"]
"""Which check is in which gate (judge/gates.py)."""
type Declaring = Literal["required", "recorded"]
"""Whether an agent that never declares fails for that."""


class Policy(Record):
    """How a suite counts its trials. A verdict holds the reward under every policy, whichever is the suite's."""

    gates: Mapping = "ours"
    declaring: Declaring = "required"


class PlantedFault(Record):
    """A fault by its name (`<component>.<aspect>`), with the parameters that the fault itself validates."""

    name: str
    parameters: dict[str, Scalar | list[str]] = Field(default_factory=dict)
    draws: dict[str, Annotated[list[Scalar | list[str]], Field(min_length=2)]] = Field(default_factory=dict)
    """Values of which the trial's seed takes one for each parameter named here; empty in a task that is played."""


class KindLoad(Record):
    """One operation kind in the load: its rate in operations per second, and how it is judged."""

    rate: Positive
    judged: bool = False
    success_floor: Annotated[float, Field(gt=0, le=1)] = 0.97
    """Absolute floor on the share of operations that succeed."""
    p95_floor: Positive = 1.0
    """Seconds under which a p95 is never called out of bounds, whatever the healthy window had."""
    burst: Annotated[int, Field(ge=1)] = 1
    """Arrivals come in groups of this many at one instant; the rate stays."""


class LoadSpec(Record):
    """The load: seeded arrivals on a fixed schedule."""

    seed: int = 1
    kinds: dict[str, KindLoad]
    timeout: Positive = 10
    """Seconds within which an operation has to be answered; then its outcome is indeterminate."""
    effect_timeout: Positive = 10
    """Seconds after the answer within which the effect of a kind that is judged by it has to be seen."""
    in_flight: Annotated[int, Field(ge=1)] = 128
    """Operations under way at once; an arrival above that is shed."""


class Windows(Record):
    """Lengths in seconds."""

    baseline: Positive = 60
    acceptance: Positive = 60
    soak: Positive = 60
    restarted: Positive = 60


class Deadlines(Record):
    """Seconds within which each stage has to end."""

    node: Positive = 60
    deploy: Positive = 60
    ready: Positive = 180
    healthy: Positive = 120
    baseline: Positive = 180
    plant: Positive = 30
    symptom: Positive = 120
    snapshot: Positive = 60
    agent: Positive = 3600
    drain: Positive = 300
    restart: Positive = 120
    gather: Positive = 2700
    """More than all waits in it together: gathering that overruns gives no verdict, which nobody may bring about."""


class Symptom(Record):
    """The fault is confirmed when each of these kinds' success falls to `at_most` in a window of `window` seconds."""

    kinds: dict[str, Annotated[float, Field(ge=0, lt=1)]]
    window: Positive = 10


class Event(Record):
    """Something that is done to the application although it breaks nothing, with parameters that its kind validates.

    As a challenge it is done after the soak, and the repair has to come through it; as a scene, before the agent.
    """

    kind: str
    component: str = ""
    """What it is done to; empty where the kind is done to all."""
    parameters: dict[str, JsonValue] = Field(default_factory=dict)

    @property
    def stage(self) -> str:
        """Name of the stage that it is in the records."""
        return f"{self.kind}-{self.component}" if self.component else self.kind


class Settling(Record):
    """Seconds that the application may take by itself. What is due sooner is claimed by nobody."""

    job: Positive = 10
    """From an operation's answer until the effect of its background work is due."""
    aftermath: Positive = 5
    """After an event, in which accepted background work may still meet it."""
    back: Positive = 60
    """After the challenges, until every kind of operation has to succeed again."""


class Invariant(Record):
    """What must be true of all that clients witnessed (records.Witness), as the substrate states it.

    `once`: no subject has two values. `in order`: a subject's values, which are numbers, only rise, in the order in
    which they were witnessed. `paired`: for each subject below `of` there is one of the same name below `other`.
    """

    name: str
    rule: Literal["once", "in order", "paired"]
    of: str
    """Beginning of the subjects that it speaks of, `order/`."""
    other: str = ""

    @model_validator(mode="after")
    def _whole(self) -> "Invariant":
        if (self.rule == "paired") != bool(self.other):
            raise ValueError("`other` belongs to the rule `paired` and to no other")
        return self


class Permit(Record):
    """One entry of the permitted list: a path pattern over facts and the values allowed before and after.

    `path` is matched segment by segment, `*` matches within a segment, `**` any number of segments. `after` None: any.
    """

    rule: str
    """Its name, shown in the verdict."""
    path: str
    before: list[Scalar] | None = None
    after: list[Scalar] | None = None


class TaskSpec(Record):
    """A task's facts. `name` is `<substrate>/<folder>`."""

    version: Literal[2] = 2
    name: str
    title: str
    substrate: str
    surface: Literal["confined", "shell-visible", "build-capable"]
    layer: Literal["configuration", "runtime", "image"]
    onset: Literal["at start", "under load"]
    faults: list[PlantedFault]
    load: LoadSpec
    symptom: Symptom
    windows: Windows = Windows()
    deadlines: Deadlines = Deadlines()
    challenges: list[Event]
    """What the repair has to come through, in order."""
    scenes: list[Event] = Field(default_factory=list)
    """What happens before the agent comes, in order, after the faults are planted."""
    settling: Settling = Settling()
    harm_budget: Positive = 20
    """Seconds in all for which what worked when the agent came may fail or be late: brief restarts are ordinary."""
    policy: Policy = Policy()
    """The suite's: by it a trial gets its reward and its class."""
    invariants: list[Invariant] = Field(default_factory=list)
    """The substrate's, which the export adds."""
    seed: Annotated[int, Field(ge=0)] = 0
    """The trial's, by which the faults' values were drawn; 0 in a task that nobody plays yet."""
    permitted: list[Permit] = Field(default_factory=list)
    """Beside what repairs the faults, which is added when a trial draws its values (faults/drawing.py)."""
    forbidden: list[str] = Field(default_factory=list)
    """Acts that the action log must not hold, as `source/what` patterns (`admin/queue-flush`)."""
    allowed: list[str] = Field(default_factory=list)
    """The only changes that a source's log may hold, as such patterns (`<source>/<what>`), for sources named here."""
    vocabulary: list[str] = Field(default_factory=list)
    """`component.aspect` names that a declaration may give."""

    @model_validator(mode="before")
    @classmethod
    def _of_earlier_evidence(cls, given: Any) -> Any:
        """Version 1 names restarts, which one churn followed: recorded evidence of it is judged as ever."""
        if not isinstance(given, dict) or given.get("version") != 1 or "restarts" not in given:
            return given
        told = {key: value for key, value in given.items() if key not in {"restarts", "version"}}
        restarts = [{"kind": "restart", "component": component} for component in given["restarts"]]
        return told | {"challenges": [*restarts, {"kind": "churn"}]}
