"""The way to the model: one record for each request that the agent sent, and whether the way held to the end.

The gateway writes a `Call` for each request; `summarise` makes a `Route` of them. A trial whose way to the model was
down when its agent ended counts for nothing and is played again, so that an agent which is about to fail would gain by
making it look so. It holds the key, and can send, cut and repeat whatever it likes. It can't make the provider answer.
`RULES` names what follows from that; each decision bears the name of the rule that made it. Where the two can't be told
apart the trial is judged.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal

from pydantic import Field

from incident_arena.formats.records import Record

CLIENT = "client"
"""`Call.error` of a request that the agent's side gave up: it hung up, or never sent all of it."""

FLOOD_S, FLOOD_CALLS = 10.0, 50
"""More calls that reached the provider in so many seconds than any CLI makes, even one with ten agents of its own."""
VOLUME_S, VOLUME_BYTES = 60.0, 128 * 1024 * 1024
"""More bytes sent in so many seconds than conversations hold: a turn of the longest is some 4 MB."""
ROW = 3
"""So many failures in a row are no blink…"""
SPREAD_S = 10.0
"""…nor are two or more with so many seconds from the first one's end to the last one's."""
ALIKE, ALIKE_BYTES = 4, 64 * 1024
"""A call is like those before it up to so many times the longest of them and so many bytes."""
SILENT_SHARE, SILENT_S = 0.5, 120.0
"""A provider that leaves calls without a byte for so much of the agent's time, and so many seconds, is down."""
HOSTS_KEPT = 50

OK, MULTIPLE = 200, 300
REFUSED_KEY = frozenset({401, 403})
UNKNOWN_MODEL = 404
SERVER = 500
COUNTED = frozenset({402, 408, 429})
"""No credit left, no answer in time, too many requests: the provider's word that it won't serve a right call now."""

type State = Literal["held", "down", "none"]

RULES: dict[str, str] = {
    "no call": "a model that was never asked did nothing, so it can have caused nothing",
    "never answered": "what a model does it does by its answers: before the first one, no failure is its doing",
    "all answered": "no call failed, so the end was the agent's own",
    "answered at the end": "failures that were followed by an answer were got over, by waiting or by asking again",
    "flood": "who sends more than any CLI does may have bought the failures by it, and forfeits",
    "silent to the end": "without a byte for most of its time nobody can act; a shorter silence may be one long answer",
    "blink": "one or two failures in a moment happen to all; an agent could wait for one and end itself",
    "down at the end": "calls like those that were answered before, failing one after the other to the end",
}
"""Each rule with its reason, in the order in which they are tried.

What calls count for them:

- only calls to inference paths that the allow-list let through, begun in the agent's time;
- of one lane: one credential, host and thing asked for. Another key, or a model for which the account has no quota,
  fails at will. The main lane is the one in which most bytes were sent in calls answered well;
- only failures like what was answered well before in that lane: a request of another size may fail at will;
- a call that the client gave up is nobody's failure, be it cut by the agent's end; but silence before that is counted,
  after the last answer to anything and where it is ALIKE times longer than the waits of that lane that were answered;
- a status of 400 and its like show that the provider answers;
- 401, 403 and 404 count only while no call was ever answered: a key that has worked is refused only to other wishes.
"""


class Call(Record):
    """One request, as the gateway logs it. Never a header or a body."""

    version: Literal[1] = 1
    at: float
    seconds: float = Field(ge=0)
    """From the request to the end of its answer."""
    host: str
    port: int
    method: str
    status: int
    """0: no answer came."""
    bytes_in: int = Field(ge=0)
    """Of the answer."""
    bytes_out: int = Field(ge=0)
    """Of the request."""
    allowed: bool
    """False: the allow-list refused it, and it went nowhere."""
    model_call: bool
    """A POST to an inference path."""
    whole: bool
    """The answer came to its end, by its own framing; a stream that broke off is not whole."""
    refusal: str = ""
    """The provider's own word when it declined on grounds of safety ("refusal", "content_filter", "SAFETY")."""
    error: str = ""
    """Our word for what failed: "refused", "timeout", "tls", "dns", "cut", …; CLIENT when the agent's side gave up."""
    credential: str = ""
    """`fingerprint` of the key that was used; of a signed request, of the name of the key that signed it."""
    asked: str = ""
    """`fingerprint` of the path and of the model that was asked for."""
    waited: float = Field(default=0.0, ge=0)
    """Seconds from when all of the request was here to the answer's first byte, or to the call's end when none came."""


class HostCount(Record):
    """What went to one host."""

    host: str
    port: int
    allowed: bool
    calls: int
    bytes_in: int
    bytes_out: int


