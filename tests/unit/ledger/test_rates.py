import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from incident_arena.formats.records import Intent, Outcome
from incident_arena.formats.task import KindLoad
from incident_arena.ledger import rates
from incident_arena.ledger import reading as ledger
from incident_arena.ledger.rates import Samples, tail, worse

KIND = KindLoad(rate=2, success_floor=0.97, p95_floor=1.0)
counts = st.integers(0, 60)


def fast(ok: int, bad: int = 0, seconds: float = 0.1) -> Samples:
    return Samples((seconds,) * ok, ok + bad)


@given(counts, counts, counts, counts)
def test_tail_is_fishers_exact_test(bad: int, good: int, healthy_bad: int, healthy_good: int) -> None:
    expected = stats.fisher_exact([[bad, good], [healthy_bad, healthy_good]], alternative="greater").pvalue
    assert tail(bad, bad + good, healthy_bad, healthy_bad + healthy_good) == pytest.approx(expected, rel=1e-9)


@given(counts, st.integers(1, 60), counts, counts)
def test_more_bad_ones_are_never_more_likely(bad: int, good: int, healthy_bad: int, healthy_good: int) -> None:
    total, healthy = bad + good, healthy_bad + healthy_good
    assert tail(bad + 1, total, healthy_bad, healthy) <= tail(bad, total, healthy_bad, healthy) <= 1


@given(st.lists(st.floats(0, 100), min_size=1))
def test_p95_is_a_value_that_19_of_20_do_not_exceed(latencies: list[float]) -> None:
    samples = Samples(tuple(latencies), len(latencies))
    assert samples.p95 in latencies
    assert sum(one <= samples.p95 for one in latencies) >= math.ceil(0.95 * len(latencies))


def test_nothing_succeeded() -> None:
    assert Samples((), 5).p95 == math.inf
    assert Samples((), 0).share == 0


def test_as_good_as_healthy_is_in_bounds() -> None:
    assert worse(KIND, fast(60), fast(60)) == ""
    assert worse(KIND, fast(59, 1), fast(60)) == ""


def test_the_floor_holds_even_where_the_healthy_window_was_no_better() -> None:
    assert "below the floor of 97%" in worse(KIND, fast(57, 3), fast(57, 3))


def test_worse_than_healthy_is_out_of_bounds_above_the_floor() -> None:
    lenient = KIND.model_copy(update={"success_floor": 0.5})
    assert "worse than the healthy" in worse(lenient, fast(50, 10), fast(60))
    assert worse(lenient, fast(58, 2), fast(60)) == ""


def test_slow_is_out_of_bounds() -> None:
    assert "p95 2.00 s is over 1.00 s" in worse(KIND, fast(60, seconds=2.0), fast(60))


def test_slow_by_the_floor_alone_is_not() -> None:
    assert worse(KIND, fast(60, seconds=0.99), fast(60, seconds=0.01)) == ""


def test_a_slow_machine_has_slow_bounds() -> None:
    assert worse(KIND, fast(60, seconds=2.9), fast(60, seconds=2.0)) == ""
    assert worse(KIND, fast(60, seconds=3.1), fast(60, seconds=2.0)) != ""


def test_a_few_slow_ones_prove_nothing() -> None:
    slow = Samples((0.1,) * 56 + (2.0,) * 4, 60)
    assert slow.p95 > rates.limit(KIND, fast(60))
    assert worse(KIND, slow, fast(60)) == ""
    many = Samples((0.1,) * 50 + (2.0,) * 10, 60)
    assert worse(KIND, many, fast(60)) != ""


def test_samples_agree_with_the_ledgers_window() -> None:
    lines = []
    for id_, due, result in (
        (1, 9.9, "ok"),
        (2, 10.0, "ok"),
        (3, 11, "wrong"),
        (4, 12, "indeterminate"),
        (5, 20, "ok"),
    ):
        lines.append(Intent(id=id_, kind="read", due=due, at=due))
        lines.append(Outcome(id=id_, kind="read", due=due, at=due + 0.3, latency=0.3, result=result))  # type: ignore[arg-type]
    lines.append(Intent(id=6, kind="read", due=19.9, at=19.9))
    lines.append(Outcome(id=7, kind="read", due=19.9, at=19.9, latency=0, result="shed"))
    lines.append(Outcome(id=8, kind="read", due=19.9, at=19.9, latency=0, result="shed", error=ledger.PAUSED))
    mine = rates.samples(ledger.operations(lines).values(), 10, 20)["read"]
    (theirs,) = ledger.window(lines, 10, 20).kinds
    assert (mine.total, mine.ok, mine.p95) == (theirs.samples, theirs.ok, theirs.p95) == (5, 1, 0.3)
