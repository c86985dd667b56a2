"""What was proven of a task, kept beside it in proof.json: each script's trials, and hashes of what they depend on."""

from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from incident_arena.errors import UserError
from incident_arena.formats.records import Record
from incident_arena.formats.verdict import FailureClass

FILE = "proof.json"

type Want = Literal["pass", "fail"]


class Result(Record):
    """One trial of a run."""

    reward: float | None
    failure_class: FailureClass | None = None
    inclusive: list[str] = Field(default_factory=list)
    reason: str = ""
    seconds: float = 0
    peak_memory_mb: int | None = None
    job: str = ""
    """Name of the job folder."""
    trial: str = ""


class Run(Record):
    """One script (or doing nothing), played as often as is wanted."""

    name: str
    want: Want
    want_class: FailureClass | None = None
    repeat: int
    played: str
    """Hash of what the episode depends on."""
    judged: str
    """Hash of the judge."""
    results: list[Result] = Field(default_factory=list)

    @property
    def missing(self) -> int:
        """Trials that are still to be played."""
        return max(0, self.repeat - len(self.results))

    @property
    def holds(self) -> bool:
        """Every trial came out as it should, and none is missing."""
        return not self.missing and all(self._right(result) for result in self.results)

    def _right(self, result: Result) -> bool:
        if self.want == "pass":
            return result.reward == 1
        return result.reward == 0 and self.want_class in {None, result.failure_class}


class Proof(Record):
    """All runs of a task."""

    version: Literal[1] = 1
    task: str
    runs: list[Run] = Field(default_factory=list)

    def run(self, name: str) -> Run | None:
        """The run of a name."""
        return next((run for run in self.runs if run.name == name), None)


def read(path: Path) -> Proof | None:
    """The proof that is kept with a task; None when there is none.

    Raises:
        UserError: it can't be read.
    """
    if not path.exists():
        return None
    try:
        return Proof.model_validate_json(path.read_bytes())
    except ValidationError as error:
        raise UserError(f"{path.parent.name}/{FILE}", f"can't be read: {error}", "remove it") from error
