"""As many jobs at once as there are places, each told as it ends; an interrupt takes all of them down."""

import io
import os
import signal
import threading
import time
from pathlib import Path

import pytest
from rich.console import Console
from tests.unit.harbor.conftest import Stage

from incident_arena import wait
from incident_arena.errors import UserError
from incident_arena.harbor import queue
from incident_arena.harbor.outcome import Outcome


class Queue:
    """Plays scripts on the fake cluster."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.told: list[tuple[int, Outcome]] = []
        self.shown = io.StringIO()

    def entry(self, name: str, text: str) -> queue.Entry:
        path = self.stage.tmp / f"{name}.sh"
        path.write_text(f"#!/bin/bash\n{text}\n")
        return queue.Entry(name, self.stage.request(scripts=(path,), parallel=2, name=name))

    def play(self, *entries: queue.Entry) -> None:
        self.stage.plan(evidence=self.stage.evidence())
        console = Console(file=self.shown, width=200)
        queue.play(self.stage.settings, entries, 2, console, lambda number, one: self.told.append((number, one)))


@pytest.fixture
def jobs(stage: Stage) -> Queue:
    return Queue(stage)


def test_a_place_that_is_free_is_taken_at_once(jobs: Queue) -> None:
    jobs.play(jobs.entry("long", "sleep 6"), jobs.entry("short", "sleep 1"), jobs.entry("next", "sleep 1"))
    assert [number for number, _ in jobs.told] == [1, 2, 0]
    assert [Path(one.job_dir).name for _, one in jobs.told] == ["short", "next", "long"]
    assert [one.reward for _, one in jobs.told] == [1, 1, 1]
    assert jobs.stage.calls[:2] == ["start", "start"]
    for name in ("long", "short", "next"):
        assert f"{name}  agent " in jobs.shown.getvalue()
        assert (jobs.stage.tmp / "jobs" / name / "result.json").is_file()


def test_an_interrupt_takes_all_down_and_what_had_ended_was_told(jobs: Queue) -> None:
    def interrupt() -> None:
        pods = jobs.stage.settings.home / "pods"
        wait.until("both run", lambda: (len(list(pods.rglob("running"))) == 2 and bool(jobs.told), ""), deadline_s=60)
        os.kill(os.getpid(), signal.SIGTERM)

    endless = "touch /logs/agent/running; sleep 300"
    scripts = {"short": "true", "one": endless, "two": endless, "no": "true"}
    killer = threading.Thread(target=interrupt)
    killer.start()
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        jobs.play(*(jobs.entry(name, text) for name, text in scripts.items()))
    killer.join()
    assert time.monotonic() - started < 90
    assert [number for number, _ in jobs.told] == [0]
    assert not any(jobs.stage.settings.home.glob("pods/*"))
    assert not (jobs.stage.tmp / "jobs" / "no").exists()


def test_what_cannot_be_played_is_said_before_anything_is(jobs: Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENA_MAX_NODES", "1")
    jobs.stage.settings = type(jobs.stage.settings).from_environment()
    with pytest.raises(UserError, match="2 trials at once"):
        jobs.play(jobs.entry("one", "true"))
    assert jobs.stage.calls == []
