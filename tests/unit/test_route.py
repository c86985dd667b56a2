"""The way to the model: what failed by itself is told from what an agent can make fail."""

import random
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incident_arena import route
from incident_arena.route import CLIENT, RULES, Call, Route, fingerprint, summarise

START, END = 1000.0, 2000.0
KEY, OTHER = fingerprint(b"salt", "key"), fingerprint(b"salt", "other")


def call(at: float, status: int = 200, **more: object) -> Call:
    fields: dict[str, object] = {
        "at": at, "seconds": 1.0, "host": "api.example", "port": 443, "method": "POST", "status": status,
        "bytes_in": 900, "bytes_out": 40_000, "allowed": True, "model_call": True, "whole": status != 0,
        "error": "" if status else "timeout", "credential": KEY, "asked": "main",
    }  # fmt: skip
    return Call(**(fields | more))  # type: ignore[arg-type]


def row(number: int, status: int = 200, *, start: float = START, every: float = 10.0, **more: object) -> list[Call]:
    return [call(start + place * every, status, **more) for place in range(number)]


def judge(*parts: list[Call]) -> Route:
    return summarise([one for part in parts for one in part], agent_started=START, agent_ended=END)


GOOD = row(30)
LATE = 1700.0


@pytest.mark.parametrize(
    ("calls", "rule"),
    [
        ([], "no call"),
        (row(3, 0, error=CLIENT, bytes_in=0), "no call"),
        (row(3, 0, error=CLIENT, bytes_in=0, waited=60.0), "never answered"),
        (row(4, 200, model_call=False), "no call"),
        (row(4, 0, allowed=False), "no call"),
        (row(11, 429), "never answered"),
        (row(1, 429), "never answered"),
        (row(2, 401), "never answered"),
        (row(2, 404), "never answered"),
        (row(1, 400), "never answered"),
        (row(5, 0, error="dns"), "never answered"),
        (row(5, 200, whole=False, error="cut"), "never answered"),
        (row(200, 429, every=0.1), "never answered"),
        (GOOD, "all answered"),
        (GOOD + row(2, 400, start=LATE), "all answered"),
        (GOOD + row(3, 429, start=1100) + row(2, start=LATE), "answered at the end"),
        (GOOD + row(1, 529, start=LATE), "blink"),
        (GOOD + row(2, 529, start=LATE, every=4), "blink"),
        (GOOD + row(2, 529, start=LATE, every=40), "down at the end"),
        (GOOD + row(3, 529, start=LATE, every=1), "down at the end"),
        (GOOD + row(11, 429, start=LATE), "down at the end"),
        (GOOD + row(5, 402, start=LATE), "down at the end"),
        (GOOD + row(5, 0, start=LATE, error="refused"), "down at the end"),
        (GOOD + row(4, 200, start=LATE, whole=False, error="cut"), "down at the end"),
        (row(1, 200, whole=False, error=CLIENT) + row(9, 503, start=LATE), "down at the end"),
    ],
)
def test_each_rule(calls: list[Call], rule: str) -> None:
    found = judge(calls)
    assert found.rule == rule
    down = {"never answered", "silent to the end", "down at the end"}
    assert found.state == ("none" if rule == "no call" else "down" if rule in down else "held")
    assert found.reason


def silent(start: float, seconds: float, status: int = 0, **more: object) -> Call:
    """A call that was sent on, and to which no byte came until the agent's side ended it."""
    fields = {"seconds": seconds, "waited": seconds, "error": CLIENT, "whole": False, "bytes_in": 0}
    return call(start, status, **(fields | more))


USUAL = row(10, every=12, waited=8.0)
"""The first 110 of 1000 s, answered well."""


