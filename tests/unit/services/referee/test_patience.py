import pytest

from incident_arena.errors import InfrastructureError
from incident_arena.services.referee import patience
from incident_arena.services.referee.patience import StalledError, insist, patient
from incident_arena.wait import DeadlineError


async def test_a_request_that_fails_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "POLL_S", 0.01)
    tries = 0

    async def request() -> None:
        nonlocal tries
        tries += 1
        if tries < 3:
            raise InfrastructureError("the load", "busy")

    await insist("the load pauses", request)
    assert tries == 3


async def test_the_last_failure_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "POLL_S", 0.01)

    async def probe() -> tuple[bool, str]:
        raise InfrastructureError("the load", "busy")

    with pytest.raises(DeadlineError, match="the load: busy"):
        await patient("it is done", probe, 0.05)


async def test_what_will_not_come_is_not_waited_for() -> None:
    async def probe() -> tuple[bool, str]:
        raise StalledError("the backlog", "stands")

    with pytest.raises(StalledError):
        await patient("it is done", probe, 60)


async def test_an_error_of_ours_is_no_failed_request() -> None:
    async def probe() -> tuple[bool, str]:
        raise KeyError("x")

    with pytest.raises(KeyError):
        await patient("it is done", probe, 60)
