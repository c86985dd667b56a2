"""How RQ keeps its jobs in Redis (https://github.com/rq/rq), in the form that frappe's framework uses.

A list `rq:queue:<name>` of job ids, a hash `rq:job:<id>` for each job, and a sorted set for each other state. A worker
moves a job from the queue to a second list, enters its execution as started, and takes it off that list when it begins.
One that ends in between leaves the job there; RQ itself calls it failed after ten minutes or more. RQ's own library is
not used, because it unpickles what it reads: whoever can write a job could then run code here.
"""

KEYS = "rq:"
QUEUES = "rq:queues"
QUEUE = "rq:queue:"
JOB = "rq:job:"
WORKERS = "rq:workers:"
CURRENT = "current_job"
"""A worker's field with the id of the job that it does."""
EXECUTION = "rq:execution:"
EXECUTIONS = "rq:executions:"
INTERMEDIATE = ":intermediate"
"""What a queue's name ends with for jobs that a worker has taken and not begun."""
REGISTRIES = {
    "started": "rq:wip:",
    "failed": "rq:failed:",
    "finished": "rq:finished:",
    "deferred": "rq:deferred:",
    "scheduled": "rq:scheduled:",
    "canceled": "rq:canceled:",
}
"""State to the beginning of its sorted set's name."""
TAKEN = "taken"
"""Our word for the state of a job in a queue's INTERMEDIATE list."""
STATES = ("queued", TAKEN, *REGISTRIES)


def job_of(entry: str) -> str:
    """The job's id of an entry of a state's set: those of `started` are `<job>:<execution>`."""
    return entry.partition(":")[0]


def short(queue: str) -> str:
    """The last part of a queue's name, which people use: `default` for `rq:queue:<folder>:default`."""
    return queue.removeprefix(QUEUE).rpartition(":")[2]
