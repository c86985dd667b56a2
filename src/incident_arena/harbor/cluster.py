"""The agent's phase: an episode's cluster. Harbor's service `main` is the pod `agent`, `referee` the referee's."""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from incident_arena.catalogue.names import MAIN, REFEREE
from incident_arena.episode import Order
from incident_arena.episode.way_out import DNS, GATEWAY
from incident_arena.errors import ArenaError, InfrastructureError
from incident_arena.formats.records import Stage
from incident_arena.harbor import ending
from incident_arena.harbor.heartbeat import Heartbeat
from incident_arena.harbor.journal import Journal
from incident_arena.harbor.leavings import Leavings
from incident_arena.harbor.place import UNREACHABLE
from incident_arena.kube import Kube
from incident_arena.proc import CommandError, OverrunError
from incident_arena.route import Call
from incident_arena.sandbox import TIMED_OUT, Ended

AGENT = "agent"
FREEZES = 3
"""How often it is tried to end the agent's pod."""
FOLDERS = ("/logs/agent", "/logs/verifier", "/logs/artifacts")


class EpisodeLike(Protocol):
    """What is needed of an episode; `episode.Episode` is the one."""

    peak_memory_mb: int

    @property
    def kube(self) -> Kube:
        """The cluster, once its node is up."""

    async def start(self) -> None:
        """All stages up to snapshot B."""

    async def freeze(self) -> None:
        """Delete the agent's pod and wait until it is gone."""

    async def stop(self) -> None:
        """Take the cluster down; a second call does nothing."""


class EpisodeMaker(Protocol):
    """How an episode is made: the class `episode.Episode`."""

    def __call__(
        self,
        order: Order,
        record: Path,
        on_stage: Callable[[Stage], None] | None,
    ) -> EpisodeLike:
        """Make one; nothing starts yet."""


class InadmissibleError(InfrastructureError):
    """The episode never reached its agent. Harbor sees the class's name: such a trial is retried, never graded."""


