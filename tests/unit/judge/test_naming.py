from collections.abc import Callable

import pytest
from tests.support.evidence import FAULTS, Episode, build

from incident_arena.formats.records import NamedCause
from incident_arena.judge.naming import naming
from incident_arena.judge.trial import Trial

type Make = Callable[[Episode], Trial]

OTHER = "redis-cache.config"


def causes(*names: str) -> tuple[NamedCause, ...]:
    return tuple(NamedCause(component=name.split(".")[0], aspect=name.split(".")[1]) for name in names)


@pytest.mark.parametrize(
    ("named", "precision", "recall", "exact"),
    [
        (causes(*FAULTS), 1, 1, True),
        (causes(*reversed(FAULTS)), 1, 1, True),
        (causes(FAULTS[0]), 1, 0.5, False),
        (causes(FAULTS[0], FAULTS[0]), 1, 0.5, False),
        (causes(*FAULTS, OTHER), pytest.approx(2 / 3), 1, False),
        (causes(OTHER), 0, 0, False),
        ((), 0, 0, False),
    ],
)
def test_against_the_planted(
    trial: Make, *, named: tuple[NamedCause, ...], precision: float, recall: float, exact: bool
) -> None:
    made = naming(trial(build(causes=named)))
    assert made is not None
    assert (made.precision, made.recall, made.exact) == (precision, recall, exact)


def test_it_names_nothing(trial: Make) -> None:
    assert naming(trial(build())) is None
    assert naming(trial(build(declared=None))) is None


@pytest.mark.parametrize(("named", "right"), [((), True), (causes(OTHER), False)])
def test_no_fault(trial: Make, *, named: tuple[NamedCause, ...], right: bool) -> None:
    episode = build(causes=named)
    episode.spec(faults=[])
    made = naming(trial(episode))
    assert made is not None
    assert (made.precision, made.recall, made.exact) == (right, right, right)


def test_naming_is_never_in_the_reward(verdict: Callable[[Episode], object]) -> None:
    assert verdict(build(causes=causes(OTHER))).reward == 1  # type: ignore[attr-defined]
