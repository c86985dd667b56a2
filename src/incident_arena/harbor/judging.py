"""The verifier's phase: the judge's sandbox as Harbor's one service `main`."""

from collections.abc import Mapping
from pathlib import Path

from incident_arena.catalogue.names import MAIN
from incident_arena.errors import InfrastructureError
from incident_arena.sandbox import Ended, Sandbox


class Judging:
    """The sandbox as a place."""

    def __init__(self) -> None:
        self._sandbox = Sandbox()

    async def start(self) -> None:
        """Make the sandbox.

        Raises:
            UserError: the kernel refuses it.
        """
        await self._sandbox.start()

    async def stop(self, *, delete: bool) -> None:
        """Remove the sandbox, also when it is to be kept: all that is in it is in the trial's folder."""
        del delete
        await self._sandbox.stop()

    async def exec(
        self, service: str, command: str, *, cwd: str | None, env: Mapping[str, str] | None, deadline_s: float | None
    ) -> Ended:
        """Run a shell command inside."""
        _only_main(service)
        return await self._sandbox.exec(command, cwd=cwd, env=env, deadline_s=deadline_s)

    async def upload(self, service: str, source: Path, target: str) -> None:
        """Copy in."""
        _only_main(service)
        await self._sandbox.upload(source, target)

    async def download(self, service: str, source: str, target: Path) -> None:
        """Copy out."""
        _only_main(service)
        await self._sandbox.download(source, target)

    async def stop_service(self, service: str) -> None:
        """There is none to stop."""
        raise _none(service)


def _only_main(service: str) -> None:
    if service != MAIN:
        raise _none(service)


def _none(service: str) -> InfrastructureError:
    return InfrastructureError(f"service {service!r}", "the judge's sandbox has no services")
