"""How an episode stands, put together from what its records and its referee say."""

import math
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from pydantic import TypeAdapter

from incident_arena.formats.records import Action, Declaration, Health, LedgerLine, Observation, Outcome, Stage
from incident_arena.formats.task import TaskSpec
from incident_arena.harbor.journal import Attempt
from incident_arena.ledger.reading import PAUSED

WINDOW_S = 15.0
ACTS = 6
P95 = 0.95
_LEDGER: TypeAdapter[LedgerLine] = TypeAdapter(LedgerLine)


@dataclass(frozen=True)
class KindNow:
    """One kind of operation in the last seconds: how many ended, how many well, and the 95th percentile in seconds."""

    kind: str
    total: int
    ok: int
    p95: float | None
    floor: float | None
    """The share of successes below which it is judged bad; None when it is not judged."""

    @property
    def share(self) -> float | None:
        """Of successes; None when nothing ended."""
        return self.ok / self.total if self.total else None


@dataclass
class Picture:
    """One episode as it stands.

    Attributes:
        attempt: the runner's record.
        task: as it is played; None until the referee is there.
        faults: the last look at each.
        health: the harness's last.
        acts: the agent's last ones.
        reads, changes: how many there were.
    """

    attempt: Attempt
    clock: Callable[[], float] = time.time
    task: TaskSpec | None = None
    stages: dict[str, Stage] = field(default_factory=dict)
    faults: dict[str, Observation] = field(default_factory=dict)
    since: dict[str, float] = field(default_factory=dict)
    """When each fault took its state: planted or clear."""
    health: Health | None = None
    acts: deque[Action] = field(default_factory=lambda: deque(maxlen=ACTS))
    reads: int = 0
    changes: int = 0
    declared: Declaration | None = None
    agent_started: float | None = None
    agent_ended: float | None = None
    _outcomes: deque[Outcome] = field(default_factory=deque)
    _known: dict[str, str] = field(default_factory=dict)
    _before: list[Action] = field(default_factory=list)
    """Acts that were read before it was known when the agent had started."""

    def feed(self, new: dict[str, list[str]]) -> None:
        """Take what one look brought."""
        for text in new.get("task", []):
            self.task = self.task or next(_valid(TaskSpec.model_validate_json, [text]), None)
        for text in new.get("declaration", []):
            self.declared = next(_valid(Declaration.model_validate_json, [text]), None)
        for state in _valid(TypeAdapter(dict[str, Any]).validate_json, new.get("state", [])):
            self.agent_started, self.agent_ended = state.get("agent_started"), state.get("agent_ended")
        for stage in _valid(Stage.model_validate_json, new.get("stages", [])):
            self.stages.setdefault(stage.name, stage)
        self._observe(_valid(Observation.model_validate_json, new.get("observations", [])))
        for health in _valid(Health.model_validate_json, new.get("health", [])):
            self.health = health
        lines = _valid(_LEDGER.validate_json, new.get("ledger", []))
        self._outcomes.extend(line for line in lines if line.type == "outcome" and line.error != PAUSED)
        while self._outcomes and self._outcomes[0].at < self.clock() - WINDOW_S:
            self._outcomes.popleft()
        self._before += _valid(Action.model_validate_json, new.get("acts", []))
        self._act()

    def _observe(self, looks: Iterable[Observation]) -> None:
        for seen in looks:
            self.faults[seen.fault] = seen
            # A store that restarts can't be looked at for a moment; that is no new state.
            if seen.state != "unknown" and self._known.get(seen.fault) != seen.state:
                self._known[seen.fault] = seen.state
                self.since[seen.fault] = seen.at

    def _act(self) -> None:
        if self.agent_started is None:
            return
        for act in sorted(self._before, key=lambda act: act.at):
            # A store's log may have whole seconds.
            if act.at < int(self.agent_started):
                continue
            self.reads += act.kind == "read"
            self.changes += act.kind == "change"
            if act.kind != "read":
                self.acts.append(act)
        self._before.clear()

    def all_stages(self) -> list[Stage]:
        """The runner's and the referee's, each once, in order."""
        found = {stage.name: stage for stage in self.attempt.stages}
        return sorted(({**self.stages, **found}).values(), key=lambda stage: stage.started)

    def kinds(self) -> list[KindNow]:
        """The load in the last seconds, by kind."""
        since = self.clock() - WINDOW_S
        recent = [one for one in self._outcomes if one.at >= since]
        known = self.task.load.kinds if self.task else {}
        return [
            _kind(name, recent, known[name].success_floor if name in known and known[name].judged else None)
            for name in sorted({one.kind for one in recent} | known.keys())
        ]

    def silent(self) -> list[str]:
        """Parts of the harness that gave no sign of life."""
        return sorted(name for name, alive in (self.health.alive if self.health else {}).items() if not alive)

    @property
    def over(self) -> bool:
        """Whether the runner has closed the record."""
        return self.attempt.state in {"inadmissible", "stopped"}

    def phase(self) -> str:
        """What goes on."""
        if self.over:
            return "over" if self.attempt.state == "stopped" else f"inadmissible: {self.attempt.reason}"
        if self.attempt.state == "starting":
            return "the incident is prepared"
        if self.agent_ended is not None:
            return "evidence is gathered"
        return "declared" if self.declared else "the agent works"


def _kind(name: str, recent: list[Outcome], floor: float | None) -> KindNow:
    mine = [one for one in recent if one.kind == name]
    good = sorted(one.latency for one in mine if one.result == "ok")
    p95 = good[math.ceil(P95 * len(good)) - 1] if good else None
    return KindNow(name, len(mine), len(good), p95, floor)


def _valid[M](read: Callable[[str], M], lines: Iterable[str]) -> Iterator[M]:
    """What can be read; a file may just be being written, and the watcher judges nothing."""
    for line in lines:
        try:
            yield read(line)
        except ValueError:
            continue
