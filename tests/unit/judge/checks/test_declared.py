from collections.abc import Callable

import pytest
from tests.support.evidence import AGENT, START, Episode, build

from incident_arena.judge.finding import Finding

type Decide = Callable[[Episode, str], Finding]


def test_in_time(decide: Decide) -> None:
    found = decide(build(), "declared")
    assert (found.verdict, found.seen, found.at) == ("pass", "declared after 114 s", START + 190)


def test_never(decide: Decide) -> None:
    found = decide(build(declared=None), "declared")
    assert (found.verdict, found.classes) == ("fail", ("never declared",))


@pytest.mark.parametrize(("after", "verdict"), [(600.0, "pass"), (600.5, "fail")])
def test_the_deadline_itself_is_in_time(decide: Decide, after: float, verdict: str) -> None:
    assert decide(build(declared=AGENT + after), "declared").verdict == verdict
