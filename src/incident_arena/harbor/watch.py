"""Shows how far the trials of a job are, from their records: each stage as it ends, and what goes on now."""

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator
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


def bars(console: Console) -> Progress:
    """The part of a console that all jobs of this process share: on a terminal a moving line for each trial."""
    return Progress(
        SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn(), console=console, transient=True
    )


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
    """Progress of a job's trials.

    Args:
        progress: where it is shown, with a line above it for each stage.
        records: folder of the job's attempts.
        label: what its trials are called; the task's name when empty.
        hands_over: while the agent works the terminal is the agent's, because that is a person.
    """

    def __init__(self, progress: Progress, records: Path, *, label: str = "", hands_over: bool = False) -> None:
        """See the class."""
        self._records = records
        self._label = label
        self._hands_over = hands_over
        self._rows: dict[str, _Row] = {}
        self._ended: dict[str, _Row] = {}
        self._progress = progress

    def event(self, event: TrialEvent, trial: str, task: str) -> None:
        """Harbor tells of a trial."""
        task = self._label or task
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

    @contextlib.asynccontextmanager
    async def reading(self) -> AsyncGenerator[None]:
        """Read the records every moment, not only when Harbor tells of something."""
        task = asyncio.ensure_future(self._read_all())
        try:
            yield
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    async def _read_all(self) -> None:
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
