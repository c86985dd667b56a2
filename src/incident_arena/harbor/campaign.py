"""Play an experiment: as many Harbor jobs below one folder as it takes, today or in several sittings.

<jobs>/<name>/                    the experiment's folder; `arena report` reads it as a folder of jobs
<jobs>/<name>/experiment.toml     the file as it was when it was last played
<jobs>/<name>/<name>__001__nop/   a Harbor job; its trials' config.json tell whose they are
"""

import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from incident_arena.catalogue.finding import Catalogue
from incident_arena.errors import UserError
from incident_arena.harbor import job, playing
from incident_arena.harbor.experiment import Experiment
from incident_arena.harbor.outcome import Outcome
from incident_arena.harbor.plan import Batch, Row, batches, failed_controls, played, rows, summary
from incident_arena.lock import locked
from incident_arena.settings import Settings
from incident_arena.wait import DeadlineError

COPY = "experiment.toml"
LOCK = ".lock"
LOCK_S = 1.0


@dataclass(frozen=True, kw_only=True)
class Campaign:
    """An experiment that is to be played.

    Attributes:
        file: the experiment's file.
        experiment: what it says.
        folder: where its jobs go; may hold some from before.
        parallel: trials at once.
        episode: import path of the class that plays an episode.
    """

    file: Path
    experiment: Experiment
    folder: Path
    parallel: int
    episode: str


@dataclass(frozen=True, kw_only=True)
class Ended:
    """What came of it. `outcomes` are this sitting's trials, `plan` and `failed` speak of all of them."""

    outcomes: list[Outcome]
    plan: list[Row]
    failed: list[str]

    @property
    def whole(self) -> bool:
        """Every trial has a verdict, and each task's controls came out as they must."""
        return not self.failed and summary(self.plan)[0] == 0


def new_folder(jobs: Path) -> Path:
    """Make the folder of a new experiment: the time, and a number where that is taken."""
    jobs.mkdir(parents=True, exist_ok=True)
    name = playing.job_name()
    for number in range(1, 1000):
        folder = jobs / (name if number == 1 else f"{name}-{number}")
        with contextlib.suppress(FileExistsError):
            folder.mkdir()
            return folder
    raise UserError(f"folder '{jobs}'", "has a thousand jobs of this second", "name the job with --job")


def requests(campaign: Campaign, exports: dict[str, Path], todo: list[Batch]) -> Iterator[job.Request]:
    """The Harbor jobs of what is to be played; names count on from those that are there."""
    folder, experiment = campaign.folder, campaign.experiment
    taken = [int(found[1]) for path in folder.glob("*") if (found := re.search(r"__(\d{3,})__[^/]*$", path.name))]
    for number, batch in enumerate(todo, start=max(taken, default=0) + 1):
        entry = batch.entry
        who = re.sub(r"[^A-Za-z0-9.-]+", "-", entry.agent)
        yield job.Request(
            tasks=tuple(exports[task] for task in batch.tasks),
            agent=entry.agent,
            scripts=(),
            model=None,
            variants=batch.variants,
            kwargs=entry.kwargs,
            env={name: f"${{{name}}}" for name in entry.env},
            model_url=entry.model_url,
            trials=batch.trials,
            seeds=batch.seeds,
            parallel=campaign.parallel,
            max_retries=experiment.max_retries,
            keep=False,
            jobs=folder,
            name=f"{folder.name}__{number:03}__{who}",
            exact=True,
            episode=campaign.episode,
        )


def play(settings: Settings, catalogue: Catalogue, campaign: Campaign, console: Console) -> Ended:
    """Play what has no verdict yet.

    Raises:
        UserError: another process plays it, a variable is missing, or Harbor refuses a job.
        KeyboardInterrupt: Ctrl-C or SIGTERM; what is played stays, and the next call goes on from there.
    """
    experiment = campaign.experiment
    with _alone(campaign.folder):
        paths = playing.prepare(settings, catalogue, experiment.tasks)
        exports = dict(zip(experiment.tasks, paths, strict=True))
        done = played(campaign.folder)
        plan = rows(experiment, done)
        todo = list(requests(campaign, exports, batches(plan)))
        for request in todo:
            job.compose(request)  # what a later one lacks is said before the first is played
        (campaign.folder / COPY).write_text(campaign.file.read_text())
        missing, wanted = summary(plan)
        _say(console, f"{campaign.folder.name}: {wanted - missing} of {wanted} trials are played, {missing} to go")
        for task, path in exports.items():
            if others := done.exports.get(task, set()) - {str(path)}:
                _say(console, f"task {task} is not the one that {len(others)} earlier version(s) were played of")
        outcomes = []
        for request in todo:
            _say(console, f"{request.name}: {request.trials} times {_names(request)}")
            outcomes += playing.play(settings, request, console)
        done = played(campaign.folder)
    return Ended(outcomes=outcomes, plan=rows(experiment, done), failed=failed_controls(experiment.tasks, done))


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    folder.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(locked(folder / LOCK, deadline_s=LOCK_S))
        except DeadlineError as error:
            reason = f"is being played: {error.reason}"
            raise UserError(f"job folder '{folder}'", reason, "wait for its end, or name another with --job") from error
        yield


def _names(request: job.Request) -> str:
    variants = [" ".join(part for part in pair if part) for pair in request.variants]
    return " ".join([request.agent, ", ".join(one for one in variants if one)]).strip()


def _say(console: Console, text: str) -> None:
    console.print(text, style="bold", highlight=False, markup=False, soft_wrap=True)
