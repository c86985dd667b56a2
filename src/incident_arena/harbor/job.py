"""Compose a Harbor job and run it in this process."""

import asyncio
import contextlib
import logging
import os
import signal
import stat
from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path

import rich
from harbor.job import Job
from harbor.models.agent.name import AgentName
from harbor.models.job.config import JobConfig, RetryConfig
from harbor.models.trial.config import AgentConfig, EnvironmentConfig, TaskConfig
from harbor.models.trial.error_policy import ERROR_POLICIES
from harbor.models.trial.result import TrialResult
from harbor.telemetry import TELEMETRY_ENV
from harbor.trial.hooks import HookCallback, TrialEvent, TrialHookEvent
from harbor.utils.logger import logger as harbor_logger

from incident_arena.errors import UserError
from incident_arena.harbor.agent import no_script
from incident_arena.harbor.cluster import InadmissibleError
from incident_arena.harbor.environment import EPISODE

ENVIRONMENT = "incident_arena.harbor:ArenaEnvironment"
SCRIPT_AGENT = "incident_arena.harbor:ScriptAgent"
PERSON_AGENT = "incident_arena.harbor.person:PersonAgent"
STREAMS = (0, 1, 2)

type OnEvent = Callable[[TrialEvent, str, str], None]
"""Told of a trial's events: which, the trial's name, the task's name."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """What is to be run.

    Attributes:
        tasks: exported task folders.
        agent: Harbor's name of an agent, or `module:Class`.
        scripts: run each of these instead of an agent.
        model: for the agent.
        trials: of each task.
        parallel: trials at once.
        max_retries: of a trial whose episode did not start, or whose model's provider failed.
        keep: leave the clusters.
        jobs: folder of job folders.
        name: the job folder's.
        episode: import path of the class that plays an episode.
    """

    tasks: tuple[Path, ...]
    agent: str
    scripts: tuple[Path, ...]
    model: str | None
    trials: int
    parallel: int
    max_retries: int
    keep: bool
    jobs: Path
    name: str
    episode: str = EPISODE

    @property
    def folder(self) -> Path:
        """The job's folder."""
        return self.jobs / self.name


def compose(request: Request) -> JobConfig:
    """The Harbor job.

    Raises:
        UserError: no such agent or script.
    """
    options: dict[str, str | int] = {} if request.episode == EPISODE else {"episode": request.episode}
    if request.parallel > 1:
        # Episodes that share CPUs would slow each other, and the rates are judged.
        options["cpus_per_node"] = max(1, (os.cpu_count() or 1) // request.parallel)
    return JobConfig(
        job_name=request.name,
        jobs_dir=request.jobs,
        n_attempts=request.trials,
        n_concurrent_trials=request.parallel,
        quiet=True,
        retry=retry(request.max_retries),
        environment=EnvironmentConfig(import_path=ENVIRONMENT, delete=not request.keep, kwargs=options),
        agents=_agents(request),
        tasks=[TaskConfig(path=path) for path in request.tasks],
    )


def retry(max_retries: int) -> RetryConfig:
    """Which trials are played again: those whose episode never started, and those that Harbor's own policy names.

    Harbor would also retry any error that it does not know; then an agent could buy a new trial by breaking something.
    """
    named = {name for name, policy in ERROR_POLICIES.items() if policy.should_retry}
    return RetryConfig(
        max_retries=max_retries,
        include_exceptions=named | {InadmissibleError.__name__},
        min_wait_sec=1,
        max_wait_sec=10,
    )


def _agents(request: Request) -> list[AgentConfig]:
    if request.scripts:
        return [_script(path) for path in request.scripts]
    if ":" in request.agent:
        return [AgentConfig(import_path=request.agent, model_name=request.model)]
    if request.agent not in AgentName.values():
        names = ", ".join(sorted(AgentName.values()))
        raise UserError(f"agent {request.agent!r}", "is unknown", f"one of: {names}; or module:Class")
    return [AgentConfig(name=request.agent, model_name=request.model)]


def _script(path: Path) -> AgentConfig:
    if not path.is_file():
        raise no_script(path)
    return AgentConfig(import_path=SCRIPT_AGENT, kwargs={"script": str(path.resolve())})


def play(config: JobConfig, on_event: OnEvent, background: Callable[[], "asyncio.Future[None]"]) -> list[TrialResult]:
    """Run a job to its end.

    Args:
        config: the job.
        on_event: told what happens.
        background: made when the job starts and cancelled when it has ended; what shows the progress.

    Raises:
        UserError: Harbor refuses the job as it is.
        KeyboardInterrupt: Ctrl-C, SIGTERM or a lost terminal; the clusters are gone.
    """
    # What is run here, and how it ended, is told to nobody unless the user wants it.
    os.environ.setdefault(TELEMETRY_ENV, "0")
    with _silence():
        try:
            return asyncio.run(_play(config, on_event, background))
        except asyncio.CancelledError as error:
            raise KeyboardInterrupt from error


async def _play(
    config: JobConfig, on_event: OnEvent, background: Callable[[], "asyncio.Future[None]"]
) -> list[TrialResult]:
    _heed_signals()
    try:
        job = await Job.create(config)
    except ValueError as error:
        raise UserError("job", str(error)) from error
    _mute()
    for event in TrialEvent:
        job.add_hook(event, _hook(event, on_event))
    shown = background()
    try:
        result = await job.run()
    except* ValueError as group:
        raise UserError("job", str(group.exceptions[0])) from group
    finally:
        shown.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await shown
    return list(result.trial_results)


def _heed_signals() -> None:
    """End as Ctrl-C does on SIGTERM, and when the terminal goes away: cancelled trials take their clusters down."""
    current = asyncio.current_task()
    assert current is not None
    task = current
    cancelled = False

    def cancel() -> None:
        # Once: a terminal that closes may tell several times, and the second must not end the taking down.
        nonlocal cancelled
        if not cancelled:
            cancelled = True
            task.cancel()

    def lost() -> None:
        _let_go()
        cancel()

    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, cancel)
    # Who asked to be spared (nohup) is.
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        loop.add_signal_handler(signal.SIGHUP, lost)


def _let_go() -> None:
    """Put nothing in place of the terminal that is gone, so that what is said from now on is no error."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in STREAMS:
        try:
            here = os.isatty(stream) or stat.S_ISCHR(os.fstat(stream).st_mode)
        except OSError:
            continue
        if here:
            os.dup2(nothing, stream)
    os.close(nothing)


def _hook(event: TrialEvent, on_event: OnEvent) -> HookCallback:
    async def hook(told: TrialHookEvent) -> None:
        on_event(event, told.config.trial_name, told.task_name)

    return hook


@contextlib.contextmanager
def _silence() -> Generator[None]:
    """Keep Harbor's progress bar off the terminal: it goes to rich's one console, which nothing else here uses."""
    console = rich.get_console()
    before, console.quiet = console.quiet, True
    try:
        yield
    finally:
        console.quiet = before


def _mute() -> None:
    """Keep Harbor's log to its files."""
    for handler in list(harbor_logger.handlers):
        if isinstance(handler, logging.StreamHandler) and not isinstance(handler, logging.FileHandler):
            harbor_logger.removeHandler(handler)
