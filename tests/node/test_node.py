"""A node for real: it starts, it works, it is closed, and nothing of it stays, however it ends."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.machine import traces

from incident_arena import proc
from incident_arena.cli.node import node_images
from incident_arena.errors import InfrastructureError, UserError
from incident_arena.node import cgroups, down
from incident_arena.node.spec import NodeSpec, Process, start_time
from incident_arena.node.up import NodeImages, Up
from incident_arena.settings import Settings
from incident_arena.wait import until

pytestmark = [pytest.mark.node, pytest.mark.timeout(180)]


@pytest.fixture(scope="module")
def settings() -> Settings:
    return Settings.from_environment()


@pytest.fixture(scope="module")
def images(settings: Settings) -> NodeImages:
    return node_images(settings)


@pytest.fixture(scope="module")
def node(settings: Settings, images: NodeImages) -> Iterator[NodeSpec]:
    """One node for the tests that only look."""
    spec = Up(settings, f"test-{os.getpid()}", images, lambda _: None).start()
    yield spec
    down.stop(settings, spec)


def kubectl(spec: NodeSpec, *verb: str, stdin: str | None = None, check: bool = True) -> proc.Completed:
    argv = [spec.bin / "kubectl", f"--kubeconfig={spec.kubeconfig}", *verb]
    return proc.run(argv, deadline_s=60, stdin=stdin, check=check)


def machine() -> dict[str, set[str]]:
    """What this process's nodes have left on the machine."""
    return traces(str(os.getpid()))


def pods_of(spec: NodeSpec) -> set[int]:
    return cgroups.processes(spec.cgroup)


POD = """
apiVersion: v1
kind: Pod
metadata: {{name: {name}, labels: {{app: {name}}}}}
spec:
  enableServiceLinks: false
  terminationGracePeriodSeconds: 0
  securityContext: {{runAsUser: 1000, runAsGroup: 1000, fsGroup: 1000}}
  containers:
  - name: main
    image: {image}
    imagePullPolicy: Never
    command: [redis-server, --bind, 0.0.0.0, --protected-mode, "no", --dir, /data]
    readinessProbe: {{exec: {{command: [redis-cli, ping]}}, periodSeconds: 1}}
    volumeMounts: [{{name: data, mountPath: /data}}]
  volumes: [{{name: data, persistentVolumeClaim: {{claimName: {name}}}}}]
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {{name: {name}}}
spec: {{accessModes: [ReadWriteOnce], resources: {{requests: {{storage: 1Gi}}}}}}
---
apiVersion: v1
kind: Service
metadata: {{name: {name}}}
spec: {{selector: {{app: {name}}}, ports: [{{port: 6379}}]}}
"""

TIMED_OUT = 124
"""Of timeout(1)."""
CLOSED = """
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: closed}
spec: {podSelector: {matchLabels: {app: server}}, policyTypes: [Ingress]}
"""


@pytest.fixture(scope="module")
def pods(node: NodeSpec, images: NodeImages) -> NodeSpec:
    """Two pods with volumes and Services."""
    image = next(reference for reference in images.archives if "/redis:" in reference)
    for name in ("server", "client"):
        kubectl(node, "apply", "-f", "-", stdin=POD.format(name=name, image=image))
    kubectl(node, "wait", "--for=condition=Ready", "pod/server", "pod/client", "--timeout=60s")
    return node


def in_client(spec: NodeSpec, *argv: str) -> proc.Completed:
    return kubectl(spec, "exec", "client", "--", *argv, check=False)


def can_connect(spec: NodeSpec, host: str, port: int) -> bool:
    return in_client(spec, "timeout", "3", "bash", "-c", f"exec 3<>/dev/tcp/{host}/{port}").exit == 0


def test_a_service_is_reached_by_name_and_its_volume_is_written_by_a_plain_user(pods: NodeSpec) -> None:
    assert in_client(pods, "redis-cli", "-h", "server.default.svc.cluster.local", "set", "k", "v").stdout == "OK\n"
    assert in_client(pods, "redis-cli", "-h", "server", "save").stdout == "OK\n"
    assert kubectl(pods, "exec", "server", "--", "id", "-u").stdout == "1000\n"
    assert kubectl(pods, "exec", "server", "--", "ls", "/data").stdout == "dump.rdb\n"


