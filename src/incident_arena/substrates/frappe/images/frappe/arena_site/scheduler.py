"""Puts the scheduled jobs that are due into the queue, every SCHEDULER_TICK_S seconds (15 when not set).

The package's own loop crashes at its first tick (W9). A tick that fails is logged by the framework; the next one tries
again.
"""

import os
import threading

from arena_site import framework, probe
from arena_site.health import Health


def main() -> None:
    """Tick until stopped."""
    framework.prepare()
    from monoframe.utils.scheduler import enqueue_events_for_site  # noqa: PLC0415  after prepare

    tick_s = float(os.environ.get("SCHEDULER_TICK_S", "15"))
    health = Health()
    probe.serve(health)
    never = threading.Event()
    while not never.wait(tick_s if health.seeded else 0.5):
        if health.check().ready:
            enqueue_events_for_site()


if __name__ == "__main__":
    main()
