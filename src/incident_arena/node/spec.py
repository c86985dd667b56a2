"""What one node is. Standard library only: process 1 of the node reads it."""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

POD_CIDR = "10.244.0.0/24"
SERVICE_CIDR = "10.96.0.0/16"
API_SERVICE_IP = "10.96.0.1"
DNS_SERVICE_IP = "10.96.0.10"
API_PORT = 6443
KUBELET_PORT = 10250


@dataclass(frozen=True)
class Process:
    """A process by its number and start time (clock ticks since boot), which together are never reused."""

    pid: int
    started: int


@dataclass(frozen=True)
class NodeSpec:
    """One node.

    Attributes:
        name: its name, also the Kubernetes node's.
        index: 1 … 250, unique on the machine; names the link and the third octet of its addresses.
        folder: where all its state is.
        bin: folder of the binaries.
        network: the first two octets of nodes' addresses.
        cgroup: path of its control group below each hierarchy's root, no leading slash.
        cpu_count: how many CPUs' time it may use; None: all.
        owner: the process for whose lifetime the node lives; None: until `arena node down`.
        maker: the process that is starting it, which tells a node that starts from one that died young.
        sandbox_image: the pause image's reference.
    """

    name: str
    index: int
    folder: Path
    bin: Path
    network: str
    cgroup: str
    sandbox_image: str
    cpu_count: int | None = None
    owner: Process | None = None
    maker: Process | None = None

    @property
    def link(self) -> str:
        """The host end of the node's link."""
        return f"arena-{self.index}"

    @property
    def host_ip(self) -> str:
        """The host's address on the link."""
        return f"{self.network}.{self.index}.1"

    @property
    def ip(self) -> str:
        """The node's address."""
        return f"{self.network}.{self.index}.2"

    @property
    def server(self) -> str:
        """The API server's address, as the host sees it."""
        return f"https://{self.ip}:{API_PORT}"

    @property
    def volumes(self) -> Path:
        """The folder of the persistent volumes."""
        return self.folder / "volumes"

    @property
    def kubeconfig(self) -> Path:
        """The administrator's kubeconfig."""
        return self.folder / "kubeconfig"

    @property
    def logs(self) -> Path:
        """One log a component."""
        return self.folder / "logs"

    def write(self) -> None:
        """Write `node.json` into the node's folder."""
        record = asdict(self) | {"folder": str(self.folder), "bin": str(self.bin)}
        (self.folder / "node.json").write_text(json.dumps(record, indent=1))

    @staticmethod
    def read(folder: Path) -> "NodeSpec":
        """Read `node.json`.

        Raises:
            OSError, ValueError, KeyError: there is none, or it is not one.
        """
        record = json.loads((folder / "node.json").read_text())
        owner, maker = record.pop("owner"), record.pop("maker")
        record["folder"], record["bin"] = Path(record["folder"]), Path(record["bin"])
        return NodeSpec(**record, owner=Process(**owner) if owner else None, maker=Process(**maker) if maker else None)


def start_time(pid: int) -> int | None:
    """When the process started, in clock ticks since boot; None when there is no such process (or it is a zombie)."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] in "ZX" else int(fields[19])


def this_process() -> Process:
    """The calling process."""
    return Process(os.getpid(), start_time(os.getpid()) or 0)


def is_alive(process: Process) -> bool:
    """Whether this very process is running."""
    return start_time(process.pid) == process.started
