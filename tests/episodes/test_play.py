"""A person's trials of the real incident, in tmux: ended by a declaration, by Ctrl-C, by a window that is closed."""

import json
import os
import re
import shlex
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.machine import session, traces, wait_for_room

from incident_arena.catalogue.finding import find
from incident_arena.harbor.journal import job_key
from incident_arena.node import allocate, cgroups
from incident_arena.node.spec import NodeSpec, start_time
from incident_arena.settings import Settings
from incident_arena.wait import until

pytestmark = [pytest.mark.episode, pytest.mark.timeout(1800)]

TASK = "frappe/deletes-and-jobs-fail"
REPOSITORY = Path(__file__).parents[2]
PROMPT = "on-call ~ $"


class Window:
    """A tmux window in which `arena play` runs."""

    def __init__(self, folder: Path) -> None:
        self._tmux = ["tmux", "-L", f"arena-{os.getpid()}", "-f", os.devnull]
        self.jobs = folder / "jobs"
        play = shlex.join([f"{sys.prefix}/bin/arena", "play", TASK, "--jobs", str(self.jobs)])
        status = shlex.quote(str(folder / "status"))
        self._status = folder / "status"
        self._run("new-session", "-d", "-x", "120", "-y", "50", f"{play}; echo $? >{status}; exec sleep 1000")
        self.leader = int(self._run("display-message", "-p", "#{pane_pid}"))

    def _run(self, *argv: str) -> str:
        # Not every shell goes on after Ctrl-C has ended what it ran.
        shell = {**os.environ, "SHELL": "/bin/bash"}
        done = subprocess.run(
            [*self._tmux, *argv], cwd=REPOSITORY, env=shell, check=True, capture_output=True, text=True
        )
        return done.stdout

    def seen(self) -> str:
        return self._run("capture-pane", "-p", "-J", "-S", "-1000")

    def until(self, text: str, deadline_s: float = 60) -> str:
        seen = ""

        def shown() -> tuple[bool, str]:
            nonlocal seen
            seen = self.seen()
            return text in seen, seen[-3000:]

        until(f"{text!r} is shown", shown, deadline_s=deadline_s, every_s=0.3)
        return seen

    def type(self, text: str) -> None:
        self._run("send-keys", "-l", text)
        self._run("send-keys", "Enter")

    def key(self, name: str) -> None:
        self._run("send-keys", name)

    def resize(self, columns: int, rows: int) -> None:
        self._run("resize-window", "-x", str(columns), "-y", str(rows))

    def close(self) -> None:
        subprocess.run([*self._tmux, "kill-server"], check=False, capture_output=True)

    def status(self, deadline_s: float) -> int:
        """The exit status of `arena play`."""
        until("it has ended", lambda: (bool(self._status.exists() and self._status.read_text()), self.seen()[-3000:]),
              deadline_s=deadline_s, every_s=0.3)  # fmt: skip
        return int(self._status.read_text())


@pytest.fixture
def window(tmp_path: Path) -> Iterator[Window]:
    wait_for_room(Settings.from_environment())
    one = Window(tmp_path)
    yield one
    one.close()


def runner(window: Window) -> int:
    """The process that plays: the one of the window's session that owns a node."""
    nodes = allocate.existing(Settings.from_environment())
    [owner] = [spec.owner.pid for spec in nodes if spec.owner and os.getsid(spec.owner.pid) == window.leader]
    return owner


def node(pid: int) -> NodeSpec:
    [spec] = [
        one for one in allocate.existing(Settings.from_environment()) if one.owner is not None and one.owner.pid == pid
    ]
    return spec


def records(window: Window) -> dict[str, Any]:
    [job] = window.jobs.iterdir()
    [record] = (Settings.from_environment().records / job_key(job)).glob("*/1/attempt.json")
    return dict(json.loads(record.read_text()))


def nothing_left(spec: NodeSpec, processes: set[int], kubectls: set[int]) -> None:
    def gone() -> tuple[bool, str]:
        left = [pid for pid in processes | kubectls if start_time(pid) is not None]
        return not left and not spec.folder.exists(), f"{left} {spec.folder}"

    until("all of the episode is gone", gone, deadline_s=60)
    assert traces(spec.name) == traces("no-such-node")


