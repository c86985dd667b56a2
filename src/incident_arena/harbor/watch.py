"""Shows how far the trials of a job are, from their records: each stage as it ends, and what goes on now."""

import asyncio
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

from harbor.trial.hooks import TrialEvent
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn

from incident_arena.harbor.journal import FILE, Attempt

EVERY_S = 0.5
NOW = {
    TrialEvent.ENVIRONMENT_START: "the cluster starts",
    TrialEvent.AGENT_START: "the agent works",
    TrialEvent.AGENT_END: "evidence is gathered",
    TrialEvent.VERIFICATION_START: "the judge works",
}


def told(stage: str, seconds: float) -> str:
    """A stage that has ended, as a line."""
    return f"{stage:<24} {seconds:7.1f} s"


@dataclass
class _Row:
    task: str
    bar: TaskID
    since: float = field(default_factory=time.time)
    shown: int = 0
    attempt: int = 0
    told: bool = False
    """That it is inadmissible."""


class Watch:
    """Progress of a job's trials on a console.

    Args:
        console: where it is shown; a line for each stage, and on a terminal a moving one for each trial.
        records: folder of the job's attempts.
        hands_over: while the agent works the terminal is the agent's, because that is a person.
    """

    def __init__(self, console: Console, records: Path, *, hands_over: bool = False) -> None:
        """See the class."""
        self._records = records
        self._hands_over = hands_over
        self._rows: dict[str, _Row] = {}
        self._ended: dict[str, _Row] = {}
        self._progress = Progress(
            SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn(), console=console, transient=True
        )

    def event(self, event: TrialEvent, trial: str, task: str) -> None:
        """Harbor tells of a trial."""
        if event is TrialEvent.START and trial not in self._rows:
            bar = self._progress.add_task(f"{task}: starts", total=None)
            # One that is played again: what was told of the attempt before is not told once more.
            self._rows[trial] = replace(self._ended[trial], bar=bar) if trial in self._ended else _Row(task, bar)
        row = self._rows.get(trial)
        if row is None:
            return
        self._read(trial, row)
        if event is TrialEvent.AGENT_START:
            row.since = time.time()
            if self._hands_over:
                self._progress.stop()
        if event is TrialEvent.AGENT_END:
            if self._hands_over:
                self._progress.start()
            self._say(row, "agent", time.time() - row.since)
        if event is TrialEvent.END:
            self._progress.remove_task(row.bar)
            self._ended[trial] = self._rows.pop(trial)
        elif text := NOW.get(event):
            self._progress.update(row.bar, description=f"{row.task}: {text}")

    async def run(self) -> None:
        """Show until cancelled."""
        with self._progress:
            while True:
                for trial, row in list(self._rows.items()):
                    self._read(trial, row)
                await asyncio.sleep(EVERY_S)

    def _read(self, trial: str, row: _Row) -> None:
        folders = sorted((self._records / trial).glob(f"*/{FILE}"), key=lambda path: int(path.parent.name))
        for path in folders[-1:]:
            attempt = Attempt.model_validate_json(path.read_text())
            if attempt.number != row.attempt:
                row.attempt, row.shown, row.told = attempt.number, 0, False
            for stage in attempt.stages[row.shown :]:
                self._say(row, stage.name + ("" if stage.ok else f": failed: {stage.detail}"), stage.seconds)
            row.shown = len(attempt.stages)
            if attempt.state == "inadmissible" and not row.told:
                self._line(f"{row.task}  inadmissible: {attempt.reason}")
            row.told = attempt.state == "inadmissible"

    def _say(self, row: _Row, what: str, seconds: float) -> None:
        self._line(f"{row.task}  {told(what, seconds)}")

    def _line(self, text: str) -> None:
        self._progress.console.print(text, highlight=False, markup=False, soft_wrap=True)
