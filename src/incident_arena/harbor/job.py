"""Compose Harbor jobs and run them in this process: one, or several at once in one event loop."""

import asyncio
import contextlib
import logging
import os
import signal
import stat
from collections.abc import Callable, Coroutine, Generator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import rich
from harbor.job import Job
from harbor.models.job.config import JobConfig, RetryConfig
from harbor.models.trial.config import AgentConfig, EnvironmentConfig, TaskConfig
from harbor.models.trial.error_policy import ERROR_POLICIES, ErrorPolicyOverride
from harbor.models.trial.result import TrialResult
from harbor.telemetry import TELEMETRY_ENV
from harbor.trial.hooks import HookCallback, TrialEvent, TrialHookEvent
from harbor.utils.logger import logger as harbor_logger

from incident_arena.analysis.errored import PROVIDER
from incident_arena.errors import UserError
from incident_arena.harbor import again, agent_images, alone
from incident_arena.harbor.agent import no_script
from incident_arena.harbor.cluster import InadmissibleError
from incident_arena.harbor.contestants import Contestant, configure
from incident_arena.harbor.endpoints import merge
from incident_arena.harbor.environment import EPISODE
from incident_arena.images.agents import PLAIN

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
        agent: Harbor's name of an agent, NAME@VERSION of one that is baked, or `module:Class`.
        scripts: run each of these instead of an agent.
        model: for the agent.
        effort: how hard the model reasons; None: the agent's default.
        variants: pairs of model and effort that are all played, instead of `model` and `effort`.
        kwargs: Harbor's options of the agent.
        env: variables for the agent, as in `contestants.Contestant`.
        model_url: the model's base URL as seen from this machine.
        trials: of each task.
        seeds: of these trials, in order; 1, 2, 3, … when there are none.
        parallel: trials at once.
        max_retries: of a trial whose episode did not start, or whose model's provider failed.
        keep: leave the clusters.
        jobs: folder of job folders.
        name: the job folder's; gets a number when it is taken.
        exact: the name was asked for: refuse it when it is taken.
        episode: import path of the class that plays an episode.
        seal: end gathering where nothing later can make the trial pass.
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
    exact: bool = False
    episode: str = EPISODE
    seal: bool = False
    effort: str | None = None
    variants: tuple[tuple[str | None, str | None], ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)
    model_url: str | None = None
    seeds: tuple[int, ...] = ()

    @property
    def folder(self) -> Path:
        """The job's folder."""
        return self.jobs / self.name


def compose(request: Request) -> JobConfig:
    """The Harbor job.

    Raises:
        UserError: no such agent or script, or it can't be asked for what is asked.
    """
    agents, upstreams = _agents(request)
    options: dict[str, Any] = {} if request.episode == EPISODE else {"episode": request.episode}
    if (image := agent_image(request)) != PLAIN:
        options["agent_image"] = image
    if request.parallel > 1:
        # Episodes that share CPUs would slow each other, and the rates are judged.
        options["cpus_per_node"] = max(1, (os.cpu_count() or 1) // request.parallel)
    if request.seeds:
        options["seeds"] = list(request.seeds)
    if request.seal:
        options["seal"] = True
    if upstreams:
        options["upstreams"] = upstreams
    return JobConfig(
        job_name=request.name,
        jobs_dir=request.jobs,
        n_attempts=request.trials,
        n_concurrent_trials=request.parallel,
        quiet=True,
        retry=retry(request.max_retries),
        override_error_policy={name: ErrorPolicyOverride(should_grade=True) for name in _ungraded()},
        environment=EnvironmentConfig(import_path=ENVIRONMENT, delete=not request.keep, kwargs=options),
        agents=agents,
        tasks=[TaskConfig(path=path) for path in request.tasks],
    )


def _ungraded() -> set[str]:
    """Errors after which Harbor would not judge. It takes them from what the agent's program prints, so all are."""
    return {name for name, policy in ERROR_POLICIES.items() if not policy.should_grade} | set(PROVIDER)


def agent_image(request: Request) -> str:
    """The image of the agent's pod.

    Raises:
        UserError: no such agent, or one that can't run here.
    """
    return PLAIN if request.scripts else agent_images.image_name(request.agent)


def retry(max_retries: int) -> RetryConfig:
    """How often a trial is played again, and after what time; again.py says which.

    Harbor's own rule is off, should this ever be played by its own queue: it goes by the name of an exception.
    """
    return RetryConfig(
        max_retries=max_retries, include_exceptions={InadmissibleError.__name__}, min_wait_sec=1, max_wait_sec=10
    )


def _agents(request: Request) -> tuple[list[AgentConfig], dict[str, str]]:
    if request.scripts:
        return [_script(path) for path in request.scripts], {}
    made = [configure(one) for one in contestants(request)]
    return [config for config, _ in made], merge([upstreams for _, upstreams in made])


def contestants(request: Request) -> list[Contestant]:
    """Who plays: one for each pair of model and effort; none where scripts do."""
    if request.scripts:
        return []
    return [
        Contestant(
            agent=request.agent,
            model=model,
            effort=effort,
            kwargs=request.kwargs,
            env=request.env,
            model_url=request.model_url,
        )
        for model, effort in request.variants or ((request.model, request.effort),)
    ]


def _script(path: Path) -> AgentConfig:
    if not path.is_file():
        raise no_script(path)
    return AgentConfig(import_path=SCRIPT_AGENT, kwargs={"script": str(path.resolve())})


def play[Played](jobs: Coroutine[None, None, Played]) -> Played:
    """Run jobs to their end, with Harbor's own output kept off the terminal.

    Args:
        jobs: what awaits `run`, once or several times.

    Raises:
        UserError: Harbor refuses a job as it is.
        KeyboardInterrupt: Ctrl-C, SIGTERM or a lost terminal; the clusters are gone.
    """
    # What is run here, and how it ended, is told to nobody unless the user wants it.
    os.environ.setdefault(TELEMETRY_ENV, "0")

    async def heeding() -> Played:
        _heed_signals()
        return await jobs

    with _silence():
        try:
            return asyncio.run(heeding())
        except asyncio.CancelledError as error:
            raise KeyboardInterrupt from error


async def run(config: JobConfig, on_event: OnEvent) -> list[TrialResult]:
    """Run one job to its end; `on_event` is told what happens.

    Raises:
        UserError: Harbor refuses the job as it is.
    """
    try:
        job = await Job.create(config)
    except ValueError as error:
        raise UserError("job", str(error)) from error
    _mute()
    alone.take_over(job, lambda result: again.is_deserved(config.jobs_dir / config.job_name, result))
    for event in TrialEvent:
        job.add_hook(event, _hook(event, on_event))
    try:
        result = await job.run()
    except* ValueError as group:
        raise UserError("job", str(group.exceptions[0])) from group
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