def ours(spec: NodeSpec) -> set[int]:
    """kubectl's processes that reach a node: the shell's and the one of the way to the metrics."""
    found = set()
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and str(spec.kubeconfig).encode() in (entry / "cmdline").read_bytes():
                found.add(int(entry.name))
        except OSError:
            continue
    return found


def test_a_person_repairs_and_declares(window: Window) -> None:
    window.until(PROMPT, 420)
    page = window.seen()
    assert "they press delete and get an error" in page
    metrics = re.search(r"http://127\.0\.0\.1:\d+", page)
    assert metrics
    with urllib.request.urlopen(f"{metrics[0]}/-/ready", timeout=10) as answer:
        assert answer.status == 200
    window.type("sleep 1000")
    time.sleep(1)
    window.key("C-c")
    window.resize(100, 40)
    window.type("stty size")
    window.until("40 100")
    looked = subprocess.run([f"{sys.prefix}/bin/arena", "watch", "--once"], capture_output=True, text=True, check=True)
    assert looked.stdout.count("planted") == 2
    assert "the agent works" in looked.stdout
    spec = node(runner(window))
    processes, kubectls = cgroups.processes(spec.cgroup), ours(spec)
    assert len(kubectls) >= 2
    window.type("cat >fix.sh <<'THE END'")
    folder = find(Settings()).folder(TASK)
    sourced, library = '. "$(dirname "$0")/library.sh"\n', folder.parents[1] / "library.sh"
    script = (folder / "solution" / "solve.sh").read_text()
    assert sourced in script
    for line in script.replace(sourced, library.read_text()).splitlines():
        window.type(line)
    window.type("THE END")
    window.type("bash fix.sh")
    window.until("Declared. Your part is done", 240)
    assert window.status(400) == 0
    text = window.seen()
    assert "Repaired   reward 1" in text
    assert text.count("✔") == 10
    assert "GRANT DELETE ON site.*" in text
    [trial] = window.jobs.glob("*/deletes-and-jobs-fail__*")
    result = json.loads((trial / "result.json").read_text())
    assert (result["agent_info"]["name"], result["verifier_result"]["rewards"]["reward"]) == ("person", 1)
    assert "stty size\n40 100" in (trial / "agent" / "session.txt").read_text()
    assert records(window)["state"] == "stopped"
    nothing_left(spec, processes, kubectls)
    after = subprocess.run([f"{sys.prefix}/bin/arena", "watch", "--once"], capture_output=True, text=True, check=True)
    assert "over" in after.stdout


@pytest.mark.parametrize(
    "how", ["Ctrl-C at a stage", "Ctrl-C at the question", "closed at a stage", "closed in the shell"]
)
def test_an_interrupted_trial_leaves_nothing_and_keeps_its_record(window: Window, how: str) -> None:
    at_stage = how.endswith("stage")
    window.until("  ready  " if at_stage else PROMPT, 420)
    pid = runner(window)
    spec = node(pid)
    processes, kubectls = cgroups.processes(spec.cgroup), ours(spec)
    assert len(processes) > 30
    assert traces(spec.name)["links"]
    if how == "Ctrl-C at the question":
        window.type("exit")
        window.until("without declaring:")
    if how.startswith("Ctrl-C"):
        window.key("C-c")
        assert window.status(60) == 130
    else:
        window.close()
        until("the runner has ended", lambda: (start_time(pid) is None, str(pid)), deadline_s=60)
        until("the window's session is empty", lambda: (not session(window.leader), "alive"), deadline_s=10)
    nothing_left(spec, processes, kubectls)
    record = records(window)
    assert record["state"] == ("inadmissible" if at_stage else "stopped")
    assert record["ended"] > record["started"]
    assert [stage["name"] for stage in record["stages"]][:3] == ["node", "deploy", "ready"]
    if not at_stage:
        [transcript] = window.jobs.glob("*/*/agent/session.txt")
        assert PROMPT in transcript.read_text()
