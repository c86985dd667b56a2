"""Process 1 of a node, inside its own process, mount, network, host-name and message namespaces.

It mounts what the components expect to be theirs, waits for the link, closes the ways that pods have no business on,
starts the components, collects orphans, and ends, which ends everything in the node, when a component dies or when it
is told to. Standard library only, so that it is up in some 50 ms.

Exit status: 0 told to end; 1 a component died or could not be started (`died.json` says which and why).
"""

import contextlib
import ctypes
import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import FrameType

from incident_arena.node import cgroups
from incident_arena.node.spec import API_PORT, KUBELET_PORT, SERVICE_CIDR, NodeSpec

FIXED_FOLDERS = (Path("/var/lib/kubelet"), Path("/var/lib/cni"), Path("/var/log/containers"))
"""Folders that components insist on; empty mount points on the machine."""
KUBELET_MB = 1024
"""Size of the kubelet's folder: volumes that are no claims, and each container's last words."""
WAIT_S = 60

FIREWALL = """
table inet arena {{
  chain forward {{
    type filter hook forward priority -200; policy accept;
    iifname "veth*" oifname "eth0" drop
  }}
  chain input {{
    type filter hook input priority -200; policy accept;
    iifname "veth*" ct state established,related accept
    iifname "veth*" ip daddr {ip} tcp dport {{ {ports} }} accept
    iifname "veth*" ip protocol icmp accept
    iifname "veth*" drop
  }}
  chain output {{
    type filter hook output priority -250; policy accept;
    oifname "veth*" icmp type destination-unreachable drop
  }}
}}
"""
"""Pods reach each other, the API server and the kubelet, which know nobody without an account; nothing else.

What is closed is silent, as with most clusters: the sender is not told. A pod whose policies are a moment late would be
refused, and on the socket of a connection that is tried again the kernel keeps the word of the first refusal: a program
that then waits for an answer finds its socket in error, for ever, and takes a whole core (a worker of queued jobs did).
"""


class StartError(Exception):
    """The node can't start: `component` and why."""

    def __init__(self, component: str, reason: str) -> None:
        super().__init__(f"{component}: {reason}")
        self.component = component
        self.reason = reason


def main(folder: Path) -> int:
    """Run the node in `folder` until it is told to end or a component dies."""
    spec = NodeSpec.read(folder)
    ending: list[int] = []

    def end(number: int, _frame: FrameType | None) -> None:
        ending.append(number)

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    try:
        cgroups.enter(spec.cgroup)
        # However nice the command that started it: the node's weight is its control group's.
        os.setpriority(os.PRIO_PROCESS, 0, 0)
        _mounts(spec)
        _network(spec)
        children = _start(spec, ending)
        while not ending:
            _collect(children)
    except StartError as error:
        record = {"component": error.component, "reason": error.reason, "at": time.time()}
        (spec.folder / "died.json").write_text(json.dumps(record))
        return 1
    return 0


def _mounts(spec: NodeSpec) -> None:
    """A private /run and private fixed folders, in memory and gone with the mount namespace.

    The kubelet's own too, of a size: in it are files that any container may write to without a limit of its own.

    Volumes are on the disk, but nothing waits for it: what they hold ends with the node, and outlives all that runs in
    it. With other work on the disk a synced write took 119 ms in the mean, most of what a job or a commit takes.

    No bind mounts: with those of one device in several places the kubelet no longer finds the file system's figures.
    """
    for target in (Path("/run"), *FIXED_FOLDERS):
        _mount("tmpfs", target, "tmpfs", 0, "mode=755")
    _mount("tmpfs", spec.folder / "kubelet", "tmpfs", 0, f"mode=755,size={KUBELET_MB}m")
    upper, work = spec.folder / "written", spec.folder / "written-work"
    upper.mkdir(mode=0o755)
    work.mkdir()
    _mount("overlay", spec.volumes, "overlay", 0, f"lowerdir={spec.volumes},upperdir={upper},workdir={work},volatile")
    Path("/run/netns").mkdir()


def _mount(source: str, target: Path, kind: str | None, flags: int, data: str | None) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    arguments = (source.encode(), str(target).encode(), kind.encode() if kind else None, flags)
    if libc.mount(*arguments, data.encode() if data else None) != 0:
        raise StartError("mount", f"{target}: {os.strerror(ctypes.get_errno())}")


