"""Play tasks: check and export them, run the Harbor job, put the outcomes together."""

import asyncio
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from incident_arena.errors import UserError
from incident_arena.harbor import job, watch
from incident_arena.harbor.catalogue import Catalogue
from incident_arena.harbor.environment import EPISODE
from incident_arena.harbor.export import digest, export
from incident_arena.harbor.journal import attempts
from incident_arena.harbor.outcome import Outcome, outcome
from incident_arena.harbor.preflight import require_built
from incident_arena.harbor.validate import require_valid
from incident_arena.settings import Settings


def job_name() -> str:
    """A new job folder's name: the time."""
    return time.strftime("%Y-%m-%d__%H-%M-%S")


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


def play(settings: Settings, request: job.Request, console: Console) -> list[Outcome]:
    """Run a job and show how far it is.

    Raises:
        UserError: the node is not built, the job's folder is there, or Harbor refuses the job.
    """
    if request.episode == EPISODE:
        require_built(settings)
    if request.parallel > settings.max_nodes:
        reason = f"are more than the {settings.max_nodes} nodes that this machine bears"
        raise UserError(f"{request.parallel} trials at once", reason, "give a smaller -n, or set ARENA_MAX_NODES")
    if request.folder.exists():
        raise UserError(f"job folder {str(request.folder)!r}", "is there already", "name another")
    config = job.compose(replace(request, jobs=request.jobs.resolve()))
    person = request.agent == job.PERSON_AGENT
    shown = watch.Watch(console, settings.records / request.name, hands_over=person)

    def background() -> "asyncio.Future[None]":
        return asyncio.ensure_future(shown.run())

    results = job.play(config, shown.event, background)
    return [
        outcome(result, attempts(settings.records, request.name, result.trial_name), request.folder.resolve())
        for result in sorted(results, key=lambda result: (result.task_name, str(result.started_at)))
    ]
