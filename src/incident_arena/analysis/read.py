"""Job folders to trials: `read_jobs` reads what the tables need, and accounts for every folder it meets.

`read_jobs(paths)` gives a Reading: `trials`, one Trial for each trial folder whatever became of it (Trial.status);
`attempts`, episodes that were rerun and whose folders Harbor has deleted; `notes`, sentences that a reader must see.
`trial.frame(reading.trials)` is the same as a polars frame.

Read of each trial: result.json, verifier/verdict.json, route.json, machine.json, the evidence's manifest.json and the
last 64 KiB of agent/trajectory.json; config.json only where there is no result. Evidence, whole verdicts and
transcripts are loaded one trial at a time (evidence.py). No link is followed below the paths that are given
(job_files.py).
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from incident_arena.analysis import job_files
from incident_arena.analysis.attempts import RECORDS_FILE, Attempt, read_attempts
from incident_arena.analysis.doubts import doubts, simulated
from incident_arena.analysis.harbor_files import JobResult, TrialConfig, TrialResult
from incident_arena.analysis.read_trial import CONFIG, RESULT, read_trial
from incident_arena.analysis.regraded import inherit
from incident_arena.analysis.trial import STATUS_MEANING, Trial
from incident_arena.errors import InfrastructureError, UserError
from incident_arena.plain import plain


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What was read. `trials` are in order of job and folder name."""

    trials: list[Trial]
    attempts: list[Attempt] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def judged(self) -> list[Trial]:
        """The trials that count."""
        return [trial for trial in self.trials if trial.status == "judged"]


def read_jobs(paths: Iterable[Path]) -> Reading:
    """Read Harbor job folders; a folder of jobs stands for all of them, a trial folder for itself.

    Raises:
        UserError: a path does not exist, or holds no trial and no job.
    """
    trials: list[Trial] = []
    attempts: list[Attempt] = []
    notes: list[str] = []
    seen: set[Path] = set()
    for path in paths:
        for job in _jobs_under(path, notes):
            if job in seen:
                notes.append(f"job {plain(job.name)} was given twice and is read once")
                continue
            seen.add(job)
            trials += _read_job(job, notes)
            attempts += read_attempts(job, notes)
    trials = _supersede(inherit(_name_tasks(trials), notes), notes)
    # The last attempt at a trial has its folder still, and is counted by that.
    kept = {trial.id for trial in trials}
    attempts = [one for one in attempts if one.id not in kept]
    notes = [*simulated(trials), *notes, *_account(trials), *doubts(trials)]
    return Reading(trials=trials, attempts=attempts, notes=notes)


def read_some(paths: Iterable[Path]) -> Reading:
    """As `read_jobs`, for who needs trials.

    Raises:
        InfrastructureError: there is not one trial folder.
    """
    given = list(paths)
    reading = read_jobs(given)
    if not reading.trials:
        names = ", ".join(str(path) for path in given)
        raise InfrastructureError(
            f"job '{names}'", "it holds no trials: not one began", "see its job.log, and run the job again"
        )
    return reading


def _jobs_under(path: Path, notes: list[str]) -> list[Path]:
    if not path.is_dir():
        raise UserError(f"job '{path}'", "there is no such folder", "name a job folder that `arena run` printed")
    try:
        path = path.resolve()  # links above are the user's own, and `.` has no name
        if _is_trial(path) or _is_job(path):
            return [path]
        jobs = []
        for child, link in job_files.folders(path):
            if link:
                notes.append(f"'{plain(child.name)}' is a link, and not read: links are not followed")
            elif _is_job(child):
                jobs.append(child)
    except OSError as error:
        raise UserError(f"job '{path}'", f"it can't be read: {job_files.reason(error)}", "see its rights") from error
    if not jobs:
        raise UserError(
            f"job '{path}'",
            "it holds neither trials nor jobs",
            "name a Harbor job folder: it has a folder for each trial, with config.json and result.json",
        )
    return jobs


def _is_trial(folder: Path) -> bool:
    return job_files.document(folder, CONFIG, TrialConfig)[0] is not None or (
        job_files.document(folder, RESULT, TrialResult)[0] is not None
    )


def _is_job(folder: Path) -> bool:
    if job_files.exists(folder, RECORDS_FILE):
        return True
    if not job_files.exists(folder, CONFIG) and not job_files.exists(folder, RESULT):
        try:
            return any(_is_trial(child) for child, link in job_files.folders(folder) if not link)
        except OSError:
            return True  # it is said when it is read
    return not _is_trial(folder)


def _read_job(job: Path, notes: list[str]) -> list[Trial]:
    if _is_trial(job):
        return [read_trial(job, job.parent.name, ended=True)]
    name = plain(job.name)
    result, problem = job_files.document(job, RESULT, JobResult)
    if problem and problem != "missing":
        notes.append(f"job {name}: its own {RESULT} can't be read ({problem}); its trials are")
    ended = result is not None and result.finished_at is not None
    try:
        trials = [read_trial(folder, job.name, ended=ended, link=link) for folder, link in job_files.folders(job)]
    except OSError as error:
        notes.append(f"job {name} can't be read ({job_files.reason(error)}): none of its trials is in any table")
        return []
    missing = (result.n_total_trials if result else 0) - len(trials)
    if missing > 0:
        notes.append(f"job {name}: {missing} of {result.n_total_trials if result else 0} trials have no folder")
    return trials


def _name_tasks(trials: list[Trial]) -> list[Trial]:
    """Trials without a result know the name of their task's folder alone: write it as the other trials of it do."""
    full: dict[str, set[str]] = {}
    for trial in trials:
        if "/" in trial.task:
            full.setdefault(trial.task.rpartition("/")[2], set()).add(trial.task)
    one = {short: next(iter(names)) for short, names in full.items() if len(names) == 1}
    return [
        replace(trial, task=one[trial.task]) if trial.status != "foreign" and trial.task in one else trial
        for trial in trials
    ]


def _supersede(trials: list[Trial], notes: list[str]) -> list[Trial]:
    """Of a trial and its later judgements the last counts; of two folders with one id, the first that was read."""
    again = {trial.source_trial: trial.job for trial in trials if trial.source_trial and _settled(trial)}
    met: dict[str, Trial] = {}
    kept: list[Trial] = []
    for trial in trials:
        later = again.get(trial.id) or again.get(str(trial.folder))
        first = met.setdefault(trial.id, trial)
        if first is not trial:
            names = f"{first.job}/{plain(first.folder.name)} and {trial.job}/{plain(trial.folder.name)}"
            notes.append(f"two trials of one id: {names}; the first counts")
        reason = f"judged again in job {later}" if later else "read twice" if first is not trial else ""
        kept.append(replace(trial, status="superseded", reason=reason, file="") if reason else trial)
    return kept


def _settled(trial: Trial) -> bool:
    """A judge had its say, so that what it judged again is settled."""
    return trial.judge_version is not None and trial.status not in {"unreadable", "inconsistent"}


def _account(trials: list[Trial]) -> list[str]:
    """One sentence for each status that is not judged."""
    counts = Counter(trial.status for trial in trials)
    return [
        f"{counts[status]} of {len(trials)} trials {status}: {STATUS_MEANING[status]}"
        for status in STATUS_MEANING
        if status != "judged" and counts[status]
    ]
