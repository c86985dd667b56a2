"""Trials that were judged again: what their source trial's folder says about them.

`harbor job regrade` copies `agent/` and `artifacts/` alone. Whether the model was reached (route.json) and the machine
ran (machine.json) stands in the source's folder, and holds for the new judgement as it did for the first.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from incident_arena.analysis import job_files
from incident_arena.analysis.harbor_files import TrialResult
from incident_arena.analysis.read_trial import RESULT, read_trial
from incident_arena.analysis.stillness import stood_still
from incident_arena.analysis.trial import Trial

CHAIN = 8
"""A trial that was judged again may be judged again. More often than this is a ring."""
NAMED = 3
"""Trials that a note names."""


def inherit(trials: Sequence[Trial], notes: list[str]) -> list[Trial]:
    """The trials, each that was judged again with what its source says; those without one are said in `notes`."""
    if not any(trial.source_trial for trial in trials):
        return list(trials)
    known: dict[str, Trial] = {}
    for trial in trials:
        for name in (trial.id, str(trial.folder)):
            known.setdefault(name, trial)
    gone = []
    made = []
    for trial in trials:
        if trial.source_trial is None or trial.judge_version is None:
            made.append(trial)
        elif source := _source(trial, known):
            made.append(_with(trial, source, known, CHAIN))
        else:
            gone.append(f"{trial.job}/{trial.name}")
            made.append(trial)
    if gone:
        notes.append(
            f"{len(gone)} trials were judged again and their source trials are gone ({', '.join(gone[:NAMED])}"
            f"{', …' if len(gone) > NAMED else ''}): whether their model was reached and their machine ran is not known"
        )
    return made


def _with(trial: Trial, source: Trial, known: dict[str, Trial], depth: int) -> Trial:
    """The trial as its source has it be: errored or inadmissible where that is, and refused."""
    if source.source_trial and depth and (first := _source(source, known)):
        source = _with(source, first, known, depth - 1)
    trial = replace(trial, refused=trial.refused or source.refused)
    if still := stood_still(trial.folder, source.folder) or (source.reason if _stood_still(source) else ""):
        return replace(trial, status="inadmissible", reason=still, reward=None)
    if source.status == "errored" and trial.declared_at is None:
        return replace(trial, status="errored", reason=source.reason, reward=None)
    return trial


def _stood_still(source: Trial) -> bool:
    return source.status == "inadmissible" and bool(stood_still(source.folder))


def _source(trial: Trial, known: dict[str, Trial]) -> Trial | None:
    """Among the trials that were read, else in a job beside this one: nothing else on this machine is opened."""
    assert trial.source_trial is not None
    found = known.get(trial.source_trial)
    return found if found is not None and found is not trial else _beside(trial)


def _beside(trial: Trial) -> Trial | None:
    result, _ = job_files.document(trial.folder, RESULT, TrialResult)
    source = result.config.source_trial if result else None
    if source is None:
        return None
    job = trial.folder.parent
    names = ["/".join(Path(source.path).parts[-2:])] if source.path else []
    if source.trial_id:  # where Harbor keeps what it downloads
        cached = job_files.find(job, f".sources/{source.trial_id}", frozenset({RESULT}), depth=1)
        names += [f"{job.name}/{cached}"] if cached else []
    for name in names:
        there, _ = job_files.document(job.parent, f"{name}/{RESULT}", TrialResult)
        if there is not None and there.id != trial.id and source.trial_id in {None, there.id}:
            folder = job.parent / name
            return read_trial(folder, folder.parent.name, ended=True)
    return None
