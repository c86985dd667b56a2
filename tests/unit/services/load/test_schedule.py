from itertools import islice, takewhile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incident_arena.formats.task import KindLoad, LoadSpec
from incident_arena.services.load.schedule import FIRST, arrivals


def first(count: int, load: LoadSpec):
    return list(islice(arrivals(load), count))


LOAD = LoadSpec(seed=7, kinds={"a": KindLoad(rate=3), "b": KindLoad(rate=0.1), "c": KindLoad(rate=2, burst=5)})


def test_the_same_seed_gives_the_same_schedule_and_another_does_not():
    assert first(500, LOAD) == first(500, LOAD)
    assert first(500, LOAD) != first(500, LOAD.model_copy(update={"seed": 8}))


def test_a_kind_does_not_move_when_another_is_added():
    alone = LoadSpec(seed=7, kinds={"a": LOAD.kinds["a"]})
    assert first(100, alone) == [arrival for arrival in first(1000, LOAD) if arrival.kind == "a"][:100]


def test_arrivals_are_in_order_and_every_kind_comes_soon():
    found = first(500, LOAD)
    assert found == sorted(found)
    for seed in range(10):
        load = LOAD.model_copy(update={"seed": seed})
        soon = takewhile(lambda arrival: arrival.offset < FIRST, arrivals(load))
        assert {arrival.kind for arrival in soon} == {"a", "b", "c"}


def test_bursts_come_at_one_instant_and_keep_the_rate():
    found = [arrival.offset for arrival in takewhile(lambda a: a.offset < 100, arrivals(LOAD)) if arrival.kind == "c"]
    assert len(found) == pytest.approx(200, abs=10)
    assert all(len(set(found[start : start + 5])) == 1 for start in range(0, len(found) - 5, 5))


@given(st.integers(0, 10**6), st.floats(0, 500), st.floats(1.4, 5))
def test_no_window_of_30_s_is_short_of_samples(seed, start, rate):
    load = LoadSpec(seed=seed, kinds={"a": KindLoad(rate=rate)})
    seen = [a for a in takewhile(lambda a: a.offset < start + 30, arrivals(load)) if a.offset >= start]
    assert abs(len(seen) - 30 * rate) <= 2