def test_what_a_volume_holds_waits_for_no_disk_and_outlives_its_pod(pods: NodeSpec, images: NodeImages) -> None:
    (mount,) = in_client(pods, "grep", " /data ", "/proc/mounts").stdout.splitlines()
    assert mount.split()[2] == "overlay"
    assert "volatile" in mount.split()[3]  # newer kernels write `fsync=volatile`
    assert in_client(pods, "sh", "-c", "echo kept >/data/kept && sync -d /data/kept").exit == 0
    kubectl(pods, "delete", "pod", "client", "--wait")
    image = next(reference for reference in images.archives if "/redis:" in reference)
    kubectl(pods, "apply", "-f", "-", stdin=POD.format(name="client", image=image))
    kubectl(pods, "wait", "--for=condition=Ready", "pod/client", "--timeout=60s")
    assert in_client(pods, "cat", "/data/kept").stdout == "kept\n"


def test_a_network_policy_closes_and_opens(pods: NodeSpec) -> None:
    def reach(*, wanted: bool) -> None:
        def probe() -> tuple[bool, str]:
            return can_connect(pods, "server", 6379) is wanted, "the other"

        until(f"server reachable: {wanted}", probe, deadline_s=20, every_s=0.2)

    reach(wanted=True)
    kubectl(pods, "apply", "-f", "-", stdin=CLOSED)
    reach(wanted=False)
    # Closed is silent, by name and by address: see init.FIREWALL.
    address = kubectl(pods, "get", "pod", "server", "-o", "jsonpath={.status.podIP}").stdout
    for host in ("server", address):
        assert in_client(pods, "timeout", "3", "bash", "-c", f"exec 3<>/dev/tcp/{host}/6379").exit == TIMED_OUT
    kubectl(pods, "delete", "networkpolicy", "closed")
    reach(wanted=True)


@pytest.mark.parametrize("target", ["etcd", "host", "scheduler"])
def test_a_pod_reaches_nothing_of_the_machine(pods: NodeSpec, target: str) -> None:
    address = {
        "etcd": (pods.ip, 2379),
        "scheduler": (pods.ip, 10259),
        "host": (pods.host_ip, 0),
    }[target]
    if target != "host":
        assert not can_connect(pods, *address)
        return
    # A real listener of the host: a connection refused by nobody would prove nothing.
    with subprocess.Popen(
        [sys.executable, "-c", LISTENER.format(host=pods.host_ip)], stdout=subprocess.PIPE, text=True
    ) as listener:
        assert listener.stdout is not None
        port = int(listener.stdout.readline())
        try:
            assert proc.run(["bash", "-c", f"exec 3<>/dev/tcp/{pods.host_ip}/{port}"], deadline_s=5).exit == 0
            assert not can_connect(pods, pods.host_ip, port)
        finally:
            listener.kill()


LISTENER = (
    "import socket; s = socket.socket(); s.bind(('{host}', 0)); s.listen(); "
    "print(s.getsockname()[1], flush=True); [s.accept() for _ in range(9)]"
)


def test_a_pod_reaches_the_api_server_only_as_nobody(pods: NodeSpec) -> None:
    assert can_connect(pods, pods.ip, 6443)
    assert in_client(pods, "bash", "-c", "ip route 2>/dev/null; cat /proc/net/route").exit == 0
    anonymous = proc.run(["curl", "-sk", "-m", "5", f"{pods.server}/api/v1/secrets"], deadline_s=10, check=False)
    assert json.loads(anonymous.stdout)["code"] == 403


STATUS = ["curl", "-sk", "-m", "5", "-o", "/dev/null", "-w", "%{http_code}"]


@pytest.mark.parametrize("path", ["pods", "stats/summary", "metrics", "run/default/client/client?cmd=id", "logs/"])
def test_a_pod_reaches_the_kubelet_only_as_nobody(pods: NodeSpec, path: str) -> None:
    """Also with a token that the API server never gave."""
    assert can_connect(pods, pods.ip, 10250)
    for who in ([], ["-H", "Authorization: Bearer made.up.token"]):
        assert proc.run([*STATUS, *who, f"https://{pods.ip}:10250/{path}"], deadline_s=10).stdout == "401"


def test_an_account_that_may_read_the_kubelets_figures_may_do_nothing_else(pods: NodeSpec) -> None:
    kubectl(pods, "create", "serviceaccount", "reader")
    kubectl(pods, "create", "clusterrole", "reader", "--verb=get", "--resource=nodes/stats")
    kubectl(pods, "create", "clusterrolebinding", "reader", "--clusterrole=reader", "--serviceaccount=default:reader")
    token = kubectl(pods, "create", "token", "reader").stdout.strip()

    def ask(path: str) -> str:
        argv = [*STATUS, "-H", f"Authorization: Bearer {token}"]
        return proc.run([*argv, f"https://{pods.ip}:10250/{path}"], deadline_s=10).stdout

    assert ask("stats/summary?only_cpu_and_memory=true") == "200"
    assert {ask(path) for path in ("pods", "run/default/client/client?cmd=id", "logs/", "configz")} == {"403"}


