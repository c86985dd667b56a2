"""What the tables say of a task besides its rates: from its evidence, else from its folder."""

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path

from incident_arena.analysis import job_files
from incident_arena.analysis.evidence import evidence_of
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
        evidence = evidence_of(trial)
        spec = evidence.task() if evidence else None
        if spec is not None:
            return spec
    return None


def _from_folder(tasks: Mapping[str, Path], name: str) -> TaskSpec | None:
    if name not in tasks:
        return None
    try:
        # The name is a trial's word: only those of known tasks are looked up, and each in its own folder alone.
        text = job_files.read(tasks[name].resolve(), "task.toml").decode()
        return TaskSpec.model_validate({**tomllib.loads(text), "name": name})
    except (OSError, ValueError, RuntimeError):
        return None
