"""Settings: one frozen object, made once at the command line or in Harbor's environment, and handed down."""

import os
from dataclasses import dataclass
from pathlib import Path

DEFAULT_HOME = Path("/var/lib/incident-arena")


@dataclass(frozen=True)
class Settings:
    """Where things are.

    Attributes:
        home: data folder: binaries, images, nodes, records. ARENA_HOME.
        cgroup_root: name of the cgroup under which each node has its own. ARENA_CGROUP_ROOT.
        network: first two octets of the nodes' addresses: node N is at <network>.N.2/24. ARENA_NETWORK.
        cpus_per_node: CPUs that each episode's node has for itself; None: it shares all. ARENA_CPUS_PER_NODE, which
            `arena run -n` sets when several episodes run at once.
        max_nodes: nodes at once; one more would slow all of them until probes fail. ARENA_MAX_NODES; else the number
            of CPUs, at least 2.
        substrates: folders of substrates that are not in this package, with : between. ARENA_SUBSTRATES.
    """

    home: Path = DEFAULT_HOME
    cgroup_root: str = "incident-arena"
    network: str = "10.200"
    cpus_per_node: int | None = None
    max_nodes: int = 2
    substrates: tuple[Path, ...] = ()

    @classmethod
    def from_environment(cls) -> "Settings":
        """Read the ARENA_* variables."""
        return cls(
            home=Path(os.environ.get("ARENA_HOME", DEFAULT_HOME)),
            cgroup_root=os.environ.get("ARENA_CGROUP_ROOT", "incident-arena"),
            network=os.environ.get("ARENA_NETWORK", "10.200"),
            cpus_per_node=int(os.environ["ARENA_CPUS_PER_NODE"]) if "ARENA_CPUS_PER_NODE" in os.environ else None,
            max_nodes=int(os.environ.get("ARENA_MAX_NODES", max(2, os.cpu_count() or 1))),
            substrates=tuple(Path(one).resolve() for one in os.environ.get("ARENA_SUBSTRATES", "").split(":") if one),
        )

    @property
    def bin(self) -> Path:
        """The node's binaries."""
        return self.home / "bin"

    @property
    def images(self) -> Path:
        """Built images (OCI archives), keyed by content."""
        return self.home / "images"

    @property
    def stores(self) -> Path:
        """Prepared image stores: one golden containerd root for each set of images."""
        return self.home / "stores"

    @property
    def nodes(self) -> Path:
        """One folder for each node that exists."""
        return self.home / "nodes"

    @property
    def records(self) -> Path:
        """Episode records, outside Harbor's job folders because Harbor deletes a retried trial's folder."""
        return self.home / "records"
