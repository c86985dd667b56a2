"""Seconds of harm: what they are, and what chance makes of them."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incident_arena.formats.records import Intent, Outcome
from incident_arena.formats.task import KindLoad
from incident_arena.ledger import harm, rates
from incident_arena.ledger.reading import Operation

RATES = {"bulk-update": 0.1, "create": 1.5, "list": 0.5, "read": 1.5, "sign-in": 0.2, "update": 1.5}
"""Frappe's kinds that its first task does not break, and one that it does."""
GOOD = rates.Samples((0.05,) * 45, 45)


def operation(number: int, due: float, result: str = "ok", latency: float = 0.05, kind: str = "read") -> Operation:
    common = {"id": number, "kind": kind, "due": due}
    return Operation(
        number,
        kind,
        due,
        Intent(**common, at=due),
        Outcome.model_validate({**common, "at": due + latency, "result": result, "latency": latency}),
    )


def series(failed: list[bool], every: float = 1.0) -> list[Operation]:
    return [operation(n, n * every, "failed" if one else "ok") for n, one in enumerate(failed)]


def seconds(found: list[harm.Stretch]) -> float:
    return harm.seconds((one.start, one.end) for one in found)


def lost(failed: list[bool]) -> float:
    return seconds(harm.stretches(series(failed), 1.0, GOOD))


def test_one_that_fails_is_chance_and_two_in_a_row_are_not() -> None:
    assert lost([False, True, False]) == 0
    assert lost([False, True, True, True, False]) == 2


def test_a_success_in_between_does_not_end_a_stretch() -> None:
    (one,) = harm.stretches(series([True, True, True, False, True, True, False, False, False]), 1.0, GOOD)
    assert (one.start, one.end, one.bad, one.total) == (0, 5, 5, 6)


def test_a_kind_that_failed_as_often_before_is_not_worse() -> None:
    before = rates.Samples((0.05,) * 5, 10)
    assert harm.stretches(series([True, True, True, False, True]), 1.0, before) == []


def test_little_known_of_before_needs_a_longer_stretch() -> None:
    before = rates.Samples((0.05,) * 9, 9)
    assert harm.stretches(series([True] * 2, 5.0), 1.0, before) == []
    assert seconds(harm.stretches(series([True] * 3, 5.0), 1.0, before)) == 10


@pytest.mark.parametrize(
    ("latency", "number", "lasted"),
    [(0.9, 40, 0), (3.0, 8, 0), (3.0, 15, 14), (6.5, 8, 7)],
    ids=["in bounds", "a stall", "slow for long", "hangs"],
)
def test_late(latency: float, number: int, lasted: float) -> None:
    some = [operation(n, float(n), latency=latency) for n in range(number)]
    assert seconds(harm.stretches(some, 1.0, GOOD)) == lasted


def test_what_never_ended_failed() -> None:
    some = [Operation(n, "read", float(n), None, None) for n in range(5)]
    assert seconds(harm.stretches(some, 1.0, GOOD)) == 4


def test_back_with_the_first_forty_in_bounds() -> None:
    kind = KindLoad(rate=1)
    failed = [True] * 10 + [False] * 30 + [True, True] + [False] * 50
    assert harm.back(series(failed), kind, GOOD, 0.0) == 80  # the first forty with one failure: 97.5 %
    assert harm.back(series([False] * 50), kind, GOOD, 5.0) == 44
    assert harm.back(series([False] * 39), kind, GOOD, 0.0) is None


def test_union_and_when_it_was_used_up() -> None:
    some = [(10.0, 14.0), (0.0, 3.0), (2.0, 5.0)]
    assert harm.union(some) == [(0.0, 5.0), (10.0, 14.0)]
    assert harm.seconds(some) == 9
    assert harm.used_up(some, 7) == 12
    assert harm.used_up(some, 9) is None


flags = st.lists(st.booleans(), max_size=60)


@given(flags)
def test_a_stretch_begins_and_ends_with_a_failure_and_holds_more_of_them(failed: list[bool]) -> None:
    for one in harm.stretches(series(failed), 1.0, GOOD):
        inside = failed[int(one.start) : int(one.end) + 1]
        assert inside[0]
        assert inside[-1]
        assert (one.bad, one.total) == (sum(inside), len(inside))
        for cut in range(1, len(inside) + 1):
            assert sum(inside[:cut]) * 2 > cut
            assert sum(inside[-cut:]) * 2 > cut


@given(flags.filter(lambda some: len(some) > 0), st.data())
def test_one_failure_more_never_makes_it_less(failed: list[bool], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(failed) - 1))
    more = [*failed[:at], True, *failed[at + 1 :]]
    assert lost(more) >= lost(failed)


@given(flags)
def test_it_costs_no_more_than_the_time_looked_at(failed: list[bool]) -> None:
    assert lost(failed) <= max(0, len(failed) - 1)


def hour(chance: random.Random, fails: float, outages: list[tuple[float, float]] = [], lasts: float = 3600) -> float:  # noqa: B006
    """Seconds of harm in an hour of Frappe's load in which each operation fails with a chance, and all in outages."""
    found: list[harm.Stretch] = []
    for kind, rate in RATES.items():
        made = []
        for number in range(int(lasts * rate)):
            due = (number + chance.random()) / rate
            down = any(start <= due < end for start, end in outages)
            result = "failed" if down or chance.random() < fails else "ok"
            made.append(operation(number, due, result, 0.06 * chance.lognormvariate(0, 0.5), kind))
        before = rates.Samples((0.06,) * max(1, int(44 * rate)), max(1, int(44 * rate)))
        found += harm.stretches(made, 1.0, before)
    return seconds(found)


@pytest.mark.parametrize("seed", range(2))
def test_a_healthy_hour_costs_little(seed: int) -> None:
    assert hour(random.Random(seed), 0.005) < 10


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10**6), st.floats(2, 60))
def test_an_outage_of_everything_costs_about_what_it_lasts(seed: int, lasts: float) -> None:
    cost = hour(random.Random(seed), 0.0, [(30.0, 30.0 + lasts)], 120)
    assert lasts - 2 / 1.5 <= cost <= lasts


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 10**6))
def test_ten_short_ones_cost_what_one_long_one_does(seed: int) -> None:
    assert hour(random.Random(seed), 0.0, [(n * 20.0, n * 20.0 + 4) for n in range(10)], 220) > 30
