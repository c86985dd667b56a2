"""The record of each attempt at an episode, kept outside Harbor's folders because Harbor deletes a retried trial's.

`<records>/<job>/<trial>/<n>/attempt.json` is the n-th attempt; the episode writes its own records beside it. An attempt
that was not admitted is also told in the job's folder, in `arena-records.jsonl`, which the report reads.
"""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from pydantic import Field

from incident_arena.records import Record, Stage

FILE = "attempt.json"
JOB_FILE = "arena-records.jsonl"

type State = Literal["starting", "admitted", "inadmissible", "stopped"]


class Attempt(Record):
    """One attempt. `state` inadmissible: the agent was never started, `reason` says why."""

    version: Literal[1] = 1
    job: str
    trial: str
    task: str
    episode: str = ""
    """The episode's name, which is its node's too."""
    number: int
    started: float
    state: State = "starting"
    reason: str = ""
    ended: float | None = None
    peak_memory_mb: int | None = None
    stages: tuple[Stage, ...] = Field(default=())


class Journal:
    """Writes one attempt's record each time it changes.

    Args:
        folder: the attempt's own; made here.
        attempt: what is known at the start.
        job_folder: Harbor's folder of the job.
        on_change: told of each new state.
    """

    def __init__(
        self,
        folder: Path,
        attempt: Attempt,
        job_folder: Path,
        on_change: Callable[[Attempt], None] | None = None,
    ) -> None:
        """See the class."""
        self.folder = folder
        self.attempt = attempt
        self._job_folder = job_folder
        self._on_change = on_change
        folder.mkdir(parents=True, exist_ok=True)
        self._write()

    def stage(self, stage: Stage) -> None:
        """A stage has ended."""
        self._change(stages=(*self.attempt.stages, stage))

    def admitted(self) -> None:
        """The agent may start."""
        self._change(state="admitted")

    def inadmissible(self, reason: str) -> None:
        """The episode never reached its agent."""
        self._change(state="inadmissible", reason=reason, ended=time.time())
        line = {"trial": self.attempt.trial, "task": self.attempt.task, "admissible": False, "inadmissible": reason}
        line |= {"attempt": self.attempt.number, "started": self.attempt.started}
        self._job_folder.mkdir(parents=True, exist_ok=True)
        with (self._job_folder / JOB_FILE).open("a") as file:
            file.write(json.dumps(line) + "\n")

    def stopped(self, peak_memory_mb: int | None) -> None:
        """The cluster is gone."""
        state = "inadmissible" if self.attempt.state == "inadmissible" else "stopped"
        self._change(state=state, peak_memory_mb=peak_memory_mb, ended=self.attempt.ended or time.time())

    def _change(self, **update: object) -> None:
        self.attempt = self.attempt.model_copy(update=update)
        self._write()
        if self._on_change:
            self._on_change(self.attempt)

    def _write(self) -> None:
        draft = self.folder / f"{FILE}.tmp"
        draft.write_text(self.attempt.model_dump_json(indent=1) + "\n")
        draft.replace(self.folder / FILE)


def attempts(records: Path, job: str, trial: str) -> list[Attempt]:
    """All attempts at a trial, in order."""
    return sorted(
        (Attempt.model_validate_json(path.read_text()) for path in (records / job / trial).glob(f"*/{FILE}")),
        key=lambda attempt: attempt.number,
    )


def next_folder(records: Path, job: str, trial: str) -> tuple[int, Path]:
    """Make the folder of the next attempt at a trial; two processes never get the same one."""
    parent = records / job / trial
    parent.mkdir(parents=True, exist_ok=True)
    number = 1 + max((int(path.name) for path in parent.iterdir() if path.name.isdigit()), default=0)
    while True:
        try:
            (parent / str(number)).mkdir()
        except FileExistsError:
            number += 1
        else:
            return number, parent / str(number)
