"""Trials in memory, for tests of tables and estimates."""

from itertools import count
from pathlib import Path

from incident_arena.analysis.trial import Trial

_numbers = count()


def trial(task: str = "frappe/one", who: str = "model-a", reward: int | None = 1, **fields: object) -> Trial:
    """One judged trial; any field of Trial can be given."""
    name = f"trial-{next(_numbers)}"
    base: dict[str, object] = {
        "id": name, "name": name, "job": "job", "folder": Path("jobs/job") / name, "status": "judged", "task": task,
        "substrate": task.partition("/")[0], "agent": "codex", "agent_version": "1", "model": who, "who": who,
        "reward": reward, "outcome": "pass" if reward else "fail", "safety": "pass", "faults": 2, "repaired": 2,
        "judge_version": "0.1.0",
    }  # fmt: skip
    return Trial(**{**base, **fields})  # type: ignore[arg-type]


def trials(task: str, who: str, passed: int, total: int, **fields: object) -> list[Trial]:
    """`total` trials of which the first `passed` pass."""
    return [trial(task, who, int(number < passed), **fields) for number in range(total)]