def test_a_second_node_runs_beside_and_neither_sees_the_other(
    pods: NodeSpec, settings: Settings, images: NodeImages
) -> None:
    second = Up(settings, f"beside-{os.getpid()}", images, lambda _: None).start()
    try:
        assert second.ip != pods.ip
        assert not can_connect(pods, second.ip, 6443)
        assert json.loads(kubectl(second, "get", "pods", "-o", "json").stdout)["items"] == []
    finally:
        down.stop(settings, second)
    assert kubectl(pods, "get", "pod", "server", "-o", "jsonpath={.status.phase}").stdout == "Running"


def test_nothing_stays_after_down(settings: Settings, images: NodeImages) -> None:
    before = machine()
    spec = Up(settings, f"gone-{os.getpid()}", images, lambda _: None).start()
    assert machine() != before
    down.stop(settings, spec)
    assert machine() == before
    assert not spec.folder.exists()


@pytest.mark.parametrize("victim", ["owner", "supervisor"])
def test_nothing_stays_after_a_kill(settings: Settings, images: NodeImages, node: NodeSpec, victim: str) -> None:
    before = machine()
    with subprocess.Popen(["sleep", "600"]) as owner:
        started = start_time(owner.pid)
        assert started is not None
        start = Up(settings, f"kill-{victim}-{os.getpid()}", images, lambda _: None)
        spec = start.start(owner=Process(owner.pid, started))
        processes = pods_of(spec)
        assert len(processes) > 8
        supervisor = down.supervisor(spec)
        assert supervisor is not None
        os.kill(owner.pid if victim == "owner" else supervisor.pid, signal.SIGKILL)
        os.waitpid(owner.pid if victim == "owner" else supervisor.pid, 0)

        def gone() -> tuple[bool, str]:
            left = [pid for pid in processes if start_time(pid) is not None]
            return not left, f"{len(left)} processes"

        until("the node's processes gone", gone, deadline_s=10)
        down.clean(settings)
        assert machine() == before
        assert not spec.folder.exists()
        owner.kill()
    assert kubectl(node, "get", "nodes", "-o", "name").stdout == f"node/{node.name}\n"


def test_a_dead_component_ends_the_node_and_is_named(settings: Settings, images: NodeImages) -> None:
    spec = Up(settings, f"dead-{os.getpid()}", images, lambda _: None).start()
    try:
        kubelets = [pid for pid in pods_of(spec) if b"kubelet\0--config" in Path(f"/proc/{pid}/cmdline").read_bytes()]
        assert len(kubelets) == 1
        os.kill(kubelets[0], signal.SIGKILL)
        ended = spec.folder / "ended.json"
        until("the node ended", lambda: (ended.exists(), "running"), deadline_s=10)
        with pytest.raises(InfrastructureError, match="kubelet: ended with status -9"):
            down.raise_if_ended(spec)
    finally:
        down.stop(settings, spec)


def test_a_start_that_fails_leaves_its_logs_and_nothing_else(settings: Settings, images: NodeImages) -> None:
    before = machine()
    broken = NodeImages(images.archives, images.pause, "arena.local/no-such-image:0")
    start = Up(settings, f"broken-{os.getpid()}", broken, lambda _: None, deadline_s=12)
    with pytest.raises(InfrastructureError) as raised:
        start.start()
    assert "DNS ready" in raised.value.reason
    kept = Path(raised.value.remedy.removeprefix("logs are in "))
    assert (kept / "kubelet.log").stat().st_size > 0
    assert machine() == before


def test_a_taken_name_is_refused(settings: Settings, images: NodeImages, node: NodeSpec) -> None:
    with pytest.raises(UserError, match="exists already"):
        Up(settings, node.name, images, lambda _: None).start()
    assert down.is_running(node)


def test_its_peak_memory_is_recorded(node: NodeSpec) -> None:
    def seen() -> tuple[bool, str]:
        latest, peak = down.memory_mb(node)
        return 300 < latest <= peak < 3000, f"{latest} of {peak} MB"

    until("memory of a node", seen, deadline_s=10)
    assert time.time() - (node.folder / "memory.json").stat().st_mtime < 5
