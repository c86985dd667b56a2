"""The proof runs of every task: `tasks/<substrate>/<name>/proof.json`."""

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from incident_arena.analysis.rows import BothWaysRow

FILE = "proof.json"


class ProofRun(BaseModel):
    """One run: a script, or doing nothing, with what it must score and what it scored."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    run: str
    expected: str
    got: str
    right: bool


class Proof(BaseModel):
    """A task's proof."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    version: int = 1
    task: str
    runs: list[ProofRun] = Field(default_factory=list)


def both_ways_rows(tasks: Path, notes: list[str]) -> list[BothWaysRow]:
    """One row for each proof run of each task; a task without a proof, or with one that can't be read, is noted."""
    rows = []
    for facts in sorted(tasks.glob("*/*/task.toml")):
        name = f"{facts.parent.parent.name}/{facts.parent.name}"
        path = facts.with_name(FILE)
        try:
            proof = Proof.model_validate_json(path.read_bytes())
        except FileNotFoundError:
            notes.append(f"task {name} has no proof yet")
        except (OSError, ValidationError):
            notes.append(f"task {name}: {FILE} can't be read")
        else:
            rows += [
                BothWaysRow(task=name, run=run.run, expected=run.expected, got=run.got, right=run.right)
                for run in proof.runs
            ]
    return rows
