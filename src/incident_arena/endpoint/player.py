"""Which step of the script answers a request.

How far a conversation is, its own history tells: many can be under way at once, and a request that is sent again gets
the same step again. Faults leave no trace in a history, so those that were met are counted for each conversation, which
is known by its first message, the client's key and the name that the client gives its session.
"""

import hashlib
import secrets
from dataclasses import dataclass, field

from incident_arena.endpoint.asked import Asked
from incident_arena.endpoint.protocols import Protocol, asks_again, protocol_of
from incident_arena.endpoint.script import Script, Step

OVER = Step(text="The script is over.")


@dataclass(frozen=True)
class Move:
    """What answers a request. `number` counts from 1; None past the script's end and beside it."""

    conversation: str
    number: int | None
    step: Step
    beside: bool = False
    """A request beside the work (a title, a probe): it has no place in the script."""


@dataclass
class _Met:
    """What a conversation met: faults by their place, and how many turns it had at most."""

    faults: dict[int, int] = field(default_factory=dict)
    turns: int = 0


class Player:
    """Plays one script to any number of conversations."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._met: dict[str, _Met] = {}
        self._newest: dict[str, _Met] = {}
        self._salt = secrets.token_bytes(16)  # so that no name in the log can be traced to a key

    def move(self, asked: Asked, key: str) -> Move:
        """The move that answers; a fault counts as met."""
        client = self._name(key, asked.session)
        conversation = self._name(key, asked.session, asked.first)
        if protocol_of(asked) is Protocol.none:
            return self._beside(client, conversation)
        turns = self._turns(asked)
        met = self._met.setdefault(conversation, _Met())
        if turns < met.turns:  # the same task is begun anew
            met = self._met[conversation] = _Met()
        met.turns = turns
        self._newest[client] = met
        place = self._place(met)
        if place is None:
            return Move(conversation, None, self._after_the_end())
        step = self._script.step[place]
        if not step.is_turn:
            met.faults[place] = met.faults.get(place, 0) + 1
        return Move(conversation, place + 1, step)

    def answer_after(self, move: Move) -> Step:
        """The answer that follows a fault: what it breaks off."""
        return next((step for step in self._script.step[move.number or 0 :] if step.is_turn), OVER)

    def _beside(self, client: str, conversation: str) -> Move:
        """A request beside the work fails as the work does when the provider is down for good."""
        place = self._place(self._newest.get(client, _Met()))
        step = OVER if place is None else self._script.step[place]
        down = step.status is not None and step.repeat == "forever"
        return Move(conversation, None, step if down else OVER, beside=True)

    def _turns(self, asked: Asked) -> int:
        """Turns that the script made. What a client puts into the model's mouth is no step."""
        if protocol_of(asked) is not Protocol.tools:
            # A client that keeps its conversation as text keeps a refusal too, as a turn without any.
            return sum(bool(turn.calls or turn.text.strip()) for turn in asked.turns) - asks_again(asked)
        return sum(bool(turn.calls) or turn.text in self._script.texts for turn in asked.turns)

    def _place(self, met: _Met) -> int | None:
        left: float = met.turns
        for place, step in enumerate(self._script.step):
            if step.is_turn:
                if left < step.lasts:
                    return place
                left -= step.lasts
            elif left == 0 and met.faults.get(place, 0) < step.lasts:
                return place
        return None

    def _after_the_end(self) -> Step:
        last = self._script.step[-1]
        return last if last.text is not None else OVER

    def _name(self, *parts: str) -> str:
        text = "\0".join(parts).encode("utf-8", "replace")
        return hashlib.blake2b(text, digest_size=6, key=self._salt).hexdigest()
