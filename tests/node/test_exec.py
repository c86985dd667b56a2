"""Exec in a real pod, from a host behind a proxy: status and output are the command's, and its end is everyone's."""

import asyncio
import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from incident_arena.cli.node import node_images
from incident_arena.kube import Kube
from incident_arena.node import cgroups, down
from incident_arena.node.spec import NodeSpec
from incident_arena.node.up import Up
from incident_arena.proc import DIRECT, CommandError, OverrunError
from incident_arena.settings import Settings
from incident_arena.wait import until_async

pytestmark = [pytest.mark.node, pytest.mark.timeout(180)]

NOWHERE = "http://127.0.0.1:1"
POD = """
apiVersion: v1
kind: Pod
metadata: {{name: one}}
spec:
  enableServiceLinks: false
  terminationGracePeriodSeconds: 0
  securityContext: {{runAsUser: 1000, runAsGroup: 1000}}
  containers:
  - {{name: main, image: "{image}", imagePullPolicy: Never, command: [sleep, infinity]}}
"""
TREE = """
sleep 301 &
setsid sleep 302 &
nohup env -i setsid sh -c 'sleep 303; true' > /dev/null 2>&1 &
env -i setsid sh -c 'sleep 304 > /dev/null 2>&1 &'
printf printed; printf before >&2
(trap '' TERM HUP; while true; do sleep 305; done)
"""


@pytest.fixture(scope="module")
def node() -> Iterator[NodeSpec]:
    """A node that was started behind a proxy, as are all of this module's clients."""
    settings = Settings.from_environment()
    with pytest.MonkeyPatch.context() as patch:
        for name in DIRECT:
            patch.setenv(name, NOWHERE)
        spec = Up(settings, f"exec-{os.getpid()}", node_images(settings), lambda _: None).start()
        try:
            yield spec
        finally:
            down.stop(settings, spec)


@pytest.fixture(scope="module")
def ready(node: NodeSpec) -> NodeSpec:
    image = next(reference for reference in node_images(Settings.from_environment()).archives if "/redis:" in reference)
    kube = Kube(node.kubeconfig, node.bin, "default")
    asyncio.run(kube.apply(POD.format(image=image)))
    asyncio.run(kube.wait_ready(deadline_s=60))
    return node


@pytest.fixture
def kube(ready: NodeSpec) -> Kube:
    return Kube(ready.kubeconfig, ready.bin, "default")


async def sleeping(kube: Kube) -> list[str]:
    """The seconds of each `sleep` of the tree that runs in the pod."""
    script = "for p in /proc/[0-9]*; do [ \"$(cat $p/comm)\" = sleep ] && tr '\\0' ' ' < $p/cmdline; done 2>/dev/null"
    words = (await kube.exec("one", ["sh", "-c", script], deadline_s=20)).stdout.split()
    return sorted(set(words) - {"sleep", "infinity"})


def children() -> list[int]:
    """Of this process."""
    return [int(pid) for pid in Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()]


def test_no_process_of_the_node_is_told_of_the_hosts_proxy(ready: NodeSpec) -> None:
    told = {}
    for pid in cgroups.processes(ready.cgroup):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # ended meanwhile
            name = Path(f"/proc/{pid}/comm").read_text().strip()
            # Python is process 1, which starts the components and speaks to nobody.
            if not name.startswith(("unshare", "python")):
                told[name] = NOWHERE.encode() in Path(f"/proc/{pid}/environ").read_bytes()
    assert {"kubelet", "containerd", "kube-apiserver"} <= set(told)
    assert not any(told.values()), told


