"""A runner that is killed in the middle of an episode leaves nothing, and harms no other node."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.machine import session, traces

from incident_arena import proc
from incident_arena.cli.node import node_images
from incident_arena.node import allocate, cgroups, down
from incident_arena.node.spec import NodeSpec, start_time
from incident_arena.node.up import Up
from incident_arena.settings import Settings
from incident_arena.wait import until

pytestmark = [pytest.mark.episode, pytest.mark.timeout(300)]

TASK = "frappe/deletes-and-jobs-fail"
REPOSITORY = Path(__file__).parents[2]


@pytest.fixture
def beside() -> Iterator[NodeSpec]:
    """Another node, with nothing to do with the episode."""
    settings = Settings.from_environment()
    spec = Up(settings, f"other-{os.getpid()}", node_images(settings), lambda _: None).start()
    yield spec
    down.stop(settings, spec)


def test_kill_9_in_the_middle_of_an_episode(tmp_path: Path, beside: NodeSpec) -> None:
    settings = Settings.from_environment()
    argv = [f"{sys.prefix}/bin/arena", "run", TASK, "--agent", "nop", "--jobs", str(tmp_path / "jobs")]
    with (tmp_path / "log").open("wb") as log:
        runner = subprocess.Popen(argv, cwd=REPOSITORY, stdout=log, stderr=log, start_new_session=True)
    try:

        def ready() -> tuple[bool, str]:
            text = (tmp_path / "log").read_text()
            return "  ready  " in text or runner.poll() is not None, text

        until("the episode's pods are ready", ready, deadline_s=180, every_s=0.2)
        assert runner.poll() is None, (tmp_path / "log").read_text()
        [episode] = [spec for spec in allocate.existing(settings) if spec.owner and spec.owner.pid == runner.pid]
        processes = cgroups.processes(episode.cgroup)
        assert len(processes) > 30
        assert traces(episode.name)["links"]
    finally:
        runner.kill()
        runner.wait()
    cleaned = proc.run([f"{sys.prefix}/bin/arena", "clean"], deadline_s=60)
    assert cleaned.exit == 0

    def gone() -> tuple[bool, str]:
        left = [pid for pid in processes if start_time(pid) is not None]
        return not left and not session(runner.pid), f"{left} {session(runner.pid)}"

    until("all processes of the episode are gone", gone, deadline_s=10)
    assert traces(episode.name) == traces("no-such-node")
    assert not episode.folder.exists()
    assert down.is_running(beside)
    nodes = proc.run(
        [beside.bin / "kubectl", f"--kubeconfig={beside.kubeconfig}", "get", "nodes", "-o", "name"], deadline_s=30
    )
    assert nodes.stdout == f"node/{beside.name}\n"
