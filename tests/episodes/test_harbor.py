"""Whole episodes on a real cluster, through Harbor as a user starts it. Minutes each."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from incident_arena.catalogue.finding import find
from incident_arena.node import allocate
from incident_arena.node.spec import start_time
from incident_arena.settings import Settings

pytestmark = [pytest.mark.episode, pytest.mark.timeout(900)]

TASK = "frappe/deletes-and-jobs-fail"
REPOSITORY = Path(__file__).parents[2]
PROBE = """#!/bin/bash
open() { timeout 3 bash -c "exec 3<>/dev/tcp/$1/$2" 2>/dev/null && echo "reached $1:$2"; }
open mariadb 3306; open redis-queue 6379; open redis-cache 6379; open admin 8080; open edge 8081; open prometheus 9090
echo "== must stay closed"
open edge 8080; open load 8091; open web 8000; open mariadb-exporter 9104; open 192.0.2.1 443
open kubernetes.default.svc 443
for node in $(seq 1 6); do open 10.200.$node.2 6443; open 10.200.$node.2 10250; done
ls /var/run/secrets/kubernetes.io /evidence /task /ledger 2>/dev/null
find / -xdev \\( -name task.json -o -name values.yaml -o -name '*.jsonl' -o -path '*incident_arena*' \\) 2>/dev/null
"""


def program(*argv: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "HARBOR_TELEMETRY": "0"}
    return subprocess.run(
        [f"{sys.prefix}/bin/{argv[0]}", *argv[1:]],
        cwd=cwd, env=environment, capture_output=True, text=True, timeout=850, check=False,
    )  # fmt: skip


def play(tmp_path: Path, *arguments: str) -> dict[str, Any]:
    jobs = ("--jobs", str(tmp_path / "jobs"), "--json", "--max-retries", "0")
    ended = program("arena", "run", TASK, *arguments, *jobs, cwd=REPOSITORY)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    [trial] = json.loads(ended.stdout)
    left = [spec for spec in allocate.existing(Settings.from_environment()) if spec.owner]
    assert not [spec.name for spec in left if spec.owner and start_time(spec.owner.pid) is None]
    return dict(trial)


def test_the_oracle_passes_by_stock_harbor_and_regrading_agrees(tmp_path: Path) -> None:
    exported = program("arena", "task", "export", TASK, "--out", str(tmp_path / "task"), cwd=REPOSITORY)
    assert exported.returncode == 0, exported.stderr
    ended = program(
        "harbor", "run", "-p", str(tmp_path / "task"), "-e", "incident_arena.harbor:ArenaEnvironment", "-a", "oracle",
        "-o", str(tmp_path / "jobs"), "--job-name", "one", "-y", cwd=tmp_path,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stdout + ended.stderr
    [verdict] = (tmp_path / "jobs" / "one").glob("*/verifier/verdict.json")
    first = json.loads(verdict.read_text())
    assert first["reward"] == 1, first["checks"]
    again = program(
        "harbor", "job", "regrade", str(tmp_path / "jobs" / "one"), "-p", str(tmp_path / "task"),
        "-e", "incident_arena.harbor:JudgeEnvironment", "-o", str(tmp_path / "jobs"), "--job-name", "two", cwd=tmp_path,
    )  # fmt: skip
    assert again.returncode == 0, again.stdout + again.stderr
    [regraded] = (tmp_path / "jobs" / "two").glob("*/verifier/verdict.json")
    assert json.loads(regraded.read_text()) == first


def test_doing_nothing_scores_nothing_within_memory(tmp_path: Path) -> None:
    trial = play(tmp_path, "--agent", "nop")
    assert (trial["reward"], trial["failure_class"]) == (0.0, "never declared")
    assert "cause or damage left" in trial["inclusive"]
    assert 0 < trial["peak_memory_mb"] < 4000


def test_a_repair_that_is_not_saved_is_not_durable(tmp_path: Path) -> None:
    script = find(Settings()).folder(TASK) / "wrong" / "unsaved-acl.sh"
    trial = play(tmp_path, "--script", str(script))
    assert (trial["reward"], trial["failure_class"]) == (0.0, "not durable")


def test_the_agent_reaches_its_surface_and_nothing_that_grades_it(tmp_path: Path) -> None:
    (tmp_path / "probe.sh").write_text(PROBE)
    trial = play(tmp_path, "--script", str(tmp_path / "probe.sh"))
    [said] = Path(trial["job_dir"]).glob("*/agent/script.txt")
    surface, closed = said.read_text().split("== must stay closed\n")
    assert surface.splitlines() == [
        f"reached {one}"
        for one in (
            "mariadb:3306",
            "redis-queue:6379",
            "redis-cache:6379",
            "admin:8080",
            "edge:8081",
            "prometheus:9090",
        )
    ]
    assert closed == ""
