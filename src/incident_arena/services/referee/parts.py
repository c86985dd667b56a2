"""What each verb works with: the task, the evidence folder and connections, made once and handed down."""

import contextlib
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any

import aiohttp

from incident_arena import application, faults
from incident_arena.errors import InfrastructureError
from incident_arena.faults import Planted
from incident_arena.formats.task import TaskSpec
from incident_arena.services import cluster
from incident_arena.services.referee.config import Config
from incident_arena.services.referee.folder import Evidence, read_task
from incident_arena.stores.base import Stores

TIMEOUT = aiohttp.ClientTimeout(total=5)


@dataclass(frozen=True)
class Parts:
    """Everything; made by `assemble`."""

    config: Config
    task: TaskSpec
    evidence: Evidence
    substrate: application.Substrate
    stores: Stores
    cluster: cluster.Cluster
    load: "Load"
    faults: tuple[Planted, ...]
    others: tuple[Planted, ...]
    """All that could be planted in these stores and is not: looked at alike, and not written down."""


class LoadError(InfrastructureError):
    """The load's program refused a request or cannot be reached."""


class Load:
    """The load's small API."""

    def __init__(self, session: aiohttp.ClientSession, url: str, token: str) -> None:
        self._session = session
        self._url = url.rstrip("/")
        self._headers = {"Authorization": f"Bearer {token}"}

    async def status(self) -> dict[str, Any]:
        """How it is: services/load/api.py, LoadStatus.

        Raises:
            LoadError: it does not answer.
        """
        return await self._call("GET", "/status")

    async def pause(self) -> None:
        """Let no more operation go out. What is under way goes on."""
        await self._call("POST", "/pause")

    async def resume(self) -> None:
        """Let operations go out again."""
        await self._call("POST", "/resume")

    async def peak(self, wanted: dict[str, Any]) -> None:
        """Let more operations go out for some time: services/load/api.py, Peak."""
        await self._call("POST", "/peak", wanted)

    async def _call(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        try:
            async with self._session.request(method, self._url + path, headers=self._headers, json=body) as answer:
                answer.raise_for_status()
                return dict(await answer.json(content_type=None))
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
            raise LoadError("the load", f"{method} {path}: {type(error).__name__}: {error}") from error


@contextlib.asynccontextmanager
async def assemble(config: Config) -> AsyncGenerator[Parts]:
    """Make everything that a verb works with, and close it afterwards.

    Raises:
        UserError: the task or the pod is not as it should be.
    """
    task = read_task(config.task_file)
    planted = tuple(faults.read(each, config.kinds) for each in task.faults)
    config.evidence.mkdir(parents=True, exist_ok=True)
    with config.opened() as opened:
        async with (
            cluster.connect(config.service_account, config.namespace) as kubernetes,
            aiohttp.ClientSession(timeout=TIMEOUT) as session,
        ):
            yield Parts(
                config=config,
                task=task,
                evidence=Evidence(config.evidence),
                substrate=application.load(task.substrate),
                stores=opened,
                cluster=kubernetes,
                load=Load(session, config.load_url, config.load_token),
                faults=planted,
                others=faults.unplanted(planted, opened),
            )
