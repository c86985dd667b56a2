"""A worker of one queue: it does its jobs one after the other in its own process.

The framework has such a worker for its pools. A fork for each job costs 80 ms of a core: on a busy machine 2.7 jobs
were done in a second while 3 came in, and the queue of a healthy application grew without end.
"""

import sys

from arena_site import framework, probe
from arena_site.health import Health

JOBS = 200_000
"""Done by one process. The framework starts it again after 5,000, half an hour of our load; nothing in it grows."""


def main() -> None:
    """Work on the queue that the command line names, until stopped or until jobs can no longer be fetched."""
    framework.prepare()
    from monoframe.utils import background_jobs  # noqa: PLC0415  after prepare

    class Worker(background_jobs.MonoframeWorkerNoFork):
        def start_monoframe_scheduler(self) -> None:
            """Nothing: the scheduler is a pod of its own."""

    background_jobs.RQ_MAX_JOBS = JOBS
    background_jobs.Worker = Worker
    (queue,) = sys.argv[1:]
    probe.serve(Health())
    background_jobs.start_worker(queue=queue)


if __name__ == "__main__":
    main()
