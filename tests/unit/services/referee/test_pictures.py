"""A store that cannot be read: an error before the agent, a fact after it."""

import threading

import pytest

from incident_arena.formats.records import Facts
from incident_arena.services.referee import pictures
from incident_arena.services.referee.pictures import picture
from incident_arena.stores.base import StoreError


class Store:
    """Refuses the first `times` looks."""

    def __init__(self, times: int) -> None:
        self.left = times

    def read(self) -> Facts:
        self.left -= 1
        if self.left >= 0:
            raise StoreError("mariadb", "connection refused")
        return {"globals/live/read_only": "OFF"}


async def test_before_the_agent_it_is_an_error() -> None:
    with pytest.raises(StoreError):
        await picture(Store(1).read, None)


async def test_after_the_agent_a_restart_is_waited_for() -> None:
    assert await picture(Store(1).read, 5) == {"globals/live/read_only": "OFF"}


async def test_after_the_agent_a_stopped_store_is_a_fact() -> None:
    facts = await picture(Store(1000).read, 0.2)
    assert list(facts) == ["unreadable"]
    assert "connection refused" in str(facts["unreadable"])


async def test_after_the_agent_a_store_that_cannot_be_understood_is_a_fact() -> None:
    def read() -> Facts:
        raise UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte")

    assert "UnicodeDecodeError" in str((await picture(read, 0.2))["unreadable"])


async def test_after_the_agent_a_store_that_is_slow_is_a_fact(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "LAST_S", 0.1)
    answered = threading.Event()

    def read() -> Facts:
        answered.wait(30)
        return {}

    try:
        assert "takes longer" in str((await picture(read, 0.2))["unreadable"])
    finally:
        answered.set()
