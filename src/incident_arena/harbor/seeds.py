"""Which seed a trial gets: trial i of every contestant on a task has seed i, so that all meet the same draws."""

import json
from collections.abc import Sequence
from pathlib import Path

from incident_arena.analysis import job_files
from incident_arena.analysis.harbor_files import TrialConfig

FILE = "seeds.json"


def allot(folder: Path, trial: Path, order: Sequence[int] = ()) -> int:
    """A trial's seed: the first that no other trial of its contestant has in this job; when played again, the same.

    Args:
        folder: of the job's records; what was allotted is kept there.
        trial: Harbor's folder of the trial, with its config.json.
        order: seeds to be given, in this order; 1, 2, 3, … when it is empty or used up.
    """
    config, _ = job_files.document(trial, "config.json", TrialConfig)
    contestant = "" if config is None else config.model_dump_json(include={"task", "agent"})
    kept: dict[str, dict[str, int]] = json.loads((folder / FILE).read_text()) if (folder / FILE).is_file() else {}
    mine = kept.setdefault(contestant, {})
    if trial.name not in mine:
        free = [seed for seed in (*order, *range(1, len(mine) + len(order) + 2)) if seed not in mine.values()]
        mine[trial.name] = free[0]
        folder.mkdir(parents=True, exist_ok=True)
        draft = folder / f"{FILE}.tmp"
        draft.write_text(json.dumps(kept, indent=1) + "\n")
        draft.replace(folder / FILE)
    return mine[trial.name]
