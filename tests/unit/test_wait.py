"""Waits end when their condition is true, and say what they last saw when it never is."""

import pytest

from incident_arena.wait import DeadlineError, until, until_async


def test_it_returns_once_true() -> None:
    answers = iter([(False, "one"), (False, "two"), (True, "")])
    assert until("three", lambda: next(answers), deadline_s=5, every_s=0.001) < 1


def test_the_error_names_condition_deadline_and_what_was_seen() -> None:
    with pytest.raises(DeadlineError, match=r"pod ready: did not come true within 0.02 s; last seen: Pending"):
        until("pod ready", lambda: (False, "Pending"), deadline_s=0.02, every_s=0.005)


async def test_the_asynchronous_one_does_the_same() -> None:
    async def probe() -> tuple[bool, str]:
        return False, "nothing"

    with pytest.raises(DeadlineError, match="last seen: nothing"):
        await until_async("something", probe, deadline_s=0.02, every_s=0.005)
