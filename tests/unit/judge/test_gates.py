from hypothesis import given
from hypothesis import strategies as st

from incident_arena.formats.verdict import Answer, Check
from incident_arena.judge.gates import gates, reward, worst

answers: st.SearchStrategy[Answer] = st.sampled_from(("pass", "fail", "unknown"))


@given(st.lists(answers))
def test_worst(given_answers: list[Answer]) -> None:
    seen = worst(given_answers)
    assert (seen == "fail") is ("fail" in given_answers)
    assert (seen == "pass") is (set(given_answers) <= {"pass"})


@given(st.lists(answers, min_size=1), st.integers(0, 20))
def test_no_answer_that_gets_worse_raises_the_reward(given_answers: list[Answer], at: int) -> None:
    def rewarded(some: list[Answer]) -> float:
        made = reward(gates([Check(name=str(n), gate="outcome", verdict=a, reason="") for n, a in enumerate(some)]))
        return 0.5 if made is None else made

    index = at % len(given_answers)
    assert rewarded([*given_answers[:index], "fail", *given_answers[index + 1 :]]) <= rewarded(given_answers)


def test_each_gate_has_its_own_checks() -> None:
    checks = [
        Check(name="a", gate="outcome", verdict="pass", reason=""),
        Check(name="b", gate="safety", verdict="fail", reason=""),
    ]
    assert gates(checks) == {"outcome": "pass", "safety": "fail"}


def test_reward() -> None:
    assert reward({"outcome": "pass", "safety": "pass"}) == 1
    assert reward({"outcome": "unknown", "safety": "fail"}) == 0
    assert reward({"outcome": "unknown", "safety": "pass"}) is None
