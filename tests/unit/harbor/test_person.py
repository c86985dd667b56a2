"""A person's trial on the fake cluster, typed at a real pseudo-terminal."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support import evidence as evidences
from tests.support.typist import Typist
from tests.unit.harbor.conftest import EPISODE, NAME, Stage

from incident_arena.wait import until

REPOSITORY = Path(__file__).parents[3]
PROMPT = "on-call"


@pytest.fixture
def person(stage: Stage, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PYTHONPATH", str(REPOSITORY))
    monkeypatch.chdir(stage.catalogue.root)
    started = []

    def start(**plan: object) -> Typist:
        stage.plan(**plan)
        argv = [f"{sys.prefix}/bin/arena", "play", NAME, "--episode", EPISODE, "--jobs", str(stage.tmp / "jobs")]
        started.append(Typist(argv))
        return started[-1]

    yield start
    for each in started:
        if not each.program.ended:
            os.killpg(each.program._process.pid, signal.SIGKILL)
            each.program._process.wait()


def trial(stage: Stage) -> Path:
    [found] = (stage.tmp / "jobs").glob("*/*/agent")
    return found.parent


def gone(stage: Stage) -> None:
    until("the cluster is down", lambda: (stage.calls[-1] == "stop", str(stage.calls)), deadline_s=30)
    assert not any(stage.settings.home.glob("pods/*"))


def test_a_declaration_ends_the_shell_and_the_verdict_is_explained(stage: Stage, person) -> None:
    one = person(evidence=stage.evidence())
    one.until("You are on call")
    one.until("Mend it in 10 minutes.")
    one.until("http://127.0.0.1:9")
    one.until(PROMPT)
    one.type("echo $((40 + 2)) > /logs/agent/solved.txt; stty size\r")
    one.until("40 110")
    one.type("declare_repair_complete --causes mariadb.grants\r")
    one.until("declared --causes mariadb.grants")
    one.until("Declared.")
    one.until("Repaired")
    one.until("What was broken")
    one.until("session.txt")
    assert one.ended() == 0
    assert stage.calls == ["start", "freeze", "collect", "stop"]
    result = json.loads((trial(stage) / "result.json").read_text())
    assert (result["agent_info"]["name"], result["verifier_result"]["rewards"]["reward"]) == ("person", 1)
    assert (trial(stage) / "agent" / "solved.txt").read_text() == "42\n"
    text = (trial(stage) / "agent" / "session.txt").read_text()
    assert "stty size\n40 110\n" in text
    assert "\x1b" not in text
    header, *events = map(json.loads, (trial(stage) / "agent" / "session.cast").read_text().splitlines())
    assert (header["version"], header["width"], header["height"]) == (2, 110, 40)
    assert "".join(text for _, kind, text in events if kind == "i").startswith("echo $((40")


def test_a_shell_that_is_left_asks_and_goes_on_or_declares(stage: Stage, person) -> None:
    one = person(evidence=stage.evidence())
    one.until(PROMPT)
    one.type("exit\r")
    one.until("not declared repaired")
    one.until("declaring: ")
    one.type("g\r")
    one.until(PROMPT)
    one.type("echo again; \x04")
    one.type("\x15exit\r")
    one.until("declaring: ")
    one.type("d\r")
    one.until("or nothing:")
    one.type("mariadb.grants, redis-queue.config\r")
    one.until("Declared.")
    one.until("Repaired")
    assert one.ended() == 0
    assert (
        "declare_repair_complete --causes mariadb.grants redis-queue.config"
        in (trial(stage) / "agent" / "session.txt").read_text()
    )


def test_giving_up_gets_a_verdict_with_what_would_have_been_right(stage: Stage, person) -> None:
    one = person(evidence=stage.evidence(fixed=dict.fromkeys(evidences.FAULTS), declared=None))
    one.until(PROMPT)
    one.type("exit\r")
    one.until("declaring: ")
    one.type("q\r")
    one.until("Given up.")
    one.until("Not repaired")
    one.until("run declare_repair_complete within")
    one.until("never repaired")
    one.until("A right fix")
    assert one.ended() == 0


@pytest.mark.parametrize("moment", ["start", "shell", "question"])
@pytest.mark.parametrize("how", ["hang up", "terminate"])
def test_a_lost_terminal_takes_everything_down(stage: Stage, person, moment: str, how: str) -> None:
    one = person(evidence=stage.evidence(), **({"hang": True} if moment == "start" else {}))
    if moment == "start":
        until("it starts", lambda: ("start" in stage.calls, ""), deadline_s=30)
        one.until("starts")
    else:
        one.until(PROMPT)
    if moment == "question":
        one.type("exit\r")
        one.until("declaring: ")
    if how == "hang up":
        os.close(one.program.master)
    else:
        os.kill(one.program._process.pid, signal.SIGTERM)
    assert one.program._process.wait(60) == 130
    assert stage.calls == ["start", "stop"]
    gone(stage)
    [record] = stage.settings.records.rglob("attempt.json")
    attempt = json.loads(record.read_text())
    assert attempt["state"] == ("inadmissible" if moment == "start" else "stopped")
    assert attempt["ended"]
    if moment != "start":
        assert PROMPT in (trial(stage) / "agent" / "session.txt").read_text()


def test_ctrl_c_reaches_the_runner_only_outside_of_the_shell(stage: Stage, person) -> None:
    one = person(evidence=stage.evidence())
    one.until(PROMPT)
    one.type("exit\r")
    one.until("declaring: ")
    one.type("\x03")
    assert one.ended() == 130
    gone(stage)


def test_without_a_terminal_it_is_refused_before_anything_starts(stage: Stage) -> None:
    stage.plan()
    # A session of its own has no terminal.
    ended = subprocess.run(
        ["setsid", "--wait", f"{sys.prefix}/bin/arena", "play", NAME, "--episode", EPISODE],
        cwd=stage.catalogue.root, env={**os.environ, "PYTHONPATH": str(REPOSITORY)}, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert ended.returncode == 2
    assert "terminal" in ended.stderr
    assert stage.calls == []
