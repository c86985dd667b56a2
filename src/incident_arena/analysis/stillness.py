"""A machine that stood still (suspended, a stopped VM): the runner's clock and all of a trial's records have one gap.

The runner keeps the gaps of its own heartbeat in `<trial>/machine.json`, which the agent can't write. A gap counts only
where the load, the referee and the observers left nothing in it either: nothing in the agent's reach stops all of them
and the runner, which is no part of the node.
"""

import json
from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

MACHINE_FILE = "machine.json"
EVIDENCE = Path("artifacts") / "evidence"
RECORDS = ("ledger.jsonl", "health.jsonl", "observations.jsonl")
EDGE_S = 5.0
"""Seconds at both ends of a gap in which records may stand: each of the witnesses beats at its own times."""


class Gap(BaseModel):
    """Seconds without a beat, from the last one before (seconds since the epoch)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    at: float
    seconds: float


class Stillness(BaseModel):
    """machine.json."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: int = 1
    gaps: tuple[Gap, ...]


def stood_still(trial: Path) -> str:
    """Why a trial is inadmissible for its machine; empty when it is not.

    Args:
        trial: Harbor's folder.
    """
    try:
        gaps = Stillness.model_validate_json((trial / MACHINE_FILE).read_bytes()).gaps
    except (OSError, ValidationError):
        return ""
    records = [moments for name in RECORDS if (moments := list(_moments(trial / EVIDENCE / name)))]
    for gap in gaps:
        if records and not any(_in(gap, moment) for moments in records for moment in moments):
            return f"the machine stood still for {gap.seconds:.0f} s"
    return ""


def _in(gap: Gap, moment: float) -> bool:
    return gap.at + EDGE_S < moment < gap.at + gap.seconds - EDGE_S


def _moments(path: Path) -> Iterator[float]:
    """When the lines of a file of records were written."""
    if not path.is_file():
        return
    with path.open(errors="replace") as lines:
        for line in lines:
            try:
                yield float(json.loads(line)["at"])
            except (ValueError, KeyError, TypeError):
                continue
