"""Play tasks: check and export them, run the Harbor job, put the outcomes together."""

import contextlib
import itertools
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from incident_arena.catalogue.export import digest, export
from incident_arena.catalogue.finding import Catalogue
from incident_arena.catalogue.validate import require_valid
from incident_arena.episode import needs
from incident_arena.errors import UserError
from incident_arena.harbor import job, watch
from incident_arena.harbor.environment import EPISODE
from incident_arena.harbor.journal import attempts, job_key
from incident_arena.harbor.outcome import Outcome, outcome
from incident_arena.harbor.preflight import require_built
from incident_arena.settings import Settings


def job_name() -> str:
    """A new job folder's name: the time."""
    return time.strftime("%Y-%m-%d__%H-%M-%S")


def claim(request: job.Request) -> job.Request:
    """Make the job's folder, which no other process gets then; where the name is taken, it gets a number.

    Returns:
        The request with the folder's real path and name.

    Raises:
        UserError: the name was asked for and is taken.
    """
    jobs = request.jobs.resolve()
    jobs.mkdir(parents=True, exist_ok=True)
    for number in itertools.count(1):
        name = request.name if number == 1 else f"{request.name}-{number}"
        try:
            (jobs / name).mkdir()
        except FileExistsError:
            if request.exact:
                remedy = "name another with --job"
                raise UserError(f"job folder {str(request.folder)!r}", "is there already", remedy) from None
        else:
            return replace(request, jobs=jobs, name=name)
    raise AssertionError


def prepare(settings: Settings, catalogue: Catalogue, names: Sequence[str]) -> tuple[Path, ...]:
    """Check and export tasks; a name may also be the path of a task folder that is exported already.

    Exports are kept under the data folder by what is in them, so that a job can be resumed and judged again.

    Raises:
        UserError: a task is not there or not right.
    """
    return tuple(_prepared(settings, catalogue, name) for name in dict.fromkeys(names))


def _prepared(settings: Settings, catalogue: Catalogue, name: str) -> Path:
    given = Path(name)
    if (given / "environment" / "task.json").is_file():
        return given.resolve()
    spec = require_valid(catalogue, name)
    kept = settings.home / "tasks"
    kept.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".draft-", dir=kept) as scratch:
        draft = Path(scratch) / spec.name.rpartition("/")[2]
        export(catalogue, name, draft)
        final = kept / digest(draft)[:16] / draft.name
        if not final.exists():
            final.parent.mkdir(exist_ok=True)
            draft.rename(final)
    return final


def image_names(settings: Settings, tasks: Iterable[Path], agent_images: Iterable[str]) -> frozenset[str]:
    """The images that exported tasks need, played by agents with these images.

    Raises:
        UserError: the node's binaries are not built.
        CommandError: a task's chart is wrong.
    """
    pairs = itertools.product(tasks, dict.fromkeys(agent_images))
    return frozenset().union(*(needs.image_names(settings, task / "environment", image) for task, image in pairs))


def play(settings: Settings, request: job.Request, console: Console) -> list[Outcome]:
    """Run a job and show how far it is.

    Raises:
        UserError: the node is not built, the job's name was asked for and is taken, or Harbor refuses the job.
    """
    require_playable(settings, request)
    with watch.bars(console) as progress:
        return job.play(run(settings, request, progress))


def require_playable(settings: Settings, request: job.Request) -> None:
    """Say what is wrong with a job before it has a folder.

    Raises:
        UserError: the node or an image is not built, or the job can't be asked for.
    """
    if request.episode == EPISODE:
        require_built(settings, job.agent_image(request), request.tasks)
    if request.parallel > settings.max_nodes:
        reason = f"are more than the {settings.max_nodes} nodes that this machine bears"
        raise UserError(f"{request.parallel} trials at once", reason, "give a smaller -n, or set ARENA_MAX_NODES")
    job.compose(request)


async def run(settings: Settings, request: job.Request, progress: Progress, label: str = "") -> list[Outcome]:
    """Run one job of those that this process plays, within `job.play`.

    Args:
        settings: where the records are.
        request: one that `require_playable` lets pass.
        progress: where it is shown how far it is.
        label: what its trials are called there; the task's name when empty.

    Raises:
        UserError: the job's name was asked for and is taken, or Harbor refuses the job.
    """
    request = claim(request)
    key = job_key(request.folder)
    hands_over = request.agent == job.PERSON_AGENT
    shown = watch.Watch(progress, settings.records / key, label=label, hands_over=hands_over)
    try:
        async with shown.reading():
            results = await job.run(job.compose(request), shown.event)
    except UserError:
        with contextlib.suppress(OSError):
            request.folder.rmdir()  # only when it is empty: nothing came about
        raise
    return [
        outcome(result, attempts(settings.records, key, result.trial_name), request.folder)
        for result in sorted(results, key=lambda result: (result.task_name, str(result.started_at)))
    ]
