"""Which trials are played again: by what we saw ourselves, after all evidence was gathered.

Harbor would decide by the name of an exception, which it finds in what the agent's program printed, so that an agent
could buy a second trial. Only two things deserve one: the agent was never started, or its model could not be reached,
by the gateway's record where the agent runs in the pod.
"""

from pathlib import Path

from harbor.models.trial.result import TrialResult
from harbor.trial.errors import EnvironmentStartTimeoutError

from incident_arena.analysis.errored import hopeless, read_route
from incident_arena.harbor import journal
from incident_arena.harbor.cluster import InadmissibleError
from incident_arena.harbor.outcome import errored_reason, read_verdict

NEVER_STARTED = frozenset({InadmissibleError.__name__, EnvironmentStartTimeoutError.__name__})


def is_deserved(job_folder: Path, result: TrialResult) -> bool:
    """Whether a trial that has ended is to be played again. What an errored attempt spent is kept.

    Args:
        job_folder: Harbor's folder of the job; the trial's is still there.
        result: Harbor's.
    """
    error = result.exception_info
    name = error.exception_type if error else None
    if result.agent_execution is None and name in NEVER_STARTED:
        return True
    trial = job_folder / result.trial_name
    reason = errored_reason(result, trial, read_verdict(trial))
    if not reason:
        return False
    journal.errored(job_folder, result, reason)
    return not hopeless(name, read_route(trial)[0])