def _network(spec: NodeSpec) -> None:
    """The link's inner end appears when the supervisor has made it."""
    ends = time.monotonic() + WAIT_S
    while "eth0" not in {name for _, name in socket.if_nameindex()}:
        if time.monotonic() > ends:
            raise StartError("network", f"the link eth0 did not appear within {WAIT_S} s")
        time.sleep(0.005)  # polls eth0, bounded by the deadline above
    commands = [
        ["ip", "link", "set", "lo", "up"],
        ["ip", "addr", "add", f"{spec.ip}/24", "dev", "eth0"],
        ["ip", "link", "set", "eth0", "up"],
        # Only so that the node's own processes may call a Service; there is no way out of the machine.
        ["ip", "route", "add", SERVICE_CIDR, "via", spec.host_ip],
        ["nft", "-f", "-"],
    ]
    firewall = FIREWALL.format(ip=spec.ip, ports=f"{API_PORT}, {KUBELET_PORT}")
    for argv in commands:
        done = subprocess.run(argv, input=firewall, text=True, capture_output=True, check=False)
        if done.returncode != 0:
            raise StartError("network", f"`{' '.join(argv)}`: {done.stderr.strip()}")
    for key in ("net/ipv4/ip_forward", "net/ipv4/conf/all/forwarding"):
        Path("/proc/sys", key).write_text("1")


def _start(spec: NodeSpec, ending: list[int]) -> dict[int, str]:
    """Start the components in order, each when what it needs answers."""
    children: dict[int, str] = {}
    commands = json.loads((spec.folder / "commands.json").read_text())
    environment = {
        "PATH": f"{spec.bin}:/usr/sbin:/usr/bin:/sbin:/bin",
        "HOME": str(spec.folder),
    }
    for command in commands:
        if command["after"] == "api":
            _until_api(spec, children, ending)
        if command["name"] == "kubelet":
            _until_containerd(spec, children, ending)
        if command["after"] == "node":
            _until_node(spec, children, ending)
        if ending:
            break
        log = (spec.logs / f"{command['name']}.log").open("ab")
        try:
            child = subprocess.Popen(
                command["argv"],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=environment,
                start_new_session=True,
                preexec_fn=_unblock,  # noqa: PLW1509  this process has one thread
            )
        except OSError as error:
            raise StartError(command["name"], str(error)) from error
        finally:
            log.close()
        child.returncode = 0  # process 1 collects all children itself; Popen must not
        children[child.pid] = command["name"]
    return children


def _unblock() -> None:
    """Children must hear of the ends of their own children again."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])


def _until_api(spec: NodeSpec, children: dict[int, str], ending: list[int]) -> None:
    """The API server accepts connections."""
    ends = time.monotonic() + WAIT_S
    while not ending:
        with contextlib.suppress(OSError), socket.create_connection((spec.ip, API_PORT), timeout=1):
            return
        if time.monotonic() > ends:
            raise StartError("kube-apiserver", f"did not accept connections within {WAIT_S} s")
        _collect(children, wait_s=0.02)


def _until_containerd(spec: NodeSpec, children: dict[int, str], ending: list[int]) -> None:
    """Its CRI service is ready. Before, the socket answers "not initialized yet", at which the kubelet gives up."""
    ends = time.monotonic() + WAIT_S
    log = spec.logs / "containerd.log"
    while not ending and b"containerd successfully booted" not in log.read_bytes():
        if time.monotonic() > ends:
            raise StartError("containerd", f"was not ready within {WAIT_S} s")
        _collect(children, wait_s=0.02)


def _until_node(spec: NodeSpec, children: dict[int, str], ending: list[int]) -> None:
    """The runner has seen the node with its range of pod addresses, which the firewall needs."""
    ends = time.monotonic() + WAIT_S
    while not ending and not (spec.folder / "registered").exists():
        if time.monotonic() > ends:
            raise StartError("kubelet", f"did not register the node within {WAIT_S} s")
        _collect(children, wait_s=0.02)


def _collect(children: dict[int, str], wait_s: float = 0.5) -> None:
    """Collect whatever ended; a component's end is the node's."""
    signal.sigtimedwait([signal.SIGCHLD], wait_s)
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        if pid in children:
            raise StartError(children[pid], f"ended with status {os.waitstatus_to_exitcode(status)}")


if __name__ == "__main__":
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
    sys.exit(main(Path(sys.argv[1])))
