"""Tasks: a folder each, `substrates/<substrate>/tasks/<name>/`, with its facts in task.toml.

task.toml         TaskSpec
instruction.md    what the agent is told (a Jinja2 template over the substrate's facts)
values.yaml       overlay over the chart's values; may be missing
solution/*.sh     solve.sh, and further right fixes
wrong/*.sh        wrong fixes; the first line `# class: …` says which class each must get
"""

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from incident_arena.formats.records import Record, Scalar

type Positive = Annotated[float, Field(gt=0)]


class PlantedFault(Record):
    """A fault by its name (`<component>.<aspect>`), with the parameters that the fault itself validates."""

    name: str
    parameters: dict[str, Scalar | list[str]] = Field(default_factory=dict)


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
    agent: Positive = 1800
    drain: Positive = 120
    restart: Positive = 120
    gather: Positive = 2100
    """More than all waits in it together: gathering that overruns gives no verdict, which nobody may bring about."""


class Symptom(Record):
    """The fault is confirmed when each of these kinds' success falls to `at_most` in a window of `window` seconds."""

    kinds: dict[str, Annotated[float, Field(ge=0, lt=1)]]
    window: Positive = 10


class Challenge(Record):
    """Something that is done to the application after the soak: a kind, and the component that it is done to."""

    kind: str
    component: str = ""

    @property
    def stage(self) -> str:
        """Name of the stage that it is in the records."""
        return f"{self.kind}-{self.component}" if self.component else self.kind


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
    challenges: list[Challenge]
    """What the repair has to come through, in order."""
    permitted: list[Permit] = Field(default_factory=list)
    """Beside what repairs the faults, which the export adds."""
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
