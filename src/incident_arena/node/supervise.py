"""The process outside a node that lives as long as the node: it starts it, watches its owner, and tidies up.

It is detached from whoever asked for the node. When the owner is gone (`kill -9` included), when it is told to stop
(SIGTERM), or when the node dies, it kills the node's process 1, with which the kernel ends every process, mount, and
network namespace of the node, and removes the link and control groups. If it is killed itself, the node dies with it
(parent-death signal), and the next command or `arena clean` removes the rest. Standard library only.

Writes into the node's folder: `supervisor.json` (its pid and start), `memory.json` (peak and latest bytes) and
`ended.json`.
"""

import json
import signal
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path
from types import FrameType

from incident_arena.node import cgroups
from incident_arena.node.init import FIXED_FOLDERS
from incident_arena.node.spec import NodeSpec, is_alive, this_process

POLL_S = 0.5


def main(folder: Path) -> int:
    """Run the node in `folder` to its end."""
    spec = NodeSpec.read(folder)
    stopping: list[str] = []

    def stop(_number: int, _frame: FrameType | None) -> None:
        stopping.append("told to stop")

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    _write(folder / "supervisor.json", asdict(this_process()))
    cgroups.create(spec.cgroup, spec.cpu_count)
    for shared in FIXED_FOLDERS:
        shared.mkdir(parents=True, exist_ok=True)
    inner = _start(spec)
    reason = ""
    try:
        _link(spec, _first_process(inner))
        reason = _watch(spec, inner, stopping)
    except (OSError, subprocess.SubprocessError, RuntimeError) as error:
        reason = f"supervisor: {error}"
    finally:
        inner.kill()
        inner.wait()
        left = cgroups.remove(spec.cgroup)
        subprocess.run(["ip", "link", "del", spec.link], capture_output=True, check=False)
        _write(folder / "ended.json", {"at": time.time(), "reason": reason, "left": left})
    return 0


def _start(spec: NodeSpec) -> subprocess.Popen[bytes]:
    """`setpriv` has the kernel kill `unshare` with this process, `--kill-child` kill process 1 with `unshare`."""
    log = (spec.logs / "init.log").open("ab")
    argv = [
        *("setpriv", "--pdeathsig", "KILL"),
        *("unshare", "--pid", "--fork", "--kill-child=KILL", "--mount", "--mount-proc", "--net", "--uts", "--ipc"),
        *(sys.executable, "-m", "incident_arena.node.init", str(spec.folder)),
    ]
    try:
        return subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
    finally:
        log.close()


def _first_process(inner: subprocess.Popen[bytes], deadline_s: float = 20) -> int:
    """Process 1 of the node, by this namespace's number: the child of `unshare`."""
    ends = time.monotonic() + deadline_s
    children = Path(f"/proc/{inner.pid}/task/{inner.pid}/children")
    while time.monotonic() < ends and inner.poll() is None:
        found = children.read_text().split()
        if found:
            return int(found[0])
        time.sleep(0.002)  # polls the child, bounded by the deadline
    raise RuntimeError("process 1 of the node did not appear; see logs/init.log")


def _link(spec: NodeSpec, pid: int) -> None:
    """A pair of interfaces: `arena-<index>` here, `eth0` in the node. The alias says whose it is."""
    for argv in (
        ["ip", "link", "add", spec.link, "type", "veth", "peer", "name", "eth0", "netns", str(pid)],
        ["ip", "link", "set", spec.link, "alias", str(spec.folder)],
        ["ip", "addr", "add", f"{spec.host_ip}/24", "dev", spec.link],
        ["ip", "link", "set", spec.link, "up"],
    ):
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"`{' '.join(argv)}`: {done.stderr.strip()}")


def _watch(spec: NodeSpec, inner: subprocess.Popen[bytes], stopping: list[str]) -> str:
    peak = 0
    while not stopping:
        now = cgroups.memory(spec.cgroup)
        peak = max(peak, now)
        _write(spec.folder / "memory.json", {"peak": peak, "latest": now})
        if spec.owner and not is_alive(spec.owner):
            return f"its owner, process {spec.owner.pid}, is gone"
        try:
            return f"process 1 ended with {inner.wait(POLL_S)}"
        except subprocess.TimeoutExpired:
            continue
    return stopping[0]


def _write(path: Path, record: dict[str, object]) -> None:
    temporary = path.with_suffix(".tmp")
    temporary.write_text(json.dumps(record))
    temporary.rename(path)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
