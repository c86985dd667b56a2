"""The proof runs of every task, from `proof.json` in its folder, where `arena task prove` keeps it."""

from collections.abc import Mapping
from pathlib import Path

from incident_arena.analysis.rows import BothWaysRow
from incident_arena.errors import UserError
from incident_arena.formats.proof import FILE, Run, read


def both_ways_rows(tasks: Mapping[str, Path], notes: list[str]) -> list[BothWaysRow]:
    """Table 9 of the paper, with wrong fixes: one row for each proof run of each task.

    A task without a proof, with one that can't be read, or with one that doesn't hold, is noted.
    """
    rows = []
    for name, folder in sorted(tasks.items()):
        try:
            proof = read(folder / FILE)
        except (OSError, UserError):
            notes.append(f"task {name}: {FILE} can't be read")
            continue
        if proof is None:
            notes.append(f"task {name} has no proof yet")
            continue
        broken = [run.name for run in proof.runs if not run.holds]
        if broken:
            notes.append(f"task {name}: the proof does not hold for {', '.join(broken)}")
        rows += [_row(name, run) for run in proof.runs]
    return rows


def _row(task: str, run: Run) -> BothWaysRow:
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
