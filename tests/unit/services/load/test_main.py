"""The program as the pod runs it: a process of its own, killed and started again."""

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from incident_arena import proc, wait
from incident_arena.ledger import reading, seeds
from incident_arena.ledger.reading import defects, operations

SERVER = Path(__file__).parents[3] / "support" / "frappe_server.py"
TASK = {
    "name": "frappe/t", "title": "t", "substrate": "frappe", "surface": "confined", "layer": "configuration",
    "onset": "at start", "faults": [], "symptom": {"kinds": {}}, "challenges": [], "permitted": [],
    "load": {"kinds": {kind: {"rate": 8} for kind in ("create", "read", "delete", "update", "mention")}},
}  # fmt: skip
ENVIRONMENT = {"LOAD_TOKEN": "t", "LOAD_API_SECRET": "secret", "LOAD_USERS_PASSWORD": "users"}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Load:
    def __init__(self, folder: Path, target: int) -> None:
        self.ledger = folder / "ledger.jsonl"
        self.port = free_port()
        (folder / "task.json").write_text(json.dumps(TASK))
        self._argv = [
            sys.executable, "-m", "incident_arena.services.load", "--task", folder / "task.json",
            "--target", f"http://127.0.0.1:{target}", "--ledger", self.ledger, "--port", str(self.port),
        ]  # fmt: skip
        self._log = folder / "log"

    def start(self) -> subprocess.Popen[bytes]:
        return proc.spawn(self._argv, log=self._log, env=ENVIRONMENT)

    def status(self) -> dict[str, Any]:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/status", timeout=5) as answer:
            return json.load(answer)

    def await_oks(self, count: int) -> None:
        def oks() -> tuple[bool, str]:
            lines = reading.read(self.ledger) if self.ledger.exists() else []
            found = sum(operation.result == "ok" for operation in operations(lines).values())
            return found >= count, f"{found} of {count}; {self._log.read_text()[-500:]}"

        wait.until("the load succeeds", oks, deadline_s=30)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[int]:
    port = free_port()
    process = proc.spawn([sys.executable, SERVER, "--port", str(port)], log=tmp_path / "server.log")
    yield port
    process.kill()
    process.wait(10)


def test_kill_9_leaves_a_whole_ledger_and_a_second_process_goes_on(tmp_path: Path, server: int):
    load = Load(tmp_path, server)
    first = load.start()
    load.await_oks(40)
    first.send_signal(signal.SIGKILL)
    first.wait(10)
    kept = seeds.load(tmp_path)
    before = reading.read(load.ledger)
    second = load.start()
    try:
        load.await_oks(100)
        assert load.status()["state"] == "running"
    finally:
        second.send_signal(signal.SIGTERM)
    assert second.wait(10) == 0
    lines = reading.read(load.ledger)
    assert lines[: len(before)] == before
    assert defects(lines) == []
    assert all(operation.outcome is not None for operation in operations(lines).values())
    assert seeds.load(tmp_path) == kept


def test_it_waits_for_the_application(tmp_path: Path):
    port = free_port()
    load = Load(tmp_path, port)
    process = load.start()
    try:

        def waiting() -> tuple[bool, str]:
            try:
                status = load.status()
                return status["state"] == "waiting" and "Cannot connect" in status["waiting_for"], "answers"
            except OSError as error:
                return False, str(error)

        wait.until("the load's API answers", waiting, deadline_s=20)
        late = proc.spawn([sys.executable, SERVER, "--port", str(port)], log=tmp_path / "server.log")
        try:
            load.await_oks(5)
        finally:
            late.kill()
            late.wait(10)
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"substrate": "saleor"}, "has no substrate.py"),
        ({"load": {"kinds": {"x": {"rate": 1}}}}, "is unknown"),
        ({}, "LOAD_TOKEN"),
    ],
)
def test_it_says_what_it_cannot_do(tmp_path: Path, change: dict[str, object], said: str):
    (tmp_path / "task.json").write_text(json.dumps(TASK | change))
    ended = proc.run(
        [sys.executable, "-m", "incident_arena.services.load", "--task", tmp_path / "task.json", "--target", "http://x",
         "--ledger", tmp_path / "l", "--port", "1"],
        deadline_s=30, check=False, env=(ENVIRONMENT if change else {}) | {"PATH": os.environ["PATH"]},
    )  # fmt: skip
    assert ended.exit == 2
    assert said in ended.stderr
    assert "Traceback" not in ended.stderr
