"""The proof runs of every task, from `proof.json` in its folder, where `arena task prove` keeps it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from incident_arena.analysis.rows import BothWaysRow
from incident_arena.formats.verdict import FailureClass

FILE = "proof.json"


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class ProofTrial(_Part):
    """One trial of a run."""

    reward: float | None
    failure_class: FailureClass | None = None


class ProofRun(_Part):
    """A script, or doing nothing, played as often as is wanted."""

    name: str
    want: Literal["pass", "fail"]
    want_class: FailureClass | None = None
    repeat: int
    results: list[ProofTrial] = Field(default_factory=list)

    @property
    def holds(self) -> bool:
        """Every trial came out as it should, and there are enough."""
        return len(self.results) >= self.repeat and all(self._right(one) for one in self.results)

    def _right(self, one: ProofTrial) -> bool:
        if self.want == "pass":
            return one.reward == 1
        return one.reward == 0 and self.want_class in {None, one.failure_class}


class Proof(_Part):
    """A task's proof."""

    version: Literal[1]
    task: str
    runs: list[ProofRun] = Field(default_factory=list)


def both_ways_rows(tasks: Mapping[str, Path], notes: list[str]) -> list[BothWaysRow]:
    """Table 9 of the paper, with wrong fixes: one row for each proof run of each task.

    A task without a proof, with one that can't be read, or with one that doesn't hold, is noted.
    """
    rows = []
    for name, folder in sorted(tasks.items()):
        try:
            proof = Proof.model_validate_json((folder / FILE).read_bytes())
        except FileNotFoundError:
            notes.append(f"task {name} has no proof yet")
            continue
        except (OSError, ValidationError):
            notes.append(f"task {name}: {FILE} can't be read")
            continue
        broken = [run.name for run in proof.runs if not run.holds]
        if broken:
            notes.append(f"task {name}: the proof does not hold for {', '.join(broken)}")
        rows += [_row(name, run) for run in proof.runs]
    return rows


def _row(task: str, run: ProofRun) -> BothWaysRow:
    classes = dict.fromkeys(one.failure_class for one in run.results if one.failure_class)
    return BothWaysRow(
        task=task,
        run=run.name,
        want=1 if run.want == "pass" else 0,
        want_class=run.want_class or "",
        got=" ".join("none" if one.reward is None else f"{one.reward:g}" for one in run.results) or "not played",
        got_class=", ".join(classes),
        holds=run.holds,
    )
