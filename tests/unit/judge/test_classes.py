from hypothesis import given
from hypothesis import strategies as st

from incident_arena.formats.verdict import CLASSES
from incident_arena.judge.classes import exclusive, inclusive
from incident_arena.judge.finding import Finding

findings = st.lists(
    st.builds(
        Finding,
        verdict=st.sampled_from(("pass", "fail", "unknown")),
        reason=st.just("given"),
        classes=st.lists(st.sampled_from(CLASSES), max_size=2).map(tuple),
    )
)


@given(findings)
def test_the_exclusive_class_is_the_first_of_the_inclusive(some: list[Finding]) -> None:
    every = inclusive(some)
    assert list(every) == sorted(set(every), key=CLASSES.index)
    if every:
        assert exclusive(some) == every[0]
    assert (exclusive(some) is None) is all(finding.verdict != "fail" for finding in some)


@given(findings, findings)
def test_more_findings_take_no_class_away_but_the_last(some: list[Finding], more: list[Finding]) -> None:
    assert set(inclusive(some)) - {CLASSES[-1]} <= set(inclusive(some + more))


@given(findings)
def test_the_last_class_applies_only_where_no_other_does(some: list[Finding]) -> None:
    every = inclusive(some)
    assert CLASSES[-1] not in every or every == CLASSES[-1:]


def test_only_a_fail_shows_a_class() -> None:
    some = [Finding("pass", "", classes=("not durable",)), Finding("unknown", "", classes=("never declared",))]
    assert (inclusive(some), exclusive(some)) == ((), None)


def test_a_fail_without_a_class_is_counted_all_the_same() -> None:
    assert exclusive([Finding("fail", "")]) == "other integrity"
