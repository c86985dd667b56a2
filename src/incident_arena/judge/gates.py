"""Two gates over the checks, and the reward over the gates."""

from collections.abc import Sequence
from typing import Literal

from incident_arena.formats.verdict import Answer, Check, Gate
from incident_arena.judge.checks import GATES


def worst(answers: Sequence[Answer]) -> Answer:
    """A certain fail decides, whatever else is unknown; then unknown; pass only when all passed."""
    order: tuple[Answer, ...] = ("fail", "unknown")
    return next((answer for answer in order if answer in answers), "pass")


def gates(checks: Sequence[Check]) -> dict[Gate, Answer]:
    """Each gate's answer: the worst of its checks."""
    return {gate: worst([check.verdict for check in checks if check.gate == gate]) for gate in GATES}


def reward(answers: dict[Gate, Answer]) -> Literal[0, 1] | None:
    """1 when both gates pass, 0 when one fails for certain, None when that is unknown."""
    rewards: dict[Answer, Literal[0, 1] | None] = {"pass": 1, "fail": 0, "unknown": None}
    return rewards[worst(list(answers.values()))]
