"""The runner's own heartbeat: a thread that notices when this machine stood still."""

import threading
import time
from collections.abc import Callable

from incident_arena.analysis.stillness import Gap

EVERY_S = 2.0
GAP_S = 15.0
"""Seconds without a beat that are kept; the judge calls the same an outage. A thread of its own is never that late."""


class Heartbeat:
    """Beats from `start` to `stop`. `clock` gives seconds since the epoch; `every` is the time between beats."""

    def __init__(self, clock: Callable[[], float] = time.time, every: float = EVERY_S) -> None:
        """See the class."""
        self._clock, self._every = clock, every
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None
        self._gaps: list[Gap] = []

    def start(self) -> None:
        """Begin."""
        self._thread = threading.Thread(target=self._beat, name="heartbeat", daemon=True)
        self._thread.start()

    def stop(self) -> tuple[Gap, ...]:
        """End, and give the gaps; none when it never began."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join()
        return tuple(self._gaps)

    def _beat(self) -> None:
        last = self._clock()
        ended = False
        while not ended:
            ended = self._ended.wait(self._every)
            now = self._clock()
            if now - last > GAP_S:
                self._gaps.append(Gap(at=last, seconds=now - last))
            last = now
