"""An agent that uses up all that its pod may have, disk and processes: nobody else notices, and its pod goes.

In this order: after the last test there is no agent any more.
"""

import asyncio
import contextlib
import re
import shlex
import time

import pytest

from incident_arena.errors import ArenaError
from incident_arena.kube.transfer import BOUNDED
from incident_arena.node.config import POD_PROCESSES
from incident_arena.proc import run

pytestmark = [pytest.mark.episode, pytest.mark.timeout(1500)]

SCRATCH_MB = 512
SPILL_MB = 128 + 256
MANY = "information_schema.COLUMNS AS a, information_schema.COLUMNS AS b"
WRITABLE = (
    "find / \\( -path /proc -o -path /sys -o -path '/dev/pts' \\) -prune -o \\( -type f -o -type d \\) -writable -print"
    ' 2>/dev/null | while read -r path; do echo "$(stat -f -c %T "$path") $path"; done'
)
FILL = (
    "cd {folder}; for i in $(seq 40); do head -c 64M /dev/zero > fill.$i || break; done;"
    " du -cm fill.* | tail -1; rm fill.*"
)


def test_all_that_it_can_write_to_is_in_memory_and_so_of_a_size(deployed) -> None:
    found = deployed.agent(WRITABLE).stdout.splitlines()
    assert any(line.endswith(" /tmp") for line in found)
    assert [line for line in found if line.split()[0] not in {"tmpfs", "mqueue"}] == []


@pytest.mark.parametrize("folder", ["/tmp", "/logs/agent", "/home/agent", "/installed-agent", "/var/tmp", "/dev/shm"])
def test_no_folder_takes_more_than_all_of_them_may(deployed, folder: str) -> None:
    ended = deployed.agent(FILL.format(folder=folder), deadline_s=120)
    assert "No space left on device" in ended.stderr
    assert int(ended.stdout.split()[0]) <= SCRATCH_MB


@pytest.mark.parametrize(
    "statement",
    [
        f"SELECT COUNT(*) FROM (SELECT DISTINCT UUID(), RPAD('', 500, UUID()) FROM {MANY}) AS all_of_it",
        f"SELECT RPAD('', 500, 'x') AS wide, RAND() AS other FROM {MANY} ORDER BY other LIMIT 1",
        f"CREATE TEMPORARY TABLE site.heap ENGINE=InnoDB AS SELECT RPAD('', 500, 'x') AS wide FROM {MANY}",
    ],
)
def test_no_query_of_its_spills_more_than_it_may(deployed, statement: str) -> None:
    """Each would write a gigabyte."""
    ended = deployed.agent(f"mariadb -e {shlex.quote(statement)}", deadline_s=300)
    assert ended.exit != 0
    # Aria calls a file that it could not write to its end corrupted.
    assert re.search(r"No space left|is full|corrupted.{1,8}/spill/", ended.stderr), ended.stderr
    assert spilled(deployed) <= SPILL_MB
    assert deployed.in_pod("mariadb", "mariadb", "-e", "SELECT 1").exit == 0


def spilled(deployed) -> int:
    """Megabytes of temporary files and tables."""
    told = deployed.in_pod("mariadb", "sh", "-c", "du -cm /spill /data/ibtmp1 | tail -1").stdout
    return int(told.split()[0])


def test_what_the_image_has_in_its_folders_is_there(deployed) -> None:
    found = deployed.agent("ls -ld /home/agent/.profile /logs/agent /logs/artifacts /solution /tests /installed-agent")
    assert (found.exit, found.stderr) == (0, "")
    assert deployed.agent("stat -c %a /tmp /var/tmp").stdout.split() == ["1777", "1777"]


def test_its_own_log_and_its_last_words_do_not_fill_the_machine(deployed) -> None:
    ended = deployed.agent("head -c 3G /dev/zero > /dev/termination-log", deadline_s=120)
    assert ended.exit != 0
    assert deployed.in_pod("referee", "python", "-c", "print(1)").stdout == "1\n"
    deployed.agent("> /dev/termination-log")


def test_a_bomb_of_processes_ends_at_its_pods_limit_and_with_it(deployed, tmp_path) -> None:
    script = "nohup bash -c 'for i in $(seq 5000); do sleep 3000 & done; wait' > /tmp/bomb 2>&1 & sleep 20"
    deployed.agent(script, deadline_s=60)
    # Others start processes as before, and are not slowed down.
    began = time.monotonic()
    assert deployed.in_pod("referee", "python", "-c", "print(1)").stdout == "1\n"
    assert (
        deployed.in_pod("mariadb", "sh", "-c", "for i in $(seq 50); do sleep 0 & done; wait; echo $?").stdout == "0\n"
    )
    assert time.monotonic() - began < 60
    # Inside there is no room for one more: its logs can't be had, and that is told within their time.
    began = time.monotonic()
    with contextlib.suppress(ArenaError):
        asyncio.run(deployed.kube.download("agent", "/logs/agent", tmp_path / "logs", bounds=BOUNDED))
    assert time.monotonic() - began < BOUNDED.seconds + 60
    assert processes() <= POD_PROCESSES + 10
    asyncio.run(deployed.kube.delete_pod("agent"))
    assert not [pod for pod in deployed.get("pods")["items"] if pod["metadata"]["name"] == "agent"]


def processes() -> int:
    """How many processes of the bomb there are on this machine."""
    return len(run(["pgrep", "-xf", "sleep 3000"], deadline_s=30, check=False).stdout.split())
