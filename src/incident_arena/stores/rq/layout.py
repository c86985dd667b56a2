"""How RQ keeps its jobs in Redis (https://github.com/rq/rq), in the form that frappe's framework uses.

A list `rq:queue:<name>` of job ids, a hash `rq:job:<id>` for each job, and a sorted set for each other state. RQ's own
library is not used, because it unpickles what it reads: whoever can write a job could then run code here.
"""

KEYS = "rq:"
QUEUES = "rq:queues"
QUEUE = "rq:queue:"
JOB = "rq:job:"
WORKERS = "rq:workers:"
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
STATES = {"queued": QUEUE, **REGISTRIES}


def short(queue: str) -> str:
    """The last part of a queue's name, which people use: `default` for `rq:queue:<folder>:default`."""
    return queue.removeprefix(QUEUE).rpartition(":")[2]
