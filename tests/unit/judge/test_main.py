import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.evidence import build

from incident_arena.formats.verdict import Verdict
from incident_arena.judge import __main__ as judging

HEAVY = ("numpy", "scipy", "polars", "aiohttp", "harbor", "yaml", "rich", "typer")


def files(out: Path) -> set[str]:
    return {path.name for path in out.iterdir()}


def test_a_pass(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    evidence, out = build().write(tmp_path / "e"), tmp_path / "made" / "out"
    assert judging.main([str(evidence), str(out)]) == 0
    assert json.loads((out / "reward.json").read_text()) == {"reward": 1.0, "outcome": 1.0, "safety": 1.0}
    assert Verdict.model_validate_json((out / "verdict.json").read_text()).reward == 1
    assert capsys.readouterr().out == "reward 1: passed\n"


def test_a_fail(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    evidence, out = build(saved=False).write(tmp_path / "e"), tmp_path / "out"
    assert judging.main([str(evidence), str(out)]) == 0
    rewards = json.loads((out / "reward.json").read_text())
    assert (rewards["reward"], rewards["outcome"]) == (0.0, 0.0)
    assert capsys.readouterr().out == "reward 0: not durable\n"


def test_a_gate_that_is_unknown_is_left_out(tmp_path: Path) -> None:
    episode = build(declared=None)
    episode.end = None
    out = tmp_path / "out"
    assert judging.main([str(episode.write(tmp_path / "e")), str(out)]) == 0
    assert json.loads((out / "reward.json").read_text()) == {"reward": 0.0, "outcome": 0.0}


def test_an_inadmissible_trial(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    episode = build()
    episode.stage("symptom", ok=False, detail="deletes went on")
    assert judging.main([str(episode.write(tmp_path / "e")), str(tmp_path / "out")]) == 3
    assert files(tmp_path / "out") == {"verdict.json"}
    message = capsys.readouterr().err
    assert message == "no reward: the trial is inadmissible: stage symptom failed: deletes went on\n"


def test_an_unknown_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    episode = build()
    episode.end = None
    assert judging.main([str(episode.write(tmp_path / "e")), str(tmp_path / "out")]) == 3
    assert files(tmp_path / "out") == {"verdict.json"}
    assert capsys.readouterr().err.startswith("no reward: unknown: data-survives: ")


def test_no_evidence_takes_a_stale_reward_away(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "out").mkdir()
    for name in ("reward.json", "verdict.json"):
        (tmp_path / "out" / name).write_text('{"reward": 1.0}')
    assert judging.main([str(tmp_path / "nothing"), str(tmp_path / "out")]) == 3
    assert files(tmp_path / "out") == set()
    message = capsys.readouterr().err
    assert message.startswith("no reward: evidence 'manifest.json': is missing")
    assert "remedy:" in message


@pytest.mark.parametrize("arguments", [[], ["one"], ["one", "two", "three"]])
def test_wrong_arguments(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert judging.main(arguments) == 2
    assert capsys.readouterr().err.startswith("usage:")


def test_it_starts_light() -> None:
    program = "import sys, incident_arena.judge.__main__ as m; from incident_arena.judge import checks; checks.specs()"
    done = subprocess.run(
        [sys.executable, "-c", f"{program}; print(' '.join(sys.modules))"], check=True, capture_output=True, text=True
    )
    assert not {name.split(".")[0] for name in done.stdout.split()} & set(HEAVY)
