"""The heartbeat keeps gaps of the clock, and nothing else."""

from incident_arena import wait
from incident_arena.harbor.heartbeat import Heartbeat


class Clock:
    """Goes on by a second a look; jumps once."""

    def __init__(self, jump: float) -> None:
        self.looks, self._jump = 0, jump

    def __call__(self) -> float:
        self.looks += 1
        return 1000.0 + self.looks + (self._jump if self.looks > 3 else 0)


def beat(jump: float) -> list[tuple[float, float]]:
    clock = Clock(jump)
    heart = Heartbeat(clock, every=0.001)
    heart.start()
    wait.until("it beats", lambda: (clock.looks > 6, ""), deadline_s=10)
    return [(gap.at, gap.seconds) for gap in heart.stop()]


def test_a_jump_is_one_gap() -> None:
    assert beat(60.0) == [(1003.0, 61.0)]


def test_a_late_beat_is_none() -> None:
    assert beat(8.0) == []


def test_one_that_never_began_has_none() -> None:
    assert Heartbeat().stop() == ()
