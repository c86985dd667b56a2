import io
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console
from tests.support import evidence as evidences

from incident_arena.formats.records import Action
from incident_arena.formats.verdict import Check
from incident_arena.harbor.explain import advice, explain, words
from incident_arena.judge.checks import specs


def told(tmp_path: Path, solution: Path | None = None, **play: object) -> str:
    """The explanation of a judged trial."""
    trial = tmp_path / "trial"
    (trial / "artifacts").mkdir(parents=True)
    evidences.build(**play).write(trial / "artifacts" / "evidence")  # type: ignore[arg-type]
    judged = [sys.executable, "-m", "incident_arena.judge", trial / "artifacts" / "evidence", trial / "verifier"]
    subprocess.run(judged, check=True, capture_output=True, timeout=60)
    return shown(trial, solution)


def shown(trial: Path, solution: Path | None = None) -> str:
    out = io.StringIO()
    Console(file=out, width=110).print(explain(trial, solution))
    return out.getvalue()


def row(text: str, name: str) -> str:
    """One check's lines, on one line."""
    rest = next(text[at:] for at in (text.find(f"{mark}  {name} ") for mark in "✔✘?") if at >= 0).splitlines()
    mine = [rest[0]]
    for line in rest[1:]:
        if not line.startswith(" " * 15):
            break
        mine.append(line)
    return " ".join(" ".join(mine).split()[1:])


def test_a_pass_says_so_and_keeps_the_solution_to_itself(tmp_path: Path) -> None:
    (tmp_path / "solve.sh").write_text("admin redis acl-save\n")
    text = told(tmp_path, tmp_path / "solve.sh")
    assert "Repaired" in text
    assert "reward 1" in text
    assert text.count("✔") == len(specs()) + 2
    assert "✘" not in text
    assert "A right fix" not in text
    assert "repaired after 00:51" in text


def test_each_check_that_failed_tells_what_was_seen_expected_and_right(tmp_path: Path) -> None:
    text = told(tmp_path, saved=False)
    assert "Not repaired · not durable" in text
    durable = row(text, "durable")
    assert "seen redis-queue.config seen again (blmove=False)" in durable
    assert "expected the repair holds through soak, restarts and churn" in durable
    assert "in the file from which it starts again" in durable
    assert "restart-mariadb, restart-redis-queue, restart-worker-short, churn-mariadb" in durable
    assert row(text, "declared") == "declared declared in time"


@pytest.mark.parametrize("name", [spec.name for spec in specs()])
def test_there_is_advice_for_every_check(name: str) -> None:
    assert advice(Check(name=name, gate="safety", verdict="fail", reason=""), evidences.task())


def test_a_fix_that_never_came_shows_one_that_is_right(tmp_path: Path) -> None:
    (tmp_path / "solve.sh").write_text("#!/bin/bash\n# why\nadmin redis acl-save\n")
    text = told(tmp_path, tmp_path / "solve.sh", fixed=dict.fromkeys(evidences.FAULTS), declared=None)
    assert "Not repaired · never declared" in text
    assert "run declare_repair_complete within 10 minutes" in row(text, "declared")
    assert "blmove live" in row(text, "cause-gone")
    assert text.count("never repaired") == 2
    assert "denied commands: blmove, blpop" in text
    assert "admin redis acl-save" in text
    assert "# why" not in text
    assert "nothing was changed" in text


def test_what_was_done_is_listed_in_order_with_its_time(tmp_path: Path) -> None:
    text = told(tmp_path)
    actions = (tmp_path / "trial" / "artifacts" / "evidence" / "actions.jsonl").read_text().splitlines()
    acts = [Action.model_validate_json(line) for line in actions]
    did = text[text.index("What you did") :]
    places = [did.index(words(one)) for one in acts if one.kind != "read"]
    assert len(places) == 4
    assert places == sorted(places)
    assert "looks" in did


def test_a_verdict_that_is_not_there_explains_nothing(tmp_path: Path) -> None:
    assert explain(tmp_path) is None


@pytest.mark.parametrize("lost", ["task.json", "actions.jsonl"])
def test_what_is_missing_costs_its_part_alone(tmp_path: Path, lost: str) -> None:
    told(tmp_path)
    (tmp_path / "trial" / "artifacts" / "evidence" / lost).unlink()
    assert "Repaired" in shown(tmp_path / "trial")
