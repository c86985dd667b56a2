"""One trial as the checks see it: the evidence, and the moments and windows that follow from it."""

from dataclasses import dataclass
from functools import cached_property

from incident_arena.formats.records import Observation, Stage
from incident_arena.formats.task import KindLoad
from incident_arena.formats.verdict import Window
from incident_arena.judge.evidence import Evidence
from incident_arena.ledger import reading as ledger


@dataclass(frozen=True)
class Span:
    """A stretch of time, [start, end), in seconds since the epoch."""

    name: str
    start: float
    end: float


@dataclass(frozen=True)
class Trial:
    """The evidence with its derived moments. All of it is computed from the evidence alone, when first asked for."""

    evidence: Evidence

    def stage(self, name: str) -> Stage:
        """One stage.

        Raises:
            KeyError: the episode has none of this name.
        """
        return self.evidence.stages[name]

    def ended(self, name: str) -> float:
        """When a stage ended."""
        return self.stage(name).started + self.stage(name).seconds

    @property
    def judged(self) -> dict[str, KindLoad]:
        """The operation kinds whose rates count."""
        return {name: kind for name, kind in self.evidence.task.load.kinds.items() if kind.judged}

    @property
    def symptoms(self) -> frozenset[str]:
        """Kinds in which the load saw that something is broken; none where nothing is planted and nothing happens."""
        shown = self.faults or self.evidence.task.scenes
        return frozenset(self.evidence.task.symptom.kinds if shown else ())

    @property
    def faults(self) -> tuple[str, ...]:
        """Names of the planted faults; empty in a no-fault task."""
        return tuple(fault.name for fault in self.evidence.task.faults)

    @property
    def declared(self) -> float | None:
        """When the agent declared, whether in time or not."""
        return self.evidence.declaration.at if self.evidence.declaration else None

    @property
    def deadline(self) -> float:
        """When the agent's time is over."""
        return self.evidence.manifest.agent_started + self.evidence.task.deadlines.agent

    @property
    def in_time(self) -> float | None:
        """When the agent declared, if it did so before its deadline. A later declaration is none."""
        return self.declared if self.declared is not None and self.declared <= self.deadline else None

    @property
    def sealed(self) -> str:
        """Why there are no challenges, no soak and no snapshot D; empty when there are."""
        return self.evidence.manifest.sealed

    @property
    def challenged(self) -> float:
        """When the challenges begin: the start of the soak. What is seen before it is the state at C."""
        return self.ended("reconcile") if self.sealed else self.stage("soak").started

    @property
    def over(self) -> float:
        """When the challenges have ended, and the window after them."""
        return self.challenged if self.sealed else self.ended("restarted")

    @cached_property
    def operations(self) -> tuple[ledger.Operation, ...]:
        """The load's operations, in the order of their ids."""
        return tuple(ledger.operations(self.evidence.ledger).values())

    @cached_property
    def baseline(self) -> Span:
        """The healthy window that this episode's rates are compared with."""
        end = self.ended("baseline")
        return Span("baseline", end - self.evidence.task.windows.baseline, end)

    @cached_property
    def broken(self) -> Span:
        """B: after everything was planted and before the agent came."""
        start = self.ended("plant" if "plant" in self.evidence.stages else "baseline")
        return Span("broken", start, self.evidence.manifest.agent_started)

    @cached_property
    def acceptance(self) -> Span:
        """The window before the declaration; without one in time, the one before the agent's end."""
        end = self.evidence.manifest.agent_ended if self.in_time is None else self.in_time
        name = "agent-end" if self.in_time is None else "declaration"
        return Span(name, end - self.evidence.task.windows.acceptance, end)

    @cached_property
    def soak(self) -> Span:
        """The whole soak: nothing is done, the repair just has to hold."""
        return Span("soak", self.stage("soak").started, self.ended("soak"))

    @cached_property
    def restarted(self) -> Span:
        """The window after the restarts, once the components had time to come back."""
        end = self.ended("restarted")
        return Span("restarted", end - self.evidence.task.windows.restarted, end)

    @property
    def spans(self) -> tuple[Span, ...]:
        """The windows in the verdict, in the order of time; without a baseline the trial is inadmissible."""
        baseline = (self.baseline,) if "baseline" in self.evidence.stages else ()
        challenged = () if self.sealed else (self.soak, self.restarted)
        return (*baseline, self.acceptance, *challenged)

    def window(self, span: Span) -> Window:
        """The load's figures in a window."""
        return ledger.window(self.evidence.ledger, span.start, span.end, span.name)

    def observed(self, fault: str, start: float, end: float) -> tuple[Observation, ...]:
        """What a fault's observer saw in [start, end], in the order of time."""
        return tuple(
            sorted(
                (seen for seen in self.evidence.observations if seen.fault == fault and start <= seen.at <= end),
                key=lambda seen: seen.at,
            )
        )
