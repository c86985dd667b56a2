"""A worker of one queue: it does its jobs one after the other in its own process.

The framework has such a worker for its pools. A fork for each job costs 80 ms of a core: on a busy machine 2.7 jobs
were done in a second while 3 came in, and the queue of a healthy application grew without end.
"""

import sys
from typing import Any

from arena_site import framework, probe
from arena_site.health import Health

JOBS = 200_000
"""Done by one process. The framework starts it again after 5,000, half an hour of our load; nothing in it grows."""
RETRIES = 5
"""Of a job whose transaction a deadlock ended: the same number as the framework's, which misses that error's name."""


def main() -> None:
    """Work on the queue that the command line names, until stopped or until jobs can no longer be fetched."""
    framework.prepare()
    import monoframe  # noqa: PLC0415  after prepare
    from monoframe.utils import background_jobs  # noqa: PLC0415

    def again_after_deadlock(job: Any, _kind: Any, error: Any, _trace: Any) -> bool:
        deadlock = isinstance(error, monoframe.QueryDeadlockError)
        job.retries_left = (RETRIES if job.retries_left is None else job.retries_left) if deadlock else 0
        return True

    class Worker(background_jobs.MonoframeWorkerNoFork):
        def bootstrap(self, *args: Any, **options: Any) -> None:
            """Put back, in front, what a worker before this one had taken and not begun: there is one a queue."""
            super().bootstrap(*args, **options)
            self.push_exc_handler(again_after_deadlock)
            for queue in self.queues:
                while job := self.connection.lmove(queue.intermediate_queue_key, queue.key, "RIGHT", "LEFT"):
                    self.log.info("%s had been taken, and is put back", job.decode())

        def start_monoframe_scheduler(self) -> None:
            """Nothing: the scheduler is a pod of its own."""

    background_jobs.RQ_MAX_JOBS = JOBS
    background_jobs.Worker = Worker
    (queue,) = sys.argv[1:]
    probe.serve(Health())
    background_jobs.start_worker(queue=queue)


if __name__ == "__main__":
    main()
