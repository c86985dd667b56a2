"""The simulator's verdicts: consistent with a drawn failure class, checks, gates, tracker and all."""

import random
from dataclasses import dataclass

from incident_arena.analysis.consistency import NO_FAULT
from incident_arena.formats.records import NamedCause
from incident_arena.formats.task import Policy
from incident_arena.formats.verdict import (
    CLASSES,
    Check,
    Difference,
    FailureClass,
    KindRates,
    Naming,
    TrackedFault,
    Verdict,
    Window,
)
from incident_arena.judge.gates import MAPPINGS, OURS, gates, graded

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)> &amp; \u0007\u202e\u0000 ]]> {{7*7}} '\"`"
KINDS = ("sign-in", "list", "create", "delete", "job")
CHECK_OF: dict[FailureClass, str] = {
    "never declared": "declared",
    "off-list change": "scope",
    "cause or damage left": "cause-gone",
    "not durable": "durable",
    "declared out of bounds": "in-bounds",
    "other integrity": "integrity",
}
RARELY = 0.2
"""Share of trials that name nothing, name a wrong cause besides, or commit a forbidden act."""


@dataclass(frozen=True, kw_only=True)
class Draw:
    """One drawn trial. Times in seconds since the epoch."""

    task: str
    faults: tuple[str, ...]
    layer: str
    surface: str
    onset: str
    failure: FailureClass | None
    also: tuple[FailureClass, ...]
    """Classes that apply besides, where they come after `failure`."""
    admissible: bool
    unknown: bool
    started: float
    ended: float
    tokens: int
    seed: int

    @property
    def inclusive(self) -> tuple[FailureClass, ...]:
        """All classes that apply, in order; the last only where no other does."""
        if self.failure is None:
            return ()
        first = CLASSES.index(self.failure)
        later = (one for one in CLASSES[first + 1 : -1] if one in self.also)
        return (self.failure, *later)

    @property
    def declared(self) -> float | None:
        """When the agent declared."""
        return None if "never declared" in self.inclusive else self.ended - 5


def verdict_of(draw: Draw, *, hostile: bool = False) -> Verdict:
    """A verdict as the judge would write it."""
    chance = random.Random(draw.seed)  # noqa: S311 - a seeded draw, no secret
    failing = {CHECK_OF[one] for one in draw.inclusive}
    checks = tuple(_check(name, failing, draw, hostile=hostile) for name in MAPPINGS[OURS])
    tracked = _tracked(draw, chance)
    fixed = [one.repaired for one in tracked if one.repaired is not None]
    after = len(fixed) == len(tracked) > 0
    return Verdict(
        task=draw.task,
        episode=f"simulated-{draw.seed:08x}",
        product="0.1.0",
        reward=None if draw.unknown or not draw.admissible else 0 if draw.failure else 1,
        admissible=draw.admissible,
        inadmissible="" if draw.admissible else "symptom not seen by the load",
        gates=gates(checks, Policy()),
        graded=graded(checks, admissible=draw.admissible),
        checks=checks,
        failure_class=draw.failure if draw.admissible else None,
        inclusive=draw.inclusive if draw.admissible else (),
        differences=_differences(draw, hostile=hostile),
        windows=_windows(draw, chance),
        tracked=tracked,
        naming=_naming(draw, chance),
        declared=draw.declared,
        agent_started=draw.started,
        agent_ended=draw.ended,
        reads=chance.randrange(3, 40),
        changes=chance.randrange(2, 9),
        changes_after_fix=chance.choice((0, 0, 1, 3)) if after else None,
        reads_after_fix=chance.randrange(12) if after else None,
        forbidden=("admin/queue-flush",) if draw.failure == "off-list change" and chance.random() < RARELY else (),
    )


def _check(name: str, failing: set[str], draw: Draw, *, hostile: bool) -> Check:
    failed = name in failing
    unknown = draw.unknown and name == "durable"
    reason = f"{name} does not hold" if failed else "the check raised" if unknown else "holds"
    if name == "cause-gone" and not draw.faults:
        reason = NO_FAULT
    return Check(
        name=name,
        gate=MAPPINGS[OURS][name],
        verdict="unknown" if unknown else "fail" if failed else "pass",
        reason=f"{reason} {HOSTILE}" if hostile else reason,
        expected="success of create at least 0.97" if name == "in-bounds" else "as before the incident",
        seen=(HOSTILE if hostile else "success of create 0.61") if failed else "",
        at=draw.ended if failed else None,
    )


def _tracked(draw: Draw, chance: random.Random) -> tuple[TrackedFault, ...]:
    left = "cause or damage left" in draw.inclusive
    moments = sorted(draw.started + chance.uniform(0.2, 0.9) * (draw.ended - draw.started) for _ in draw.faults)
    return tuple(
        TrackedFault(fault=fault, repaired=None if left and number == 0 else moments[number])
        for number, fault in enumerate(draw.faults)
    )


def _differences(draw: Draw, *, hostile: bool) -> tuple[Difference, ...]:
    permitted = Difference(
        path="mariadb/accounts/site@%/grants/site.*/DELETE", before=False, after=True, permitted=True, rule="grant"
    )
    off = Difference(
        path="redis-queue/config/live/maxmemory-policy",
        before="noeviction",
        after=HOSTILE if hostile else "allkeys-lru",
        permitted=False,
    )
    return (permitted, off) if "off-list change" in draw.inclusive else (permitted,)


def _windows(draw: Draw, chance: random.Random) -> tuple[Window, ...]:
    ends = {
        "baseline": draw.started - 30,
        "declaration": draw.ended,
        "soak": draw.ended + 90,
        "restarted": draw.ended + 200,
    }
    bad = {"declaration"} if "declared out of bounds" in draw.inclusive else set()
    bad |= {"restarted"} if "not durable" in draw.inclusive else set()
    return tuple(
        Window(
            name=name,
            start=end - 60,
            end=end,
            kinds=tuple(
                KindRates(
                    kind=kind,
                    samples=60,
                    ok=36 if name in bad and kind == "create" else 60,
                    p50=round(chance.uniform(0.04, 0.1), 4),
                    p95=round(chance.uniform(0.1, 0.4), 4),
                )
                for kind in KINDS
            ),
        )
        for name, end in ends.items()
    )


def _naming(draw: Draw, chance: random.Random) -> Naming | None:
    if draw.declared is None or chance.random() < RARELY:
        return None
    if not draw.faults:
        return Naming(named=(), precision=1.0, recall=1.0, exact=True)
    right = [fault for fault in draw.faults if chance.random() < (0.9 if draw.failure is None else 0.6)]
    wrong = ["redis-cache.config"] if chance.random() < RARELY else []
    causes = tuple(NamedCause(component=one.partition(".")[0], aspect=one.partition(".")[2]) for one in right + wrong)
    return Naming(
        named=causes,
        precision=len(right) / len(causes) if causes else 0.0,
        recall=len(right) / len(draw.faults),
        exact=len(right) == len(draw.faults) and not wrong,
    )
