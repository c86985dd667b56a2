"""`arena endpoint`: prints where it listens and serves until it is told to end."""

import json
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

PROGRAM = "from incident_arena.cli.main import main; main()"
SCRIPT = '[[step]]\ntext = "Hello."\n'


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_it_prints_its_url_and_serves_until_it_is_ended(ending: signal.Signals, tmp_path: Path) -> None:
    script, log = tmp_path / "script.toml", tmp_path / "log.jsonl"
    script.write_text(SCRIPT)
    command = [sys.executable, "-c", PROGRAM, "endpoint", str(script), "--log", str(log)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout
        url = process.stdout.readline().strip()
        assert url.startswith("http://127.0.0.1:")
        with urllib.request.urlopen(f"{url}/v1/models", timeout=10) as answer:
            assert json.load(answer)["data"][0]["id"]
        process.send_signal(ending)
        assert process.wait(60) == 0
    assert json.loads(log.read_text())["path"] == "/v1/models"


def test_a_wrong_script_is_told_and_nothing_is_served(tmp_path: Path) -> None:
    script = tmp_path / "script.toml"
    script.write_text("[[step]]\nbsh = 'ls'\n")
    command = [sys.executable, "-c", PROGRAM, "endpoint", str(script)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "step 1: bsh" in ended.stderr
