import pytest

from incident_arena.formats.records import Stage
from incident_arena.formats.verdict import CLASSES, Answer, Check, FailureClass, Verdict
from incident_arena.judge.checks import specs
from incident_arena.viewer.deciding import CHECKS, deciding, stage_at

NAMES = (
    "declared", "cause-gone", "damage-gone", "durable", "stable", "in-bounds", "scope", "data-survives",
    "no-further-harm", "integrity",
)  # fmt: skip


def verdict(failure: FailureClass | None, answers: dict[str, Answer]) -> Verdict:
    checks = tuple(
        Check(name=name, gate="outcome", verdict=answers.get(name, "pass"), reason=f"why {name}") for name in NAMES
    )
    return Verdict(
        task="a/b", episode="e", product="0", reward=0 if failure else 1, admissible=True, gates={}, checks=checks,
        failure_class=failure, inclusive=(), differences=(), windows=(), tracked=(), naming=None, declared=None,
        agent_started=0, agent_ended=1, reads=0, changes=0, changes_after_fix=None,
    )  # fmt: skip


def test_every_class_has_checks():
    assert set(CHECKS) == set(CLASSES)
    assert {name for names in CHECKS.values() for name in names} == {spec.name for spec in specs()} == set(NAMES)


@pytest.mark.parametrize(
    ("failure", "failing", "expected"),
    [
        ("never declared", ("cause-gone", "declared"), "declared"),
        ("off-list change", ("cause-gone", "data-survives"), "data-survives"),
        ("off-list change", ("scope", "data-survives"), "scope"),
        ("not durable", ("in-bounds", "durable"), "durable"),
        ("other integrity", ("integrity",), "integrity"),
        ("cause or damage left", ("scope",), "scope"),
    ],
)
def test_the_check_of_the_class_decides(failure: FailureClass, failing: tuple[str, ...], expected: str):
    check = deciding(verdict(failure, dict.fromkeys(failing, "fail")))

    assert check
    assert check.name == expected


def test_an_unknown_check_decides_where_none_failed():
    check = deciding(verdict(None, {"durable": "unknown"}))

    assert check
    assert check.name == "durable"


def test_nothing_decides_a_pass():
    assert deciding(verdict(None, {})) is None


def test_the_shortest_stage_holds_the_moment():
    stages = [
        Stage(name="agent", started=0, seconds=100, ok=True),
        Stage(name="soak", started=100, seconds=60, ok=True),
        Stage(name="churn", started=150, seconds=5, ok=True),
    ]

    assert stage_at(stages, 50) == "agent"
    assert stage_at(stages, 152) == "churn"
    assert stage_at(stages, 900) == ""
    assert stage_at(stages, None) == ""
