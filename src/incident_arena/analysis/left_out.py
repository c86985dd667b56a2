"""What of an agent's own files did not reach its trial's folder, or not as it was: `<trial>/left-out.json`.

The runner writes it, where the agent can't. Nothing that is judged is among those files; but tokens, cost and the
transcript are read from them.
"""

from pathlib import Path

from pydantic import BaseModel, ConfigDict

from incident_arena.analysis import job_files

LEFT_OUT_FILE = "left-out.json"


class LeftOut(BaseModel):
    """left-out.json. Each line: a path in the agent's pod, and what became of it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: int = 1
    lines: tuple[str, ...]
    more: int = 0
    """Lines that are not told."""


def read_left_out(trial: Path) -> tuple[str, ...]:
    """The lines of a trial; none when it has no such file, or one that can't be read."""
    found, _ = job_files.document(trial, LEFT_OUT_FILE, LeftOut)
    return found.lines if found else ()
