"""What the tables say of a task besides its rates: from its evidence, else from its folder."""

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path

from pydantic import ValidationError

from incident_arena.analysis.evidence import Evidence, evidence_folder
from incident_arena.analysis.trial import Trial
from incident_arena.formats.task import TaskSpec

LOOKS = 3
"""Trials of a task whose evidence is looked into before giving up."""


def task_facts(trials: Iterable[Trial], tasks: Mapping[str, Path]) -> dict[str, TaskSpec]:
    """The TaskSpec of each task that has judged trials; a task without one is left out.

    Args:
        trials: of any status.
        tasks: folders of tasks by name, for those whose evidence says nothing.
    """
    by_task: dict[str, list[Trial]] = {}
    for trial in trials:
        if trial.status == "judged":
            by_task.setdefault(trial.task, []).append(trial)
    found = {}
    for task, some in by_task.items():
        spec = _from_evidence(some[:LOOKS]) or _from_folder(tasks, task)
        if spec is not None:
            found[task] = spec
    return found


def _from_evidence(trials: list[Trial]) -> TaskSpec | None:
    for trial in trials:
        folder = evidence_folder(trial)
        spec = Evidence(folder).task() if folder else None
        if spec is not None:
            return spec
    return None


def _from_folder(tasks: Mapping[str, Path], name: str) -> TaskSpec | None:
    if name not in tasks:
        return None
    try:
        facts = tomllib.loads((tasks[name] / "task.toml").read_text())
        return TaskSpec.model_validate({**facts, "name": name})
    except (OSError, ValidationError, tomllib.TOMLDecodeError):
        return None
