"""What the page of agents says to type: a stock program plays against a script, by `arena run` and by stock Harbor."""

import contextlib
import json
import os
import shlex
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.machine import wait_for_room
from tests.support.pages import ROOT, commands
from tests.support.servers import free_port

from incident_arena.analysis.errored import ROUTE_FILE
from incident_arena.catalogue.finding import find
from incident_arena.route import Route
from incident_arena.settings import Settings

pytestmark = [pytest.mark.episode, pytest.mark.timeout(1800)]

TASK = "frappe/deletes-and-jobs-fail"
PAGE = ROOT / "docs" / "agents.md"


def typed(start: str) -> str:
    """The one command of the page that begins so, after its variables."""
    [command] = [one for one in commands(PAGE) if start in one]
    return command


def run(command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """From this checkout's programs, in a folder of the test's own."""
    text = command.replace("./arena", str(ROOT / "arena")).replace(".venv/", f"{ROOT}/.venv/")
    return subprocess.run(
        ["bash", "-c", text], cwd=cwd, env={**os.environ, "HARBOR_TELEMETRY": "0"}, capture_output=True, text=True,
        timeout=850, check=False,
    )  # fmt: skip


@pytest.fixture
def port(tmp_path: Path) -> Iterator[int]:
    """The page's endpoint, with a script that repairs the incident."""
    wait_for_room(Settings.from_environment())
    task = find(Settings()).folder(TASK)
    repair = (task / "solution" / "solve.sh").read_text()
    sourced = '. "$(dirname "$0")/library.sh"'
    assert sourced in repair
    repair = repair.replace(sourced, (task.parents[1] / "library.sh").read_text())
    steps = [f"cat >fix.sh <<'THE END'\n{repair}\nTHE END", "nohup bash fix.sh >fix.log 2>&1 &", *["sleep 25"] * 5]
    script = "".join(f"[[step]]\nbash = {json.dumps(step)}\n\n" for step in steps)
    (tmp_path / "my-script.toml").write_text(script + '[[step]]\ntext = "Repaired."\n')
    number = free_port()
    command = typed("./arena endpoint").replace("./arena", str(ROOT / "arena")).replace("8000", str(number))
    with subprocess.Popen(shlex.split(command), cwd=tmp_path, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        assert server.stdout.readline().strip().endswith(f":{number}")
        try:
            yield number
        finally:
            server.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                server.wait(30)
            server.kill()


def check(trial: Path) -> None:
    verdict = json.loads((trial / "verifier" / "verdict.json").read_text())
    assert verdict["reward"] == 1, verdict["checks"]
    route = Route.model_validate_json((trial / ROUTE_FILE).read_text())
    assert (route.state, route.answered >= 7) == ("held", True)


def test_an_agent_plays_against_a_script(port: int, tmp_path: Path) -> None:
    ended = run(typed("./arena run").replace("8000", str(port)) + " --yes --max-retries 0", tmp_path)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    [trial] = (tmp_path / "jobs").glob("*/deletes-and-jobs-fail__*")
    check(trial)


def test_an_agent_plays_by_stock_harbor(port: int, tmp_path: Path) -> None:
    exported = run(f"./arena task export {TASK} --out exported/deletes", tmp_path)
    assert exported.returncode == 0, exported.stderr
    ended = run(typed(".venv/bin/harbor").replace("8000", str(port)) + " -y", tmp_path)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    [trial] = (tmp_path / "jobs").glob("*/deletes-and-jobs-fail__*")
    check(trial)
