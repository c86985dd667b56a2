"""Each trial alone: what goes wrong in one is that one's error, and whether it is played again is ours to say.

Harbor plays the trials of a job as one group. An exception that one of them lets out ends the job, and the others with
it: one out of the reader of an agent's logs does, so that an agent could end its own trial and its neighbours' without
a verdict. And it plays a trial again by the name of an exception, which it takes from what the agent's program printed.
So this takes the place of its queue.
"""

import asyncio
import contextlib
import functools
import shutil
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, override

from harbor.agents.base import BaseAgent
from harbor.job import Job
from harbor.models.agent.context import AgentContext
from harbor.models.trial.config import TrialConfig
from harbor.models.trial.result import TrialResult
from harbor.trial.queue import TrialQueue
from harbor.trial.trial import Trial

type Again = Callable[[TrialResult], bool]
"""Whether a trial that has ended is to be played again; its folder is still there."""


class AgentFailedError(Exception):
    """An agent ended in a way that would end more than its trial: by cancelling its own task, or by an exit."""


def take_over(job: Job, again: Again) -> None:
    """Have a job's trials played here; to be called before hooks are added to it.

    Args:
        job: not run yet.
        again: asked as often as the job's configuration of retries allows.
    """
    queue = job._trial_queue  # noqa: SLF001 - there is no other way in; the version is pinned, and tests play it
    job._trial_queue = Alone(queue, again)  # noqa: SLF001


class Alone(TrialQueue):
    """Harbor's queue, for trials that don't end each other.

    Args:
        queue: the one whose place it takes.
        again: decides what is played again.
    """

    def __init__(self, queue: TrialQueue, again: Again) -> None:
        """See the class."""
        super().__init__(queue._n_concurrent, queue._retry_config, queue._hooks)  # noqa: SLF001
        self._again = again
        self._going = self._failed = 0
        self._over = asyncio.Event()

    @override
    def submit(self, trial_config: TrialConfig) -> Coroutine[Any, Any, TrialResult]:
        self._going += 1
        return self._last(super().submit(trial_config))

    async def _last(self, trial: Awaitable[TrialResult]) -> TrialResult:
        """A trial of which nothing can be told, not even its error, ends the job; but after all the others."""
        try:
            return await trial
        except Exception:
            self._failed += 1
            self._look()
            await self._over.wait()
            raise
        finally:
            self._going -= 1
            self._look()

    def _look(self) -> None:
        if self._going <= self._failed:
            self._over.set()

    @override
    async def _execute_trial_with_retries(self, trial_config: TrialConfig) -> TrialResult:
        for attempt in range(self._retry_config.max_retries + 1):
            trial = await Trial.create(trial_config)
            shield(trial.agent)
            self._setup_hooks(trial)
            result = await _played(trial)
            if attempt == self._retry_config.max_retries or not self._is_again(result):
                return result
            await asyncio.to_thread(shutil.rmtree, trial.paths.trial_dir, ignore_errors=True)
            await asyncio.sleep(self._calculate_backoff_delay_sec(attempt))
        raise AssertionError

    def _is_again(self, result: TrialResult) -> bool:
        try:
            return self._again(result)
        except Exception:  # what it is decided by lies in the trial's folder: no doubt there costs a result
            self._logger.exception("Whether %s is played again can't be said; it is not", result.trial_name)
            return False


async def _played(trial: Trial) -> TrialResult:
    """Play a trial to its end, however that comes; its result has the first thing that went wrong.

    Raises:
        CancelledError: the job is being cancelled.
    """
    try:
        return await trial.run()
    except asyncio.CancelledError:
        if _is_cancelled():
            raise
    except Exception as error:  # noqa: BLE001 - whatever it is, it is this trial's alone
        trial._record_exception(error)  # noqa: SLF001 - keeps one that is there
    with contextlib.suppress(OSError, ValueError):
        trial.paths.result_path.write_text(trial.result.model_dump_json(indent=4))
    return trial.result


def shield(agent: BaseAgent) -> None:
    """Let an agent fail in no way that spares its trial the judge.

    What it cancels or exits is an ordinary error, and what the logs can't be read for is left unsaid: both come from
    what its program did, and the trial is judged by something else.
    """
    run, read = agent.run, agent.populate_context_post_run

    @functools.wraps(run)
    async def running(*args: Any, **kwargs: Any) -> None:
        try:
            await run(*args, **kwargs)
        except asyncio.CancelledError as error:
            if _is_cancelled():
                raise
            raise AgentFailedError("it cancelled its own task") from error
        except SystemExit as error:
            raise AgentFailedError(f"it exited with {error.code}") from error

    @functools.wraps(read)
    def reading(context: AgentContext) -> None:
        try:
            read(context)
        except Exception:
            agent.logger.exception("The agent's logs could not be read")

    agent.run = running  # type: ignore[method-assign]
    agent.populate_context_post_run = reading  # type: ignore[method-assign]


def _is_cancelled() -> bool:
    """Whether the task that runs is being cancelled from outside: by the job's end, or by a time limit."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
