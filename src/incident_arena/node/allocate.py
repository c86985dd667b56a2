"""A free index and address for a new node, taken under a lock."""

import re
import shutil
from pathlib import Path

from incident_arena import proc
from incident_arena.errors import UserError
from incident_arena.lock import locked
from incident_arena.node.spec import NodeSpec, Process, this_process
from incident_arena.settings import Settings

NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,40}[a-z0-9])?")
INDEXES = range(1, 250)
LOCK_S = 60.0


class FullError(UserError):
    """The machine has as many nodes as it bears; another may end soon."""


def allocate(
    settings: Settings, name: str, *, bin_folder: Path, sandbox_image: str, owner: Process | None, cpu_count: int | None
) -> NodeSpec:
    """Make the folder of a new node, with its `node.json`.

    Args:
        settings: where nodes are.
        name: as a DNS label.
        bin_folder: resolved folder of the binaries.
        sandbox_image: reference of the pause image.
        owner: process for whose lifetime the node lives.
        cpu_count: how many CPUs' time it may use; None: all.

    Raises:
        FullError: the machine has as many nodes as it bears.
        UserError: the name is malformed or taken, or no index is free.
    """
    if not NAME.fullmatch(name):
        raise UserError(f"node name {name!r}", "is not a DNS label", "use lower-case letters, digits and inner hyphens")
    settings.nodes.mkdir(parents=True, exist_ok=True)
    with locked(settings.nodes / "lock", deadline_s=LOCK_S):
        folder = settings.nodes / name
        if folder.exists():
            raise UserError(f"node {name!r}", "exists already", f"arena node down {name}")
        others = existing(settings)
        if len(others) >= settings.max_nodes:
            names = ", ".join(spec.name for spec in others)
            raise FullError(
                f"node {name!r}",
                f"would be one more than this machine's {settings.max_nodes}; there are: {names}",
                "wait, or stop one with `arena node down`; ARENA_MAX_NODES sets the limit",
            )
        spec = NodeSpec(
            name=name,
            index=_free_index(others),
            folder=folder,
            bin=bin_folder,
            network=settings.network,
            cgroup=f"{settings.cgroup_root}/{name}",
            sandbox_image=sandbox_image,
            cpu_count=cpu_count,
            owner=owner,
            maker=this_process(),
        )
        folder.mkdir()
        try:
            spec.write()
        except BaseException:
            shutil.rmtree(folder)
            raise
    return spec


def existing(settings: Settings) -> list[NodeSpec]:
    """Every node that has a readable folder, dead or alive."""
    found = []
    for record in sorted(settings.nodes.glob("*/node.json")):
        try:
            found.append(NodeSpec.read(record.parent))
        except (OSError, ValueError, KeyError, TypeError):
            continue  # half-written by a process that died; `clean` removes the folder
    return found


def links() -> dict[str, str]:
    """Host links of nodes, of any data folder: name to alias (the folder of the node that it belongs to)."""
    found: dict[str, str] = {}
    for path in Path("/sys/class/net").glob("arena-*"):
        alias = path / "ifalias"
        found[path.name] = alias.read_text().strip() if alias.exists() else ""
    return found


def _free_index(others: list[NodeSpec]) -> int:
    taken = {spec.index for spec in others} | {int(name.removeprefix("arena-")) for name in links()}
    for index in INDEXES:
        if index not in taken:
            return index
    raise UserError("nodes", f"all {len(INDEXES)} indexes are taken", "arena node list; arena clean")


def delete_link(name: str) -> None:
    """Remove a host link if it is there."""
    if (Path("/sys/class/net") / name).exists():
        proc.run(["ip", "link", "del", name], deadline_s=10, check=False)