@pytest.mark.parametrize(
    ("script", "ended"),
    [
        ("printf 'no end' >&2; exit 3", (3, "", "no end")),
        ("printf out; printf err >&2; exit 255", (255, "out", "err")),
        ("printf '10%%\\r20%%\\r'; printf '\\0\\001' >&2", (0, "10%\r20%\r", "\0\1")),
        ("echo 'command terminated with exit code 9' >&2; exit 4", (4, "", "command terminated with exit code 9\n")),
        ("kill -9 $$", (137, "", "")),
        ("kill -9 $PPID; exit 6", (137, "", "")),
        ("echo a; trap 'exit 7' TERM; kill -TERM 0", (7, "a\n", "")),
        ("exec absent", (127, "", "bash: line 1: exec: absent: not found\n")),
    ],
)
async def test_the_exit_status_is_right_whatever_is_printed(
    kube: Kube, script: str, ended: tuple[int, str, str]
) -> None:
    done = await kube.exec("one", ["bash", "-c", script], deadline_s=20)
    assert (done.exit, done.stdout, done.stderr) == ended


async def test_input_folder_and_environment(kube: Kube) -> None:
    done = await kube.exec(
        "one", ["bash", "-c", 'pwd; echo "$A"; wc -c'], deadline_s=20, env={"A": "it's\n$B"}, cwd="/etc",
        stdin=b"x" * (5 << 20),
    )  # fmt: skip
    assert done.stdout == f"/etc\nit's\n$B\n{5 << 20}\n"


async def test_much_output_is_cut_with_a_word_and_the_status_is_right(kube: Kube) -> None:
    script = "head -c 20M /dev/zero | tr '\\0' o; head -c 30M /dev/zero | tr '\\0' e >&2; exit 3"
    done = await kube.exec("one", ["bash", "-c", script], deadline_s=60)
    assert done.exit == 3
    assert done.stdout == "o" * (16 << 20) + f"\n[{4 << 20} more bytes were dropped]\n"
    assert done.stderr == "e" * (16 << 20) + f"\n[{14 << 20} more bytes were dropped]\n"


async def test_a_late_command_gives_back_what_it_printed_and_ends_with_all_its_children(kube: Kube) -> None:
    with pytest.raises(OverrunError, match="deadline of 3 s") as caught:
        await kube.exec("one", ["bash", "-c", TREE], deadline_s=3)
    assert (caught.value.completed.stdout, caught.value.completed.stderr) == ("printed", "before")
    assert await sleeping(kube) == []


async def test_a_cancelled_command_ends_with_all_its_children(kube: Kube) -> None:
    task = asyncio.create_task(kube.exec("one", ["bash", "-c", TREE], deadline_s=None))

    async def probe() -> tuple[bool, str]:
        seen = await sleeping(kube)
        return len(seen) == 5, str(seen)

    await until_async("the whole tree running", probe, deadline_s=20)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await sleeping(kube) == []


async def test_a_background_child_is_neither_waited_for_nor_killed(kube: Kube) -> None:
    done = await kube.exec("one", ["bash", "-c", "sleep 305 & echo up; exit 3"], deadline_s=60)
    assert (done.exit, done.stdout) == (3, "up\n")
    assert done.seconds < 20
    assert await sleeping(kube) == ["305"]
    await kube.exec("one", ["bash", "-c", "kill -9 $(grep -lsa '^sleep.305' /proc/*/cmdline | cut -d/ -f3)"],
                    deadline_s=20)  # fmt: skip


async def test_a_pod_that_is_not_there_is_no_exit_status(kube: Kube) -> None:
    with pytest.raises(CommandError, match="not found"):
        await kube.exec("nowhere", ["true"], deadline_s=20)


async def test_a_client_that_is_killed_is_no_success(kube: Kube) -> None:
    task = asyncio.create_task(kube.exec("one", ["bash", "-c", "echo $$; exec sleep 304"], deadline_s=None))

    async def running() -> tuple[bool, str]:
        return await sleeping(kube) == ["304"], "not yet"

    await until_async("the command running", running, deadline_s=20)
    clients = [pid for pid in children() if Path(f"/proc/{pid}/comm").read_text() == "kubectl\n"]  # noqa: ASYNC240
    assert len(clients) == 1
    os.kill(clients[0], signal.SIGKILL)
    with pytest.raises(CommandError, match="not be run to its end"):
        await task
