"""A node's control groups, on version 1 hierarchies and on the unified one. Standard library only.

<cgroup>/          the node: its memory is read here
<cgroup>/system    the node's own processes
<cgroup>/pods      the kubelet's root
"""

import contextlib
import os
import signal
import time
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")
V1_CONTROLLERS = (
    "cpu",
    "cpuacct",
    "cpuset",
    "memory",
    "devices",
    "freezer",
    "blkio",
    "pids",
    "systemd",
    "hugetlb",
    "unified",
)
V2_CONTROLLERS = ("cpuset", "cpu", "io", "memory", "pids")


PERIOD_US = 20_000
"""Short, so that a node that has used its share waits 20 ms at most, not the usual 100."""
CPU_WEIGHT = {"cpu.shares": "20480", "cpu.weight": "2000"}
"""Twenty times the default, for all nodes together. A group counts as one process against those outside of any: with
the default, a compiler's twenty processes left a cluster a twentieth of the machine, and probes failed. A hundred times
starves the kernel's own threads, which are outside too: writes stood still, and with them the nodes."""


def is_unified() -> bool:
    """Whether the machine has version 2 alone."""
    return (ROOT / "cgroup.controllers").exists()


def hierarchies() -> list[Path]:
    """The roots under which a node needs a group; several v1 names can be one mount."""
    if is_unified():
        return [ROOT]
    found = {(ROOT / name).resolve() for name in V1_CONTROLLERS if (ROOT / name / "cgroup.procs").exists()}
    return sorted(found)


def create(cgroup: str, cpu_count: int | None) -> None:
    """Make the node's groups.

    Args:
        cgroup: path below each hierarchy's root.
        cpu_count: limit to this many CPUs' time, so that nodes side by side don't take from each other; None: no limit.
            Time, not named CPUs: the kubelet insists on giving its pods every CPU that the machine has.

    Raises:
        OSError: not root, or a controller is not available.
    """
    for hierarchy in hierarchies():
        parts = Path(cgroup).parts
        for depth in range(1, len(parts) + 1):
            _make(hierarchy, Path(*parts[:depth]))
        if cpu_count is not None:
            _limit(hierarchy / cgroup, cpu_count)
        for file, weight in CPU_WEIGHT.items():
            setting = hierarchy / parts[0] / file
            if setting.exists():
                setting.write_text(weight)
        for leaf in ("system", "pods"):
            _make(hierarchy, Path(cgroup, leaf))


def _make(hierarchy: Path, group: Path) -> None:
    folder, parent = hierarchy / group, (hierarchy / group).parent
    if is_unified():
        _enable(parent)
    folder.mkdir(exist_ok=True)
    for setting in ("cpuset.cpus", "cpuset.mems"):  # empty in a new v1 group, and then no process may enter it
        if (folder / setting).exists() and not is_unified() and not (folder / setting).read_text().strip():
            (folder / setting).write_text((parent / setting).read_text().strip())


def _limit(folder: Path, cpu_count: int) -> None:
    quota = str(cpu_count * PERIOD_US)
    if (folder / "cpu.max").exists():
        (folder / "cpu.max").write_text(f"{quota} {PERIOD_US}")
    elif (folder / "cpu.cfs_quota_us").exists():
        (folder / "cpu.cfs_period_us").write_text(str(PERIOD_US))
        (folder / "cpu.cfs_quota_us").write_text(quota)


def _enable(folder: Path) -> None:
    """Let the children of a v2 group have the controllers."""
    available = (folder / "cgroup.controllers").read_text().split()
    wanted = " ".join(f"+{name}" for name in V2_CONTROLLERS if name in available)
    (folder / "cgroup.subtree_control").write_text(wanted)


def enter(cgroup: str) -> None:
    """Put the calling process into the node's `system` group."""
    for hierarchy in hierarchies():
        (hierarchy / cgroup / "system" / "cgroup.procs").write_text("0")


def memory(cgroup: str) -> int:
    """Bytes that the node's processes hold and that cannot be dropped: anonymous and shared memory.

    The page cache is left out: the kernel gives it back when asked.
    """
    base = ROOT / cgroup if is_unified() else ROOT / "memory" / cgroup
    try:
        lines = (base / "memory.stat").read_text().splitlines()
    except OSError:
        return 0
    stat = {key: int(value) for key, _, value in (line.partition(" ") for line in lines)}
    if is_unified():
        return stat.get("anon", 0) + stat.get("shmem", 0)
    return stat.get("total_rss", 0) + stat.get("total_shmem", 0)


def processes(cgroup: str) -> set[int]:
    """All processes in the node's groups, by this namespace's numbers."""
    found: set[int] = set()
    for hierarchy in hierarchies():
        for procs in (hierarchy / cgroup).rglob("cgroup.procs"):
            with contextlib.suppress(OSError):
                found.update(int(pid) for pid in procs.read_text().split())
    return found - {0}


def exists(cgroup: str) -> bool:
    """Whether any hierarchy has the node's group."""
    return any((hierarchy / cgroup).exists() for hierarchy in hierarchies())


def remove(cgroup: str, deadline_s: float = 10) -> list[str]:
    """Kill what is left in the node's groups and remove them, empty parents too.

    Returns:
        What could not be removed before the deadline; empty when all is gone.
    """
    ends = time.monotonic() + deadline_s
    while exists(cgroup) and time.monotonic() < ends:
        for pid in processes(cgroup) - {os.getpid()}:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for hierarchy in hierarchies():
            _remove_tree(hierarchy / cgroup)
        if exists(cgroup):
            time.sleep(0.02)  # killed processes need a moment to leave; bounded by the deadline
    for hierarchy in hierarchies():
        for parent in list(Path(cgroup).parents)[:-1]:
            with contextlib.suppress(OSError):
                (hierarchy / parent).rmdir()
    return [str(hierarchy / cgroup) for hierarchy in hierarchies() if (hierarchy / cgroup).exists()]


def _remove_tree(folder: Path) -> None:
    for path, _, _ in os.walk(folder, topdown=False):
        with contextlib.suppress(OSError):
            Path(path).rmdir()
