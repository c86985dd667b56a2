"""The one hole in a node's firewall: from one pod to one port of the machine's end of the link."""

from pathlib import Path

from incident_arena import proc
from incident_arena.errors import InfrastructureError
from incident_arena.node import down
from incident_arena.node.spec import NodeSpec

# The machine knows no way back to pods, whose addresses are the same in every node: they go by the node's.
RULES = """
insert rule inet arena forward iifname "veth*" oifname "eth0" ip saddr {pod} ip daddr {host} tcp dport {port} accept
table ip arena-way-out {{
  chain postrouting {{
    type nat hook postrouting priority 100; policy accept;
    oifname "eth0" ip saddr {pod} ip daddr {host} tcp dport {port} masquerade
  }}
}}
"""


def open_to(spec: NodeSpec, pod_ip: str, port: int) -> None:
    """Let a pod reach a port of the machine's address on the node's link; it ends with the node.

    Raises:
        InfrastructureError: the node is gone.
        CommandError: the kernel refused the rules.
    """
    rules = RULES.format(pod=pod_ip, host=spec.host_ip, port=port)
    argv = ["nsenter", f"--net=/proc/{first_process(spec)}/ns/net", "nft", "-f", "-"]
    proc.run(argv, deadline_s=20, stdin=rules)


def first_process(spec: NodeSpec) -> int:
    """Process 1 of the node, by this namespace's number: the supervisor's child is `unshare`, whose child it is."""
    supervisor = down.supervisor(spec)
    if supervisor is None:
        raise InfrastructureError(f"node {spec.name!r}", "is not running")
    pid = supervisor.pid
    for _ in range(2):
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        if not children:
            raise InfrastructureError(f"node {spec.name!r}", "has no process 1")
        pid = int(children[0])
    return pid