class Route(Record):
    """What became of an agent's way to its model. `state`: "none" without a call, "down" when it did not hold."""

    version: Literal[1] = 1
    state: State
    rule: str
    """The rule of RULES that decided."""
    reason: str
    agent_started: float
    agent_ended: float
    calls: int
    """Model calls that were let through in the agent's time."""
    answered: int
    """Those answered well: 2xx, and to the end."""
    failed: dict[str, int]
    """Those that failed, by kind: the status, "no answer" or "cut"; whoever sent them."""
    streak: int
    """Failures that count at the end of the main lane; 0 when the last that counts was answered."""
    last: str
    """What the last model call came to."""
    last_at: float | None
    refusals: int
    """Calls answered well in which the provider declined."""
    refused: bool
    """The last call that was answered well was such a one."""
    not_allowed: int
    """Requests of any kind that the allow-list refused."""
    hosts: tuple[HostCount, ...]
    """The busiest HOSTS_KEPT."""


def fingerprint(salt: bytes, *parts: str) -> str:
    """Twelve hex digits that tell two secrets apart without telling them; `salt` is one trial's, up to 32 bytes."""
    digest = hashlib.blake2s("\0".join(parts).encode(), key=salt, digest_size=6)
    return digest.hexdigest()


def summarise(calls: Iterable[Call], *, agent_started: float, agent_ended: float) -> Route:
    """What the calls say of the way to the model at the end of the agent's time.

    Args:
        calls: in any order.
        agent_started: when the agent could first act, seconds since the epoch.
        agent_ended: when it ended; calls begun later (the end of a turn, after a declaration) decide nothing.
    """
    everything = sorted(calls, key=_end)
    mine = [one for one in everything if one.model_call and one.allowed and agent_started <= one.at <= agent_ended]
    answered = [one for one in mine if answered_well(one)]
    lane = _main_lane(mine)
    streak = _streak(lane)
    state, rule, reason = _decide(mine, streak, _silence(mine, lane, agent_ended), agent_ended - agent_started)
    return Route(
        state=state,
        rule=rule,
        reason=reason,
        agent_started=agent_started,
        agent_ended=agent_ended,
        calls=len(mine),
        answered=len(answered),
        failed=dict(sorted(Counter(kind for one in mine if (kind := failure(one))).items())),
        streak=len(streak),
        last=_came_to(mine[-1]) if mine else "",
        last_at=_end(mine[-1]) if mine else None,
        refusals=sum(bool(one.refusal) for one in answered),
        refused=bool(answered and answered[-1].refusal),
        not_allowed=sum(not one.allowed for one in everything),
        hosts=_hosts(everything),
    )


def answered_well(call: Call) -> bool:
    """A 2xx that came to its end."""
    return OK <= call.status < MULTIPLE and call.whole


def failure(call: Call) -> str:
    """The kind of a failed call of which the provider, the key or the way may be the cause; empty for all others."""
    if call.error == CLIENT:
        return ""
    if call.status == 0:
        return "no answer"
    if OK <= call.status < MULTIPLE:
        # Without a word for who broke it off, it may have been the agent.
        return "cut" if call.error and not call.whole else ""
    if call.status >= SERVER or call.status in COUNTED | REFUSED_KEY | {UNKNOWN_MODEL}:
        return str(call.status)
    return ""


def _decide(mine: Sequence[Call], streak: Sequence[Call], silence: float, time: float) -> tuple[State, str, str]:
    """State, rule and reason, by RULES in their order; `silence` is at the end of the agent's `time`, in seconds."""
    if not mine:
        return "none", "no call", "the model was never asked"
    if not any(_spoke(one) for one in mine):
        if all(one.error == CLIENT and not one.waited for one in mine):
            return "none", "no call", f"the agent gave up all of its {len(mine)} calls before they were sent on"
        return "down", "never answered", f"none of {len(mine)} calls was answered well: {_told(mine)}"
    return _decide_streak(mine, streak, silence if silence >= max(SILENT_S, SILENT_SHARE * time) else 0.0)


def _decide_streak(mine: Sequence[Call], streak: Sequence[Call], silence: float) -> tuple[State, str, str]:
    """The same where the model has spoken; `silence` is 0 when it is too short to count."""
    failures = sum(bool(failure(one)) for one in mine)
    if not streak and not silence:
        if not failures:
            return "held", "all answered", f"no call of {len(mine)} failed"
        return "held", "answered at the end", f"{failures} of {len(mine)} calls failed, but not the last that count"
    if flood := _flood(mine):
        return "held", "flood", flood
    if silence:
        return "down", "silent to the end", f"no byte of an answer came in the last {silence:.0f} s of waiting"
    spread = _end(streak[-1]) - _end(streak[0])
    if len(streak) < ROW and spread < SPREAD_S:
        return "held", "blink", f"the last {len(streak)} of {len(mine)} calls failed within {spread:.0f} s"
    return "down", "down at the end", f"the last {len(streak)} calls failed, over {spread:.0f} s: {_told(streak)}"


