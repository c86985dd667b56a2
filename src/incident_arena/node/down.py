"""Stop a node, and remove what dead nodes left behind."""

import contextlib
import json
import os
import shutil
import signal
from dataclasses import dataclass, field
from pathlib import Path

from incident_arena.errors import InfrastructureError
from incident_arena.lock import locked
from incident_arena.node import allocate, cgroups
from incident_arena.node.init import FIXED_FOLDERS
from incident_arena.node.spec import NodeSpec, Process, is_alive
from incident_arena.settings import Settings
from incident_arena.wait import until

STOP_S = 30.0


@dataclass
class Removed:
    """What a clean-up has removed."""

    nodes: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    cgroups: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        """Whether there was nothing to remove."""
        return not (self.nodes or self.links or self.cgroups or self.files)


def supervisor(spec: NodeSpec) -> Process | None:
    """The node's supervisor, if it has written its record and lives."""
    return _supervisor(spec.folder)


def _supervisor(folder: Path) -> Process | None:
    try:
        process = Process(**json.loads((folder / "supervisor.json").read_text()))
    except (OSError, ValueError, TypeError):
        return None
    return process if is_alive(process) else None


def is_running(spec: NodeSpec) -> bool:
    """Whether the node's supervisor lives and its owner, if it has one, does too."""
    return supervisor(spec) is not None and (spec.owner is None or is_alive(spec.owner))


def memory_mb(spec: NodeSpec) -> tuple[int, int]:
    """What the node's processes hold now, and have held at most, in MB of 10⁶ bytes; zeros before the first look."""
    try:
        record = json.loads((spec.folder / "memory.json").read_text())
    except (OSError, ValueError):
        return 0, 0
    return record["latest"] // 10**6, record["peak"] // 10**6


def raise_if_ended(spec: NodeSpec) -> None:
    """Say why a node that is being waited for has ended.

    Raises:
        InfrastructureError: it has; with the component and the tail of its log.
    """
    died, ended = spec.folder / "died.json", spec.folder / "ended.json"
    if died.exists():
        record = json.loads(died.read_text())
        log = spec.logs / f"{record['component']}.log"
        tail = "\n    ".join(log.read_text(errors="replace").splitlines()[-8:]) if log.exists() else ""
        raise InfrastructureError(record["component"], f"{record['reason']}\n    {tail}")
    if ended.exists():
        raise InfrastructureError("node", f"ended: {json.loads(ended.read_text())['reason']}")


def stop(settings: Settings, spec: NodeSpec) -> None:
    """Stop a node and remove all of it; does nothing when it is gone already.

    Raises:
        InfrastructureError: something could not be removed.
    """
    process = supervisor(spec)
    if process is not None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGTERM)

        def gone() -> tuple[bool, str]:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(process.pid, os.WNOHANG)  # it is our child when this very process started the node
            return not is_alive(process), f"supervisor {process.pid} is running"

        until(f"end of node {spec.name!r}", gone, deadline_s=STOP_S)
    with locked(settings.nodes / "lock", deadline_s=STOP_S):
        _remove(spec)


def clean(settings: Settings) -> Removed:
    """Remove what every node that has ended or lost its owner left behind; running nodes are not touched.

    Raises:
        InfrastructureError: something could not be removed.
    """
    removed = Removed()
    if not settings.nodes.exists():
        return removed
    for spec in allocate.existing(settings):
        if not is_running(spec) and not _is_starting(spec):
            stop(settings, spec)
            removed.nodes.append(spec.name)
    with locked(settings.nodes / "lock", deadline_s=STOP_S):
        known = {spec.name for spec in allocate.existing(settings)}
        # A node that another version of this program has started can't be read, but it runs.
        known |= {folder.name for folder in settings.nodes.iterdir() if _supervisor(folder) is not None}
        for folder in settings.nodes.iterdir():
            if folder.is_dir() and folder.name not in known:
                shutil.rmtree(folder)
                removed.files.append(str(folder))
        for link, alias in allocate.links().items():
            if Path(alias).parent == settings.nodes and Path(alias).name not in known:
                allocate.delete_link(link)
                removed.links.append(link)
        for cgroup in _stray_cgroups(settings, known):
            cgroups.remove(cgroup)
            removed.cgroups.append(cgroup)
        if not known:
            _remove_mount_points()
    return removed


def _is_starting(spec: NodeSpec) -> bool:
    """Its folder is there, its supervisor not yet, and whoever makes it is at it."""
    if (spec.folder / "supervisor.json").exists() or spec.maker is None:
        return False
    return is_alive(spec.maker)


def _stray_cgroups(settings: Settings, known: set[str]) -> list[str]:
    found: set[str] = set()
    for hierarchy in cgroups.hierarchies():
        root = hierarchy / settings.cgroup_root
        if root.is_dir():
            found.update(path.name for path in root.iterdir() if path.is_dir())
    return [f"{settings.cgroup_root}/{name}" for name in sorted(found - known)]


def _remove(spec: NodeSpec) -> None:
    left = cgroups.remove(spec.cgroup)
    if left:
        raise InfrastructureError(f"node {spec.name!r}", f"control groups stay: {', '.join(left)}", "arena clean")
    if allocate.links().get(spec.link) == str(spec.folder):
        allocate.delete_link(spec.link)
    if spec.folder.exists():
        shutil.rmtree(spec.folder)


def _remove_mount_points() -> None:
    """Empty folders on which nodes mounted their own."""
    for shared in FIXED_FOLDERS:
        with contextlib.suppress(OSError):
            shared.rmdir()
