"""An evidence folder to a Timeline: the load in bins, states as spans, acts as points."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from incident_arena.analysis.evidence import Evidence
from incident_arena.formats.records import Action, Health, Intent, Observation, Outcome, Stage
from incident_arena.formats.task import LoadSpec, TaskSpec
from incident_arena.formats.verdict import Verdict
from incident_arena.viewer.model import Act, KindSeries, Lane, Span, Timeline

BINS = 160
"""At most this many bins: more can't be told apart on a screen."""
STEPS_S = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600)
ACTS = 400
PAUSED = "paused"
"""Why the load shed an operation while the referee had it hold still: nothing was asked of the service."""
DETAIL = 600
"""Characters of an act's detail."""


@dataclass(frozen=True)
class Frame:
    """A stretch of time cut into bins. `origin`, `start` and `end` are seconds since the epoch."""

    origin: float
    start: float
    end: float
    step: float

    @property
    def bins(self) -> int:
        """How many."""
        return max(1, math.ceil((self.end - self.start) / self.step))

    def bin(self, at: float) -> int:
        """The bin that a moment lies in; may be outside of 0 … bins - 1."""
        return math.floor((at - self.start) / self.step)

    def rel(self, at: float) -> float:
        """Seconds since the agent's start."""
        return round(at - self.origin, 1)


def timeline(evidence: Evidence, verdict: Verdict | None) -> Timeline | None:
    """What happened when; None when no record says so.

    Reads the files as far as they go: a trial that died in the middle has a shorter timeline, not none.
    """
    stages = [stage for stage in evidence.stages() if math.isfinite(stage.started) and math.isfinite(stage.seconds)]
    task = evidence.task()
    operations = _operations(evidence, task.load if task else LoadSpec(kinds={}))
    observations = [look for look in evidence.observations() if math.isfinite(look.at)]
    actions = [action for action in evidence.actions() if math.isfinite(action.at)]
    moments = [stage.started for stage in stages] + [stage.started + stage.seconds for stage in stages]
    moments += [found.at for found in observations] + [action.at for action in actions] + operations.due
    if not moments:
        return None
    manifest = evidence.manifest()
    started = manifest.agent_started if manifest else verdict.agent_started if verdict else min(moments)
    ended = manifest.agent_ended if manifest else verdict.agent_ended if verdict else None
    frame = _frame(started, min(moments), max(moments))
    declaration = evidence.declaration()
    forbidden = tuple(verdict.forbidden) if verdict else ()
    return Timeline(
        origin=started,
        start=frame.rel(frame.start),
        end=frame.rel(frame.end),
        step=frame.step,
        kinds=operations.series(frame, task),
        stages=[_stage(frame, stage) for stage in stages],
        observers=_observers(frame, observations),
        health=_health(frame, evidence.health(), _settled(stages, started)),
        acts=[_act(frame, action, forbidden) for action in _kept(actions)],
        acts_left_out=max(0, len(actions) - ACTS),
        declared=frame.rel(declaration.at) if declaration else None,
        agent_ended=frame.rel(ended) if ended is not None else None,
    )


def _frame(origin: float, start: float, end: float) -> Frame:
    step = next((step for step in STEPS_S if (end - start) / step <= BINS), math.ceil((end - start) / BINS))
    return Frame(origin=origin, start=start, end=max(end, start + step), step=step)


@dataclass
class Operations:
    """The ledger in columns: for each operation its kind, when it was due, its latency and whether it succeeded."""

    kind: list[str] = field(default_factory=list)
    due: list[float] = field(default_factory=list)
    latency: list[float] = field(default_factory=list)
    ok: list[bool] = field(default_factory=list)

    def add(self, kind: str, due: float, latency: float, *, ok: bool) -> None:
        """One operation; its latency is NaN when it never ended."""
        self.kind.append(kind)
        self.due.append(due)
        self.latency.append(latency)
        self.ok.append(ok)

    def series(self, frame: Frame, task: TaskSpec | None) -> list[KindSeries]:
        """Each kind in bins, judged kinds first, then by name."""
        kinds = np.array(self.kind, dtype=object)
        bins = np.array([frame.bin(at) for at in self.due], dtype=np.int64)
        latency, ok = np.array(self.latency, dtype=np.float64), np.array(self.ok, dtype=np.bool_)
        inside = (bins >= 0) & (bins < frame.bins)
        judged = {name for name, kind in task.load.kinds.items() if kind.judged} if task else set()
        made = []
        for name in sorted(set(self.kind), key=lambda name: (name not in judged, name)):
            mine = inside & (kinds == name)
            made.append(
                KindSeries(
                    name=name,
                    judged=name in judged,
                    n=np.bincount(bins[mine], minlength=frame.bins).tolist(),
                    ok=np.bincount(bins[mine & ok], minlength=frame.bins).tolist(),
                    p95=_p95(bins[mine], latency[mine], frame.bins),
                )
            )
        return made