@pytest.mark.parametrize(
    ("calls", "state"),
    [
        # The provider hung for most of the time, and the agent's end cut the call: by the clock of either.
        ([silent(1200, END - 1200)], "down"),
        ([silent(1200, END - 1200 + 30)], "down"),
        ([silent(1200, END - 1200, 200)], "down"),  # headers, and no more
        # The agent's program gave up and asked again, or the provider's side hung up at last.
        (row(8, 0, start=1200, every=100, seconds=100.0, waited=100.0, error=CLIENT, bytes_in=0), "down"),
        ([silent(1200, 400), call(1600, 503, waited=0.1), silent(1610, 390)], "down"),
        ([silent(1200, 400, 200, error="cut"), silent(1600, 400)], "down"),
        # One slow last request of a way that worked.
        ([silent(1900, END - 1900)], "held"),
        ([silent(1520, END - 1520)], "held"),
        ([call(1150, waited=200.0, seconds=210.0), silent(1400, END - 1400)], "held"),  # such waits are usual here
        # Silence that was got over.
        ([silent(1200, 600), call(1800, waited=2.0)], "held"),
        ([silent(1200, 600), call(1800, 400, waited=0.1)], "held"),
        ([silent(1200, 600), silent(1850, 150)], "down"),
        # Many at once wait no longer than one.
        ([silent(1600, 400) for _ in range(5)], "held"),
    ],
)
def test_a_provider_that_hangs(calls: list[Call], state: str) -> None:
    found = judge(USUAL, calls)
    assert found.state == state
    assert (found.rule == "silent to the end") == (state == "down")


@pytest.mark.parametrize(
    "calls",
    [
        [silent(1200, 800, waited=0.0)],  # it never sent all of its request
        [silent(1200, 800, credential=OTHER)],
        [silent(1200, 800, asked="other")],
        [silent(1200, 800, bytes_out=3_000_000)],
        [silent(1200, 800, bytes_in=5)],  # who does not read stops what comes
        [silent(1200, 800), silent(1190, 810, 200, bytes_in=90_000, asked="other")],
        [silent(1200, 800), *row(60, start=1150, every=0.1)],  # a flood
    ],
)
def test_an_agent_can_not_make_it_seem_so(calls: list[Call]) -> None:
    assert judge(USUAL, calls).state == "held"


def test_a_short_trial_is_not_silent_for_most_of_its_time_by_one_call() -> None:
    calls = [call(START, waited=1.0), silent(START + 2, route.SILENT_S - 1)]
    assert summarise(calls, agent_started=START, agent_ended=START + route.SILENT_S).state == "held"


FAIR = row(40, every=12)
"""The agent's program, answered well to the end."""
ATTACKS: dict[str, list[Call]] = {
    "a bad key at the end": row(20, 401, start=LATE, credential=OTHER),
    "a bad key that is told to wait": row(20, 429, start=LATE, credential=OTHER),
    "the good key for what it may not do": row(20, 403, start=LATE),
    "a model that is not there": row(20, 404, start=LATE),
    "a model for which the account has no quota": row(20, 429, start=LATE, asked="other"),
    "one answer of another model, then its quota is spent": [
        call(1500, asked="other", bytes_out=100), *row(20, 429, start=LATE, asked="other"),
    ],
    "a request over the limit of tokens a minute": row(20, 429, start=LATE, bytes_out=3_000_000),
    "malformed requests": row(20, 400, start=LATE),
    "malformed requests after failures": row(3, 429, start=LATE) + row(1, 400, start=LATE + 100),
    "its own connections cut": row(20, 200, start=LATE, whole=False, error=CLIENT),
    "streams broken off, nobody says by whom": row(20, 200, start=LATE, whole=False),
    "requests never sent to their end": row(20, 0, start=LATE, error=CLIENT, bytes_in=0),
    "a host that is not allowed": row(50, 0, start=LATE, allowed=False, host="evil.example"),
    "failures of what is no model call": row(50, 500, start=LATE, model_call=False),
    "a flood until the provider says stop": row(200, 200, start=1600, every=0.1) + row(20, 429, start=LATE),
    "a flood that keeps it saying stop": row(300, 429, start=LATE, every=0.1),
    "few requests, but long ones": [
        *row(40, 200, start=1600, every=1, bytes_out=4_000_000), *row(20, 429, start=LATE, bytes_out=4_000_000),
    ],
    "its end at the first failure": row(1, 529, start=LATE),
    "failures after its end": row(20, 429, start=END + 1),
    "failures from before its start": row(20, 429, start=START - 400),
}  # fmt: skip


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_buys_nothing(attack: str) -> None:
    assert judge(FAIR, ATTACKS[attack]).state == "held"


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_does_not_make_the_agent_pay_for_a_way_that_was_never_there(attack: str) -> None:
    before = row(5, 503, start=START + 1, every=2)
    answered = any(200 <= one.status < 300 and one.model_call for one in ATTACKS[attack])
    assert answered or judge(before, ATTACKS[attack]).state == "down"


