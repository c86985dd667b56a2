"""Puts the scheduled jobs that are due into the queue, every SCHEDULER_TICK_S seconds (15 when not set).

The package's own loop crashes at its first tick (W9). A tick that fails is logged by the framework; the next one tries
again. FILE touched after each tick (TICK_FILE, when set) lets a probe see that the loop is alive.
"""

import os
import threading
from pathlib import Path

from arena_site import framework
from arena_site.health import Health


def main() -> None:
    """Tick until stopped."""
    framework.prepare()
    from monoframe.utils.scheduler import enqueue_events_for_site  # noqa: PLC0415  after prepare

    tick_s = float(os.environ.get("SCHEDULER_TICK_S", "15"))
    file = os.environ.get("TICK_FILE")
    health = Health()
    never = threading.Event()
    while not never.wait(tick_s if health.seeded else 0.5):
        if not health.check().ready:
            continue
        enqueue_events_for_site()
        if file:
            Path(file).touch()


if __name__ == "__main__":
    main()