def _operations(evidence: Evidence, load: LoadSpec) -> Operations:
    """All operations; one without an outcome did not succeed, unless it was under way when the ledger ended."""
    found = Operations()
    open_intents: dict[int, tuple[str, float]] = {}
    for line in evidence.ledger():
        if not math.isfinite(line.due):
            continue
        if isinstance(line, Outcome):
            open_intents.pop(line.id, None)
            if line.result == "shed" and line.error == PAUSED:
                continue
            latency = line.latency if line.result != "shed" and math.isfinite(line.latency) else math.nan
            found.add(line.kind, line.due, latency, ok=line.result == "ok")
        elif isinstance(line, Intent):
            open_intents[line.id] = (line.kind, line.due)
    until = max(found.due, default=math.inf) - load.timeout - load.effect_timeout
    for kind, due in open_intents.values():
        if due <= until:
            found.add(kind, due, math.nan, ok=False)
    return found


def _p95(bins: np.ndarray, latency: np.ndarray, count: int) -> list[int | None]:
    """95th percentile (linear between order statistics, as numpy's) in milliseconds for each bin, to three digits."""
    ended = ~np.isnan(latency)
    order = np.lexsort((latency[ended], bins[ended]))
    bins, latency = bins[ended][order], latency[ended][order]
    edges = np.searchsorted(bins, np.arange(count + 1))
    made: list[int | None] = [None] * count
    for index in np.flatnonzero(np.diff(edges)):
        first, last = edges[index], edges[index + 1] - 1
        place = first + 0.95 * (last - first)
        low = int(place)
        value = latency[low] + (place - low) * (latency[min(low + 1, last)] - latency[low])
        made[index] = round(float(f"{value * 1000:.3g}"))
    return made


def _stage(frame: Frame, stage: Stage) -> Span:
    return Span(
        start=frame.rel(stage.started),
        end=frame.rel(stage.started + stage.seconds),
        state="ok" if stage.ok else "failed",
        text=f"{stage.name}\n{stage.detail[:DETAIL]}",
    )


type _Open = tuple[float, float, str, str]
"""A span while it grows: start, end, state, text."""


def _observers(frame: Frame, observations: Iterable[Observation]) -> list[Lane]:
    lanes: dict[str, list[_Open]] = {}
    for seen in sorted(observations, key=lambda seen: seen.at):
        text = ", ".join(f"{name} = {'none' if value == '' else value}" for name, value in seen.seen.items())[:DETAIL]
        _extend(lanes.setdefault(seen.fault, []), frame.rel(seen.at), seen.state, text)
    return [_lane(name, spans) for name, spans in sorted(lanes.items())]


def _settled(stages: Iterable[Stage], started: float) -> float:
    """When everything had to be up: as the baseline began, or the agent where no baseline is on record."""
    return next((stage.started for stage in stages if stage.name == "baseline"), started)


def _health(frame: Frame, health: Iterable[Health], settled: float) -> list[Lane]:
    """What was ever wrong once all was up: a component that was not alive, or a thing that was not as it was set."""
    lanes: dict[str, list[_Open]] = {}
    for look in sorted((look for look in health if math.isfinite(look.at)), key=lambda look: look.at):
        at = frame.rel(look.at)
        for name, alive in look.alive.items():
            _extend(lanes.setdefault(name, []), at, "alive" if alive else "dead", "")
        _extend(lanes.setdefault("settings", []), at, "changed" if look.changed else "alive", ", ".join(look.changed))
    since = frame.rel(settled)
    wrong = {
        name: spans
        for name, spans in lanes.items()
        if any(state != "alive" and (end > since or start >= since) for start, end, state, _ in spans)
    }
    return [_lane(name, spans) for name, spans in sorted(wrong.items())]


def _extend(spans: list[_Open], at: float, state: str, text: str) -> None:
    """Make the last span reach to `at`, and start another when the state is another one."""
    if spans:
        start, _, before, said = spans[-1]
        spans[-1] = (start, at, before, said)
        if (before, said) == (state, text):
            return
    spans.append((at, at, state, text))


def _lane(name: str, spans: list[_Open]) -> Lane:
    return Lane(
        name=name, spans=[Span(start=start, end=end, state=state, text=text) for start, end, state, text in spans]
    )


def _kept(actions: list[Action]) -> Iterator[Action]:
    """At most ACTS, in order of time; when there are more, all that changed something and then the first reads."""
    ranked = sorted(actions, key=lambda action: (action.kind == "read", action.at))[:ACTS]
    yield from sorted(ranked, key=lambda action: action.at)


def _act(frame: Frame, action: Action, forbidden: tuple[str, ...]) -> Act:
    name = f"{action.source}/{action.what}"
    names = {name, f"{name} {action.detail}".strip()}
    return Act(
        at=frame.rel(action.at),
        source=action.source,
        actor=action.actor,
        kind=action.kind,
        what=action.what,
        detail=action.detail[:DETAIL],
        ok=action.ok,
        forbidden=action.ok and not names.isdisjoint(forbidden),
    )