STATUSES = st.sampled_from([0, 200, 200, 200, 400, 401, 403, 404, 408, 429, 500, 503, 529])
CALLS = st.lists(
    st.builds(
        call,
        st.floats(START - 50, END + 50),
        STATUSES,
        bytes_out=st.integers(0, 9_000_000),
        whole=st.booleans(),
        error=st.sampled_from(["", CLIENT, "cut", "dns"]),
        credential=st.sampled_from([KEY, OTHER]),
        asked=st.sampled_from(["main", "other"]),
        allowed=st.booleans(),
        model_call=st.booleans(),
        refusal=st.sampled_from(["", "refusal"]),
        bytes_in=st.sampled_from([0, 900]),
        waited=st.sampled_from([0.0, 1.0, 700.0]),
    ),
    max_size=40,
)


@given(CALLS, st.randoms(use_true_random=False))
def test_the_order_of_the_lines_does_not_matter(calls: list[Call], chance: random.Random) -> None:
    numbers = count()
    apart = [one.model_copy(update={"at": one.at + next(numbers) * 1e-3}) for one in calls]
    mixed = list(apart)
    chance.shuffle(mixed)
    first, second = judge(apart), judge(mixed)
    assert first.model_copy(update={"reason": ""}) == second.model_copy(update={"reason": ""})


@given(CALLS)
def test_a_summary_is_whole_and_its_rule_known(calls: list[Call]) -> None:
    found = judge(calls)
    assert found.rule in RULES
    assert found.answered + sum(found.failed.values()) <= found.calls
    assert found.refusals <= found.answered
    assert sum(one.calls for one in found.hosts) == len(calls)
    assert Route.model_validate_json(found.model_dump_json()) == found


@given(CALLS)
def test_a_well_answered_last_call_of_the_main_lane_means_held(calls: list[Call]) -> None:
    """Whatever else was sent: the agent's own program was served to the end."""
    main = row(50, every=19, bytes_out=20_000_000)
    assert judge(main, calls, [call(END, seconds=60, bytes_out=20_000_000)]).state == "held"


@given(CALLS)
def test_calls_that_went_nowhere_or_were_soon_given_up_decide_nothing(calls: list[Call]) -> None:
    noise = [one.model_copy(update={"allowed": False}) for one in calls]
    noise += [one.model_copy(update={"error": CLIENT, "status": 0, "waited": min(1.0, one.waited)}) for one in calls]
    for real in (GOOD, GOOD + row(11, 429, start=LATE), row(11, 429)):
        assert judge(real, noise).state == judge(real).state


@given(CALLS)
def test_without_an_answer_it_is_never_held(calls: list[Call]) -> None:
    silent = [one for one in calls if not 200 <= one.status < 300]
    assert judge(silent).state != "held"


def test_the_reason_counts_what_came() -> None:
    reason = judge(GOOD, row(11, 429, start=LATE), row(1, 0, start=1900, error="dns")).reason
    assert "429 11 times" in reason
    assert "no answer (dns) once" in reason


def test_refusals_are_counted_and_the_last_word_marks() -> None:
    assert (judge(GOOD, row(1, start=LATE, refusal="refusal")).refused, judge(GOOD).refused) == (True, False)
    got_over = judge(row(1, refusal="SAFETY"), row(1, start=LATE))
    assert (got_over.refusals, got_over.refused) == (1, False)


def test_hosts_are_kept_to_a_number() -> None:
    many = [call(START + number, 0, allowed=False, host=f"{number}.example") for number in range(200)]
    found = judge(many, GOOD)
    assert len(found.hosts) == route.HOSTS_KEPT
    assert found.hosts[0].host == "api.example"
    assert found.not_allowed == 200


def test_a_fingerprint_tells_keys_apart_by_the_salt_of_one_trial() -> None:
    assert fingerprint(b"a", "key") == fingerprint(b"a", "key")
    assert len({fingerprint(b"a", "key"), fingerprint(b"a", "kez"), fingerprint(b"b", "key")}) == 3
    assert "key" not in fingerprint(b"a", "key")
