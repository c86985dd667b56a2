"""Which step is next follows from the conversation, not from how many requests there were."""

from dataclasses import replace

import pytest
from tests.unit.endpoint.wire import script

from incident_arena.endpoint.asked import Asked, Json, Tool, Turn
from incident_arena.endpoint.player import Player

CALL = Turn("", 1)
BASE = Asked(
    model="m", stream=False, tools=(Tool("bash", {}),), turns=(), system="", first="Repair", newest="Repair", size=9,
    known=0,
)  # fmt: skip


def at(turns: int, **more: object) -> Asked:
    return replace(BASE, turns=(CALL,) * turns, **more)  # type: ignore[arg-type]


def numbers(player: Player, *asked: Asked) -> list[int | None]:
    return [player.move(each, "key").number for each in asked]


def test_a_request_sent_again_gets_the_same_step() -> None:
    player = Player(script({"bash": "a"}, {"bash": "b"}, {"text": "c"}))
    assert numbers(player, at(0), at(0), at(1), at(1), at(2), at(2)) == [1, 1, 2, 2, 3, 3]


def test_many_conversations_at_once_do_not_disturb_each_other() -> None:
    player = Player(script({"bash": "a"}, {"status": 500}, {"bash": "b"}, {"text": "c"}))
    other = {"first": "Another"}
    assert numbers(player, at(0), at(0, **other), at(1), at(1, **other)) == [1, 1, 2, 2]
    assert numbers(player, at(1), at(2, **other), at(1, session="s"), at(2)) == [3, 4, 2, 4]
    assert player.move(at(1), "another key").number == 2


def test_a_repeated_turn_stands_for_many() -> None:
    player = Player(script({"bash": "a", "repeat": 3}, {"text": "c"}))
    assert numbers(player, *(at(turns) for turns in range(5))) == [1, 1, 1, 2, None]
    forever = Player(script({"bash": "a", "repeat": "forever"}))
    assert numbers(forever, at(0), at(99)) == [1, 1]


def test_a_fault_is_met_as_often_as_it_says_in_each_conversation() -> None:
    player = Player(script({"bash": "a"}, {"status": 429, "repeat": 2}, {"hang": 1}, {"text": "c"}))
    assert numbers(player, at(0), at(1), at(1), at(1), at(1), at(1)) == [1, 2, 2, 3, 4, 4]
    assert numbers(player, at(0), at(1)) == [1, 2], "the same task begun anew meets its faults anew"


def test_a_fault_for_ever_never_ends() -> None:
    player = Player(script({"status": 529, "repeat": "forever"}, {"text": "never"}))
    assert numbers(player, *[at(0)] * 50) == [1] * 50


def test_past_the_end_the_last_answer_is_said_again() -> None:
    player = Player(script({"bash": "a"}, {"text": "c"}))
    assert player.move(at(2), "").step.text == "c"
    without = Player(script({"bash": "a"}))
    assert without.move(at(1), "").step.text == "The script is over."


def test_what_the_client_puts_into_the_models_mouth_is_no_step() -> None:
    player = Player(script({"text": "One."}, {"bash": "b"}))
    primed = replace(BASE, turns=(Turn("Understood.", 0),))
    assert player.move(primed, "").number == 1
    assert player.move(replace(BASE, turns=(Turn("Understood.", 0), Turn("One.", 0))), "").number == 2


def test_requests_beside_the_work_use_up_no_step() -> None:
    player = Player(script({"status": 500, "repeat": 2}, {"bash": "a"}))
    title = replace(BASE, tools=(), first="Give a title")
    moves = [player.move(title, "key") for _ in range(5)]
    assert all(move.beside and move.number is None and move.step.text for move in moves)
    assert numbers(player, at(0), at(0), at(0)) == [1, 1, 2]


def test_requests_beside_the_work_fail_with_a_provider_that_is_down_for_good() -> None:
    player = Player(script({"bash": "a"}, {"status": 529, "repeat": "forever"}))
    title = replace(BASE, tools=(), first="Give a title")
    assert player.move(title, "key").step.status is None
    player.move(at(1), "key")
    assert player.move(title, "key").step.status == 529
    assert player.move(title, "another").step.status is None


@pytest.mark.parametrize("steps", [[{"cut": True}, {"bash": "a"}], [{"cut": True}, {"status": 500}, {"bash": "a"}]])
def test_what_breaks_off_is_the_next_answer(steps: list[Json]) -> None:
    player = Player(script(*steps))
    assert player.answer_after(player.move(at(0), "")).bash == "a"


def test_a_conversations_name_holds_nothing_of_the_key() -> None:
    move = Player(script({"text": "x"})).move(at(0), "sk-secret")
    again = Player(script({"text": "x"})).move(at(0), "sk-secret")
    assert "secret" not in move.conversation
    assert move.conversation != again.conversation, "no name can be found by trying keys"