class Cluster:
    """An episode as a place.

    Args:
        episode: not started yet.
        journal: of this attempt.
        logger: Harbor's, of the trial.
        trial: Harbor's folder of it.
        calls: of the model, by an agent of this process; grows while it plays.
    """

    def __init__(
        self,
        episode: EpisodeLike,
        journal: Journal,
        logger: logging.Logger,
        trial: Path,
        calls: Sequence[Call] = (),
    ) -> None:
        """See the class."""
        self._calls = calls
        self._trial = trial
        self._leavings = Leavings(trial)
        self._taken: set[str] = set()
        self._started = 0.0
        self._episode = episode
        self._journal = journal
        self._logger = logger
        self._frozen = False
        self._up = False
        self._stopped = False
        self._heartbeat = Heartbeat()

    @property
    def kube(self) -> Kube:
        """The cluster, once its node is up."""
        return self._episode.kube

    async def start(self) -> None:
        """Play all stages up to the agent's. Harbor calls `stop` whether this succeeds or not.

        Raises:
            InadmissibleError: one of them failed.
        """
        try:
            await self._episode.start()
            await self._make_folders()
        except ArenaError as error:
            self._journal.inadmissible(f"{error.thing}: {error.reason}")
            raise InadmissibleError("episode", f"inadmissible: {error.thing}: {error.reason}", error.remedy) from error
        except BaseException as error:
            self._journal.inadmissible(f"{type(error).__name__} while it started: {error}".rstrip(": "))
            raise
        self._up = True
        self._started = time.time()
        self._heartbeat.start()
        self._journal.admitted()

    async def _make_folders(self) -> None:
        folders = " ".join(FOLDERS)
        made = await self._exec(AGENT, f"mkdir -p {folders}", cwd=None, env=None, deadline_s=30)
        if made.exit != 0:
            raise InfrastructureError("the agent's pod", f"can't make {folders}: {made.stderr.strip()}")

    async def stop(self, *, delete: bool) -> None:
        """Take the cluster down and close the record."""
        if self._stopped:
            return
        self._stopped, self._up = True, False
        self._journal.stood_still(self._heartbeat.stop())
        if not delete:
            self._logger.warning("The cluster of this trial is kept as long as this process lives")
            self._journal.stopped(None)
            return
        try:
            await self._episode.stop()
        finally:
            self._journal.stopped(self._episode.peak_memory_mb)

    async def exec(
        self, service: str, command: str, *, cwd: str | None, env: Mapping[str, str] | None, deadline_s: float | None
    ) -> Ended:
        """Run a shell command in a service's pod.

        A pod that can't be reached is an exit status like any other: an agent that breaks its own pod must not end its
        trial in an error, which is retried, but in a verdict.
        """
        pod = await self._pod(service)
        work = self._exec(pod, command, cwd=cwd, env=env, deadline_s=deadline_s)
        return await (ending.until_over(self._episode.kube, pod, work) if pod == AGENT else work)

    async def _exec(
        self, pod: str, command: str, *, cwd: str | None, env: Mapping[str, str] | None, deadline_s: float | None
    ) -> Ended:
        argv = ("bash", "-c", command) if pod == AGENT else ("sh", "-c", command)
        try:
            ended = await self._episode.kube.exec(pod, argv, deadline_s=deadline_s, env=env, cwd=cwd)
        except OverrunError as error:
            printed = error.completed
            return Ended(TIMED_OUT, printed.stdout, f"{printed.stderr}\ntimed out: {error.summary}\n")
        except CommandError as error:
            return Ended(UNREACHABLE, error.completed.stdout, f"{error}\n")
        return Ended(ended.exit, ended.stdout, ended.stderr)

    async def upload(self, service: str, source: Path, target: str) -> None:
        """Copy into a service's pod.

        What was taken from the agent's pod goes nowhere: Harbor puts logs back for a verifier that judges in their
        place, and ours has its own.
        """
        pod = await self._pod(service)
        if pod == AGENT and target in self._taken:
            return
        await self._episode.kube.upload(pod, source, target)

    async def download(self, service: str, source: str, target: Path) -> None:
        """Copy out of a service's pod: the referee's files whole, the agent's as far as they can be had."""
        pod = await self._pod(service)
        if pod == AGENT:
            self._taken.add(source)
            await self._leavings.take(self._episode.kube, pod, source, target)
            return
        refused = await self._episode.kube.download(pod, source, target)
        if refused:
            self._logger.warning("Left out of the download of %s: %s", source, "; ".join(refused[:5]))

    async def stop_service(self, service: str) -> None:
        """Freeze the agent: its pod is gone afterwards.

        Raises:
            InfrastructureError: another service, or the pod would not go.
        """
        if service != MAIN or not self._up:
            raise InfrastructureError(f"service {service!r}", "only a running agent can be stopped")
        await self._freeze()
        self._frozen = True
        kube, trial, ended = self._episode.kube, self._trial, time.time()
        for keeping in (
            ending.keep_route(kube, GATEWAY, trial, started=self._started, ended=ended, more=self._calls),
            ending.keep_names(kube, DNS, trial),
        ):
            try:
                await keeping
            except Exception:  # whatever the agent sent there: without it the trial counts as it was judged
                self._logger.exception("The record of the agent's way out could not be read")

    async def _freeze(self) -> None:
        """Insist: without it there is no verdict, and a pod in which all is used up may take its time to go."""
        for left in reversed(range(FREEZES)):
            try:
                await self._episode.freeze()
            except ArenaError as error:
                if not left:
                    raise
                self._logger.warning("The agent's pod is still there: %s", error)
            else:
                return

    async def _pod(self, service: str) -> str:
        """The pod of a service.

        Harbor runs the collect hooks also after a failed start or Ctrl-C, without having stopped the agent: nothing is
        gathered then, because an agent that still runs could interfere.
        """
        if not self._up:
            raise InfrastructureError(f"service {service!r}", "the cluster is not up")
        if service == MAIN:
            if self._frozen:
                raise InfrastructureError("the agent's pod", "is gone: the agent has ended")
            return AGENT
        if service != REFEREE:
            raise InfrastructureError(f"service {service!r}", "is unknown", f"one of: {MAIN}, {REFEREE}")
        if not self._frozen:
            raise InfrastructureError("gathering", "the agent was not stopped, so nothing is gathered")
        return await self._episode.kube.pod_of(REFEREE)
