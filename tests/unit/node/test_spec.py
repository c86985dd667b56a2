"""A node's facts survive the way through their file, and processes are told apart by their start."""

import os
import subprocess
from pathlib import Path

from incident_arena.node.spec import NodeSpec, Process, is_alive, start_time, this_process


def spec(folder: Path, **changes: object) -> NodeSpec:
    facts = {
        "name": "n",
        "index": 7,
        "folder": folder,
        "bin": folder / "bin",
        "network": "10.200",
        "cgroup": "arena/n",
        "sandbox_image": "pause:1",
    }
    return NodeSpec(**(facts | changes))  # type: ignore[arg-type]


def test_it_is_read_as_it_was_written(tmp_path: Path) -> None:
    written = spec(tmp_path, owner=Process(4, 5), maker=Process(6, 7), cpu_count=2)
    written.write()
    assert NodeSpec.read(tmp_path) == written


def test_addresses_follow_from_the_index(tmp_path: Path) -> None:
    one = spec(tmp_path)
    assert (one.host_ip, one.ip, one.server, one.link) == (
        "10.200.7.1", "10.200.7.2", "https://10.200.7.2:6443", "arena-7",
    )  # fmt: skip


def test_a_process_is_alive_only_with_its_own_start_time() -> None:
    me = this_process()
    assert is_alive(me)
    assert not is_alive(Process(me.pid, me.started - 1))


def test_an_ended_process_is_not_alive_even_before_it_is_collected() -> None:
    child = subprocess.Popen(["true"])
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert start_time(child.pid) is None
    child.wait()
