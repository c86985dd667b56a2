"""What nodes have left on the machine."""

import os
from pathlib import Path

from incident_arena import wait
from incident_arena.node import allocate, cgroups
from incident_arena.node.spec import start_time
from incident_arena.settings import Settings

ROOM_S = 900.0


def wait_for_room(settings: Settings) -> None:
    """Until the machine has a place for one more node, so that a test's own deadlines are not spent on that."""

    def room() -> tuple[bool, str]:
        names = [spec.name for spec in allocate.existing(settings)]
        return len(names) < settings.max_nodes, ", ".join(names)

    wait.until("the machine has room for a node", room, deadline_s=ROOM_S, every_s=2)


def traces(name: str) -> dict[str, set[str]]:
    """Links, groups, mounts and namespaces of the nodes whose name contains this; others may run beside the tests."""
    groups = {str(path) for root in cgroups.hierarchies() for path in root.glob(f"incident-arena/*{name}*")}
    points = {line.split()[1] for line in Path("/proc/mounts").read_text().splitlines()}
    mounts = {point for point in points if f"{name}/" in point or "/var/lib/kubelet" in point}
    namespaces = {path.name for path in Path("/run/netns").glob("*")} if Path("/run/netns").exists() else set()
    links = {link for link, alias in allocate.links().items() if name in alias}
    return {"links": links, "groups": groups, "mounts": mounts, "namespaces": namespaces}


def session(leader: int) -> list[str]:
    """Command lines of the processes of a session that still live."""
    return [line for entry in Path("/proc").iterdir() if entry.name.isdigit() and (line := _line(entry, leader))]


def _line(entry: Path, leader: int) -> str:
    """Empty when it is of another session, or just ends."""
    try:
        if os.getsid(int(entry.name)) != leader or start_time(int(entry.name)) is None:
            return ""
        return (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""
