"""Where an environment's commands run and its files go: the cluster in the agent's phase, a sandbox for the judge."""

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from incident_arena.sandbox import Ended

UNREACHABLE = 255
"""Exit status of a command that could not be started there."""


class Place(Protocol):
    """One such place. `service` names which of Harbor's services is meant."""

    async def start(self) -> None:
        """Make it ready for commands.

        Raises:
            ArenaError: it can't be.
        """

    async def stop(self, *, delete: bool) -> None:
        """Remove it, unless it is to be kept; a second call does nothing."""

    async def exec(
        self, service: str, command: str, *, cwd: str | None, env: Mapping[str, str] | None, deadline_s: float | None
    ) -> Ended:
        """Run a shell command."""

    async def upload(self, service: str, source: Path, target: str) -> None:
        """Copy a file to a path, or a folder's content into a folder."""

    async def download(self, service: str, source: str, target: Path) -> None:
        """Copy a file to a path, or a folder's content into a folder."""

    async def stop_service(self, service: str) -> None:
        """End one service and leave the others."""