def _spoke(call: Call) -> bool:
    """The model may have said something: an answer came well, or the agent's side broke it off."""
    return OK <= call.status < MULTIPLE and not failure(call) and (call.whole or call.bytes_in > 0)


def _main_lane(mine: Sequence[Call]) -> list[Call]:
    """The calls of the lane in which most bytes were sent in calls that the model answered; none when none was."""
    weights: Counter[tuple[str, str, int, str]] = Counter()
    for one in mine:
        if _spoke(one):
            weights[_lane(one)] += one.bytes_out + 1
    if not weights:
        return []
    [(main, _)] = weights.most_common(1)
    return [one for one in mine if _lane(one) == main]


def _lane(call: Call) -> tuple[str, str, int, str]:
    return call.credential, call.host, call.port, call.asked


def _streak(lane: Sequence[Call]) -> list[Call]:
    """The failures that count after the last answer of a lane."""
    longest = 0
    streak: list[Call] = []
    for one in lane:
        if _spoke(one):
            longest = max(longest, one.bytes_out)
            streak = []
        elif not failure(one):
            # The provider found fault with the call, so that it was there; what the client gave up says nothing.
            streak = [] if one.error != CLIENT and one.status >= OK else streak
        elif one.status not in REFUSED_KEY | {UNKNOWN_MODEL} and one.bytes_out <= ALIKE * longest + ALIKE_BYTES:
            streak.append(one)
    return streak


def _silence(mine: Sequence[Call], lane: Sequence[Call], ended: float) -> float:
    """Seconds that a lane's calls waited for a first byte, after the last answer to any call.

    0 where that is not ALIKE times longer than any wait that ended in an answer.
    """
    spoken = [one for one in lane if _spoke(one)]
    if not spoken:
        return 0.0
    heard = max(_end(one) for one in mine if one.status >= OK and (one.whole or one.bytes_in) and not failure(one))
    most = ALIKE * max(one.bytes_out for one in spoken) + ALIKE_BYTES
    silence, reached = 0.0, heard
    for one in sorted(lane, key=lambda one: one.at):
        if one.waited and not one.bytes_in and one.bytes_out <= most:
            end = min(_end(one), ended)
            silence += max(0.0, end - max(reached, end - one.waited))
            reached = max(reached, end)
    return silence if silence > ALIKE * max(one.waited for one in spoken) else 0.0


def _flood(mine: Sequence[Call]) -> str:
    """What was too much, among the calls that reached the provider; empty when nothing was."""
    reached = sorted((one for one in mine if one.status), key=lambda one: one.at)
    first = 0
    for number, one in enumerate(reached):
        while one.at - reached[first].at > FLOOD_S:
            first += 1
        if number - first + 1 > FLOOD_CALLS:
            return f"over {FLOOD_CALLS} calls in {FLOOD_S:.0f} s, which no CLI makes"
    first, total = 0, 0
    for one in reached:
        total += one.bytes_out
        while one.at - reached[first].at > VOLUME_S:
            total -= reached[first].bytes_out
            first += 1
        if total > VOLUME_BYTES:
            return f"over {VOLUME_BYTES >> 20} MiB sent in {VOLUME_S:.0f} s, which no conversation holds"
    return ""


def _told(calls: Sequence[Call]) -> str:
    """What calls came to, counted: `429 11 times, no answer (timeout) once`."""
    counts = Counter(_came_to(one) for one in calls)
    return ", ".join(f"{what} {'once' if count == 1 else f'{count} times'}" for what, count in counts.most_common(5))


def _came_to(call: Call) -> str:
    if call.error == CLIENT:
        return "given up by the agent"
    if call.status == 0:
        return f"no answer ({call.error})" if call.error else "no answer"
    return f"{call.status}, broken off" if OK <= call.status < MULTIPLE and not call.whole else str(call.status)


def _hosts(calls: Sequence[Call]) -> tuple[HostCount, ...]:
    found: dict[tuple[str, int, bool], list[Call]] = {}
    for one in calls:
        found.setdefault((one.host, one.port, one.allowed), []).append(one)
    busiest = sorted(found.items(), key=lambda item: (-len(item[1]), item[0]))[:HOSTS_KEPT]
    return tuple(
        HostCount(
            host=host, port=port, allowed=allowed, calls=len(some),
            bytes_in=sum(one.bytes_in for one in some), bytes_out=sum(one.bytes_out for one in some),
        )
        for (host, port, allowed), some in busiest
    )  # fmt: skip


def _end(call: Call) -> float:
    return call.at + call.seconds
