"""`python -m incident_arena.judge EVIDENCE OUT`: judge an evidence folder.

Writes OUT/verdict.json always when the evidence can be judged, and OUT/reward.json only when there is a reward:
`{"reward": 1.0, "outcome": 1.0, "safety": 1.0}`; a gate that is unknown is left out. Exit status: 0 with a reward,
whichever it is; 2 for wrong arguments; 3 without a reward, with one message that says why.
"""

import json
import sys
from pathlib import Path

from incident_arena.errors import ArenaError
from incident_arena.formats.verdict import Verdict
from incident_arena.judge.decide import judge
from incident_arena.judge.evidence import load

USAGE = "usage: python -m incident_arena.judge EVIDENCE OUT"


def main(arguments: list[str]) -> int:
    """Judge; returns the exit status."""
    if len(arguments) != 2:  # noqa: PLR2004  # the two of the usage line
        sys.stderr.write(USAGE + "\n")
        return 2
    folder, out = Path(arguments[0]), Path(arguments[1])
    out.mkdir(parents=True, exist_ok=True)
    for stale in ("verdict.json", "reward.json"):
        (out / stale).unlink(missing_ok=True)
    try:
        verdict = judge(load(folder))
    except ArenaError as error:
        sys.stderr.write(f"no reward: {error}\n")
        return error.exit_status
    (out / "verdict.json").write_text(verdict.model_dump_json(indent=1) + "\n")
    if verdict.reward is None:
        sys.stderr.write(f"no reward: {_why(verdict)}\n")
        return 3
    (out / "reward.json").write_text(json.dumps(_reward(verdict)) + "\n")
    sys.stdout.write(f"reward {verdict.reward}: {verdict.failure_class or 'passed'}\n")
    return 0


def _why(verdict: Verdict) -> str:
    if not verdict.admissible:
        return f"the trial is inadmissible: {verdict.inadmissible}"
    blind = [f"{check.name}: {check.reason}" for check in verdict.checks if check.verdict == "unknown"]
    return f"unknown: {'; '.join(blind)}"


def _reward(verdict: Verdict) -> dict[str, float]:
    reward = {"reward": float(verdict.reward or 0)}
    for gate, answer in verdict.gates.items():
        if answer != "unknown":
            reward[gate] = float(answer == "pass")
    return reward


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
