"""What an agent leaves in its pod, on the way into its trial's folder: bounded, repaired, and told of.

All of it is the agent's word: Harbor takes it for logs, tokens and a transcript, never for a verdict.
"""

import asyncio
import tempfile
from pathlib import Path

from incident_arena.analysis.left_out import LEFT_OUT_FILE, LeftOut
from incident_arena.errors import ArenaError
from incident_arena.harbor.repair import repair
from incident_arena.kube import Kube
from incident_arena.kube.transfer import BOUNDED, shown

LINES = 200
"""Most lines that are told of one trial."""


class Leavings:
    """Takes what a trial's agent left.

    Args:
        trial: Harbor's folder of the trial; what was left out or repaired is told there, in LEFT_OUT_FILE.
    """

    def __init__(self, trial: Path) -> None:
        """See the class."""
        self._trial = trial
        self._lines: list[str] = []

    async def take(self, kube: Kube, pod: str, source: str, target: Path) -> None:
        """Copy the file `source` to the path `target`, or a folder's content into the folder `target`.

        Raises:
            ArenaError: nothing could be had.
        """
        target.parent.mkdir(parents=True, exist_ok=True)
        # Beside its target, so that a file gets there in one step, when it is as it shall be.
        with tempfile.TemporaryDirectory(prefix=".arena-", dir=target.parent) as scratch:
            came = Path(scratch) / Path(source).name
            try:
                told = await kube.download(pod, source, came, bounds=BOUNDED)
            except ArenaError as error:
                self._tell(source, [f"nothing came: {shown(error.reason)}"])
                raise
            told += await asyncio.to_thread(repair, came if came.is_dir() else came.parent)
            told += await asyncio.to_thread(_move, came, target)
        self._tell(source, told)

    def _tell(self, source: str, told: list[str]) -> None:
        if not told:
            return
        self._lines += [f"{source}: {line}" for line in told]
        said = LeftOut(lines=tuple(self._lines[:LINES]), more=max(0, len(self._lines) - LINES))
        (self._trial / LEFT_OUT_FILE).write_text(said.model_dump_json(indent=1) + "\n")


def _move(came: Path, target: Path) -> list[str]:
    """Move a file, or a folder's content, over what is there; what does not fit is told."""
    told = []
    for path in [came] if came.is_file() else sorted(came.rglob("*")):
        to = target / path.relative_to(came)
        try:
            if path.is_dir():
                to.mkdir(parents=True, exist_ok=True)
            else:
                path.replace(to)
        except OSError as error:
            told.append(f"{path.relative_to(came)}: {error.strerror}")
    return told
