"""Which trials are played again because the model could not be reached.

Harbor decides that by the name of the exception in the result that it holds, right after the hooks of a trial's end. It
finds the name in what the agent's program printed, and knows nothing of the gateway's record. So the hook puts right
what is held in memory: an errored trial gets an exception that is played again, and one that counts loses the one that
would be. result.json is written by then, and stays as Harbor made it.
"""

from datetime import UTC, datetime
from pathlib import Path

from harbor.models.trial.result import ExceptionInfo, TrialResult
from harbor.trial.hooks import HookCallback, TrialHookEvent

from incident_arena.analysis.errored import PROVIDER, START, hopeless, read_route
from incident_arena.harbor import journal
from incident_arena.harbor.outcome import AGAIN, errored_reason, read_verdict


def hook(job_folder: Path) -> HookCallback:
    """The hook for the end of each of a job's trials."""

    async def ended(told: TrialHookEvent) -> None:
        settle(job_folder, told.result)

    return ended


def settle(job_folder: Path, result: TrialResult) -> None:
    """Keep what an errored attempt spent, and tell Harbor whether to play the trial again.

    Args:
        job_folder: Harbor's folder of the job; the trial's is still there.
        result: the one that Harbor holds; its exception is changed.
    """
    trial = job_folder / result.trial_name
    reason = errored_reason(result, trial, read_verdict(trial))
    error = result.exception_info
    name = error.exception_type if error else None
    if reason:
        journal.errored(job_folder, result, reason)
        if not hopeless(name, read_route(trial)[0]):
            result.exception_info = ExceptionInfo(
                exception_type=AGAIN, exception_message=reason, exception_traceback="", occurred_at=datetime.now(UTC)
            )
            return
    if error is not None and error.policy.should_retry and name in PROVIDER | START:
        result.exception_info = None
