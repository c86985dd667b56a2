"""Watches the episodes that other processes play: finds them by their records, and reads their referees' files."""

from dataclasses import dataclass
from pathlib import Path

from incident_arena.errors import ArenaError, UserError
from incident_arena.harbor.journal import FILE, Attempt
from incident_arena.harbor.live import Live
from incident_arena.harbor.picture import Picture
from incident_arena.kube import Kube
from incident_arena.node import allocate
from incident_arena.node.spec import NodeSpec, is_alive
from incident_arena.settings import Settings


def latest_job(settings: Settings) -> str:
    """The job whose last attempt began last.

    Raises:
        UserError: nothing was ever played here.
    """
    found = sorted(settings.records.glob(f"*/*/*/{FILE}"), key=lambda path: path.stat().st_mtime)
    if not found:
        raise UserError(
            "episodes", f"none was ever played here ({settings.records})", "start one: arena run, arena play"
        )
    return found[-1].parents[2].name


def last_attempts(settings: Settings, job: str) -> list[Attempt]:
    """The last attempt at each of a job's trials, in the order in which they began.

    Args:
        settings: where records are.
        job: the job folder's name, or the key that its records have; of several with one name the latest is meant.

    Raises:
        UserError: there is no such job.
    """
    named = [path for path in settings.records.glob(f"{job}*") if job in {path.name, path.name.rpartition("-")[0]}]
    folders = [folder for path in sorted(named, key=_touched)[-1:] for folder in path.glob("*") if folder.is_dir()]
    found = []
    for folder in folders:
        numbers = sorted((int(path.parent.name) for path in folder.glob(f"*/{FILE}")), reverse=True)
        found += [Attempt.model_validate_json((folder / str(number) / FILE).read_text()) for number in numbers[:1]]
    if not found:
        jobs = ", ".join(sorted(path.name for path in settings.records.glob("*"))[-5:])
        raise UserError(f"job {job!r}", "has no records here", f"the last ones: {jobs}" if jobs else "start one")
    return sorted(found, key=lambda attempt: attempt.started)


def _touched(path: Path) -> float:
    return path.stat().st_mtime


@dataclass
class _Watched:
    picture: Picture
    live: Live | None = None


class Watching:
    """Follows a job's trials.

    Args:
        settings: where nodes and records are.
        job: its folder's name.
    """

    def __init__(self, settings: Settings, job: str) -> None:
        """See the class."""
        self._settings = settings
        self._job = job
        self._watched: dict[str, _Watched] = {}

    async def look(self) -> list[Picture]:
        """How each trial that goes on stands; the last one when none does."""
        attempts = last_attempts(self._settings, self._job)
        nodes = {spec.name: spec for spec in allocate.existing(self._settings)}
        going = [one for one in attempts if _goes_on(one, nodes)] or attempts[-1:]
        return [await self._look(attempt, nodes.get(attempt.episode)) for attempt in going]

    async def _look(self, attempt: Attempt, node: NodeSpec | None) -> Picture:
        key = f"{attempt.trial}/{attempt.number}"
        watched = self._watched.setdefault(key, _Watched(Picture(attempt)))
        watched.picture.attempt = attempt
        # Before the pods are ready there is nobody to ask.
        if node is not None and any(stage.name == "ready" and stage.ok for stage in attempt.stages):
            watched.live = watched.live or Live(Kube(node.kubeconfig, node.bin))
            try:
                watched.picture.feed(await watched.live.look())
            except ArenaError:
                watched.live = None if watched.picture.task is None else watched.live  # it may be going away
        return watched.picture


def _goes_on(attempt: Attempt, nodes: dict[str, NodeSpec]) -> bool:
    """A record that a killed runner left open goes on no more: its node has gone, or belongs to nobody who lives."""
    if attempt.state not in {"starting", "admitted"}:
        return False
    node = nodes.get(attempt.episode)
    if node is None:
        return not attempt.stages
    return node.owner is None or is_alive(node.owner)
