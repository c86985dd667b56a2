"""A machine that stood still (suspended, a stopped VM): the runner's clock and all of a trial's records have one gap.

The runner keeps the gaps of its own heartbeat in `<trial>/machine.json`, which the agent can't write. A gap counts only
where the load, the referee and the observers left nothing in it either: nothing in the agent's reach stops all of them
and the runner, which is no part of the node.
"""

import json
from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from incident_arena.analysis import job_files

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


def stood_still(trial: Path, witness: Path | None = None) -> str:
    """Why a trial is inadmissible for its machine; empty when it is not.

    Args:
        trial: Harbor's folder, which has the records.
        witness: the folder that has machine.json; None: the trial's own. A trial that was judged again has only the
            records, since Harbor copies no more.
    """
    found, _ = job_files.document(witness or trial, MACHINE_FILE, Stillness)
    if found is None or not found.gaps:
        return ""
    records = [moments for name in RECORDS if (moments := list(_moments(trial, str(EVIDENCE / name))))]
    for gap in found.gaps:
        if records and not any(_in(gap, moment) for moments in records for moment in moments):
            return f"the machine stood still for {gap.seconds:.0f} s"
    return ""


def _in(gap: Gap, moment: float) -> bool:
    return gap.at + EDGE_S < moment < gap.at + gap.seconds - EDGE_S


def _moments(trial: Path, name: str) -> Iterator[float]:
    """When the lines of a file of records were written."""
    try:
        for line in job_files.lines(trial, name):
            try:
                yield float(json.loads(line)["at"])
            except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
                continue
    except OSError:
        return
