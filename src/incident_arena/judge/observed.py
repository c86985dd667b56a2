"""What a fault's observer saw in a stretch of time, in one answer; and since when a fault was repaired."""

from dataclasses import dataclass
from typing import Literal

from incident_arena.formats.records import Observation
from incident_arena.formats.verdict import TrackedFault
from incident_arena.judge.trial import Trial


@dataclass(frozen=True)
class Look:
    """`state`: planted when it was seen once, else what the last look saw that was not blind; unknown when all were.

    `shown`: what was seen, to read.
    """

    state: Literal["planted", "clear", "unknown"]
    at: float
    shown: str


def look(trial: Trial, fault: str, start: float, end: float) -> Look:
    """All looks at one fault in [start, end] as one. Without a look the state is unknown."""
    seen = trial.observed(fault, start, end)
    if not seen:
        return Look("unknown", end, "(no look in this time)")
    planted = next((one for one in seen if one.state == "planted"), None)
    clear = next((one for one in reversed(seen) if one.state != "unknown"), seen[-1])
    decisive = planted or clear
    return Look(decisive.state, decisive.at, _shown(decisive))


def _shown(seen: Observation) -> str:
    facts = ", ".join(f"{name}={value}" for name, value in seen.seen.items())
    return f"({facts})" if facts else ""


def tracked(trial: Trial) -> tuple[TrackedFault, ...]:
    """For each planted fault: when it was first seen clear after it was last seen planted, before the agent's end.

    Looks are seconds apart, so the first look after the agent's end still speaks for the time before it.
    """
    return tuple(TrackedFault(fault=fault, repaired=_repaired(trial, fault)) for fault in trial.faults)


def _repaired(trial: Trial, fault: str) -> float | None:
    end = trial.evidence.manifest.agent_ended
    looks = [one for one in trial.observed(fault, 0.0, trial.challenged) if one.state != "unknown"]
    after = next((index for index, one in enumerate(looks) if one.at >= end), len(looks) - 1)
    looks = looks[: after + 1]
    last = max((index for index, one in enumerate(looks) if one.state == "planted"), default=-1)
    return min(looks[last + 1].at, end) if last + 1 < len(looks) else None
