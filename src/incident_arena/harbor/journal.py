"""The record of each attempt at an episode, kept outside Harbor's folders because Harbor deletes a retried trial's.

`<records>/<job's key>/<trial>/<n>/attempt.json` is the n-th attempt; the episode writes its own records beside it. An
attempt that was not admitted, or that was errored, is also told in the job's folder, in `arena-records.jsonl`, which
the report reads.
"""

import hashlib
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from harbor.models.trial.result import TrialResult
from pydantic import Field

from incident_arena.analysis.attempts import RECORDS_FILE, errored_attempt, read_attempts
from incident_arena.analysis.harbor_files import TrialResult as Ended
from incident_arena.analysis.harbor_files import trajectory_tail
from incident_arena.analysis.stillness import MACHINE_FILE, Gap, Stillness
from incident_arena.formats.records import Record, Stage

FILE = "attempt.json"

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
        _append(self._job_folder, json.dumps(line))

    def stood_still(self, gaps: tuple[Gap, ...]) -> None:
        """The runner's own clock had these gaps: told in the trial's folder, which the report reads."""
        trial = self._job_folder / self.attempt.trial
        if gaps and trial.is_dir():
            (trial / MACHINE_FILE).write_text(Stillness(gaps=gaps).model_dump_json(indent=1) + "\n")

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


def errored(job_folder: Path, result: TrialResult, reason: str) -> None:
    """Keep what an attempt spent that counts for nothing; to be called while its folder is still there.

    Should it be the last one, its folder stays, and the report takes the line for what it is by the trial's id.

    Args:
        job_folder: Harbor's folder of the job.
        result: of the attempt.
        reason: why it is errored.
    """
    before = sum(one.trial == result.trial_name for one in read_attempts(job_folder, []))
    told = Ended.model_validate_json(result.model_dump_json())
    line = errored_attempt(told, trajectory_tail(job_folder / told.trial_name), number=before + 1, reason=reason)
    _append(job_folder, line.model_dump_json(exclude={"job"}))


def _append(job_folder: Path, line: str) -> None:
    job_folder.mkdir(parents=True, exist_ok=True)
    with (job_folder / RECORDS_FILE).open("a") as file:
        file.write(line + "\n")


def job_key(job_folder: Path) -> str:
    """What a job's records are kept under: its name, and what tells it from a job of that name elsewhere."""
    return f"{job_folder.name}-{hashlib.sha256(str(job_folder.resolve()).encode()).hexdigest()[:8]}"


def attempts(records: Path, job: str, trial: str) -> list[Attempt]:
    """All attempts at a trial, in order. `job` is the job's key."""
    return sorted(
        (Attempt.model_validate_json(path.read_text()) for path in (records / job / trial).glob(f"*/{FILE}")),
        key=lambda attempt: attempt.number,
    )


def next_folder(records: Path, job: str, trial: str) -> tuple[int, Path]:
    """Make the folder of the next attempt at a trial; two processes never get the same one. `job` is the job's key."""
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
