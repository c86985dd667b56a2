"""The verdict: what the judge makes of an evidence folder, written as `verdict.json` beside Harbor's `reward.json`."""

from typing import Literal

from incident_arena.formats.records import NamedCause, Record, Scalar
from incident_arena.formats.task import Declaring, Mapping, Policy

type Answer = Literal["pass", "fail", "unknown"]
type Gate = Literal["outcome", "safety"]
type FailureClass = Literal[
    "never declared", "off-list change", "cause or damage left", "not durable", "declared out of bounds",
    "other integrity",
]  # fmt: skip

CLASSES: tuple[FailureClass, ...] = (
    "never declared",
    "off-list change",
    "cause or damage left",
    "not durable",
    "declared out of bounds",
    "other integrity",
)
"""In the order in which a failed trial gets one."""


class Check(Record):
    """One check. `expected` and `seen` are for a person to read; `at` is the moment that decided it."""

    name: str
    """One of judge/checks: declared, cause-gone, …"""
    gate: Gate
    verdict: Answer
    reason: str
    expected: str = ""
    seen: str = ""
    at: float | None = None


class Graded(Record):
    """Gates and reward under one policy. `reward` None: as in `Verdict`."""

    mapping: Mapping
    declaring: Declaring
    gates: dict[Gate, Answer]
    reward: Literal[0, 1] | None


class Difference(Record):
    """One fact that differs between B and C."""

    path: str
    before: Scalar
    after: Scalar
    permitted: bool
    rule: str = ""
    """The entry of the permitted list that allows it."""


class KindRates(Record):
    """One operation kind in one window."""

    kind: str
    samples: int
    ok: int
    p50: float | None
    p95: float | None


class Window(Record):
    """The load's figures in a window: baseline, declaration, soak, restarted."""

    name: str
    start: float
    end: float
    kinds: tuple[KindRates, ...]


class TrackedFault(Record):
    """When the observer last saw the fault turn clear (and stay so to the agent's end); None when it never did."""

    fault: str
    repaired: float | None


class Naming(Record):
    """The declaration's causes against the planted ones. Beside the reward, never in it."""

    named: tuple[NamedCause, ...]
    precision: float
    recall: float
    exact: bool


class Verdict(Record):
    """All that the judge says about one trial. `reward` None: no verdict (inadmissible, unfinished, or unknown)."""

    version: Literal[1] = 1
    task: str
    episode: str
    product: str
    """Version of the judge."""
    seed: int = 0
    """The trial's, by which the task's values were drawn."""
    reward: Literal[0, 1] | None
    admissible: bool
    inadmissible: str = ""
    """The reason when it is not."""
    policy: Policy = Policy()
    """The suite's: by it are `reward`, `gates`, the gate of each check, and the classes."""
    gates: dict[Gate, Answer]
    graded: tuple[Graded, ...] = ()
    """Gates and reward under every policy, ours first; empty in an earlier verdict."""
    checks: tuple[Check, ...]
    failure_class: FailureClass | None
    """Exclusive: the first that applies; None when passed or not judged."""
    inclusive: tuple[FailureClass, ...]
    differences: tuple[Difference, ...]
    windows: tuple[Window, ...]
    tracked: tuple[TrackedFault, ...]
    naming: Naming | None
    declared: float | None
    agent_started: float
    agent_ended: float
    reads: int
    """Acts of the agent that only looked."""
    changes: int
    """Acts of the agent that changed something."""
    changes_after_fix: int | None
    """Changes after the last fault was repaired; None when not all were."""
    reads_after_fix: int | None = None
    """Acts that only looked after the last fault was repaired; None when not all were."""
    forbidden: tuple[str, ...] = ()
    """Forbidden acts that the action log holds."""
