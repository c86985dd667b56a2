"""The components' configuration files and command lines, all of them facts of one NodeSpec."""

import base64
import json
from pathlib import Path

import yaml

from incident_arena.node.pki import CLIENTS
from incident_arena.node.spec import API_PORT, DNS_SERVICE_IP, POD_CIDR, SERVICE_CIDR, NodeSpec

VOLUMES = 24
"""Persistent volumes that a node offers: an episode needs eight or so."""
POD_PROCESSES = 1024
"""Most processes and threads of a pod. The busiest, an agent's program with what it starts, has some 200."""


def write(spec: NodeSpec) -> None:
    """Write every configuration file, the folders that the components expect, and `commands.json` for process 1."""
    for folder in ("logs", "etcd", "containerd/state", "kubelet", "cni/conf", "cni/networks", "cni/lib", "pod-logs"):
        (spec.folder / folder).mkdir(parents=True, exist_ok=True)
    for number in range(VOLUMES):
        volume = volume_folder(spec, number)
        volume.mkdir(parents=True)
        volume.chmod(0o777)
    for name in [*CLIENTS, "kubelet"]:
        path = spec.kubeconfig if name == "admin" else spec.folder / f"{name}.kubeconfig"
        path.write_text(yaml.safe_dump(_kubeconfig(spec, name)))
        path.chmod(0o600)
    (spec.folder / "containerd.toml").write_text(_containerd(spec))
    (spec.folder / "cni/conf/10-pods.conflist").write_text(json.dumps(_cni(spec)))
    (spec.folder / "kubelet.yaml").write_text(yaml.safe_dump(_kubelet(spec)))
    (spec.folder / "commands.json").write_text(json.dumps(_commands(spec), indent=1))


def volume_folder(spec: NodeSpec, number: int) -> Path:
    """The folder behind a persistent volume."""
    return spec.volumes / f"pv-{number:02}"


def _kubeconfig(spec: NodeSpec, client: str) -> dict[str, object]:
    def data(file: str) -> str:
        return base64.b64encode((spec.folder / "pki" / file).read_bytes()).decode()

    cluster = {"server": spec.server, "certificate-authority-data": data("ca.crt")}
    user = {"client-certificate-data": data(f"{client}.crt"), "client-key-data": data(f"{client}.key")}
    context = {"cluster": spec.name, "user": client}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": spec.name, "cluster": cluster}],
        "users": [{"name": client, "user": user}],
        "contexts": [{"name": spec.name, "context": context}],
        "current-context": spec.name,
    }


def _containerd(spec: NodeSpec) -> str:
    root = spec.folder / "containerd"
    return f"""version = 3
root = "{root}/root"
state = "{root}/state"
[grpc]
  address = "{root}/containerd.sock"
[ttrpc]
  address = "{root}/containerd.sock.ttrpc"
[plugins."io.containerd.cri.v1.images".pinned_images]
  sandbox = "{spec.sandbox_image}"
[plugins."io.containerd.cri.v1.runtime"]
  restrict_oom_score_adj = true
  disable_apparmor = true
  [plugins."io.containerd.cri.v1.runtime".cni]
    bin_dirs = ["{spec.bin}"]
    conf_dir = "{spec.folder}/cni/conf"
  [plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc.options]
      SystemdCgroup = false
      BinaryName = "{spec.bin}/runc"
"""


def _cni(spec: NodeSpec) -> dict[str, object]:
    """Each pod on a link of its own (ptp), so that all traffic between pods is routed and meets the firewall."""
    ipam = {
        "type": "host-local",
        "dataDir": str(spec.folder / "cni/networks"),
        "ranges": [[{"subnet": POD_CIDR}]],
        "routes": [{"dst": "0.0.0.0/0"}],
    }
    return {
        "cniVersion": "1.0.0",
        "name": "pods",
        "plugins": [
            {"type": "ptp", "ipMasq": False, "ipam": ipam},
            {"type": "portmap", "capabilities": {"portMappings": True}},
        ],
    }


def _kubelet(spec: NodeSpec) -> dict[str, object]:
    pki = spec.folder / "pki"
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": True},  # the referee asks it for figures with its account
            "x509": {"clientCAFile": str(pki / "ca.crt")},
        },
        "authorization": {"mode": "Webhook"},
        "tlsCertFile": str(pki / "kubelet.crt"),
        "tlsPrivateKeyFile": str(pki / "kubelet.key"),
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": f"/{spec.cgroup}/pods",
        "cgroupsPerQOS": True,
        "enforceNodeAllocatable": [],
        "failCgroupV1": False,
        "failSwapOn": False,
        "featureGates": {"KubeletInUserNamespace": True},  # rlimits and some sysctls can't be set everywhere
        "containerRuntimeEndpoint": f"unix://{spec.folder}/containerd/containerd.sock",
        "clusterDNS": [DNS_SERVICE_IP],
        "clusterDomain": "cluster.local",
        "resolvConf": "",
        "podLogsDir": str(spec.folder / "pod-logs"),
        "podPidsLimit": POD_PROCESSES,
        # What a pod prints is on disk: look often whether it is time to begin a new file, and keep one old one.
        "containerLogMaxFiles": 2,
        "containerLogMonitorInterval": "3s",
        "evictionHard": {"nodefs.available": "1%", "imagefs.available": "1%", "memory.available": "100Mi"},
        "imageGCHighThresholdPercent": 100,
        "localStorageCapacityIsolation": False,
        "crashLoopBackOff": {"maxContainerRestartPeriod": "5s"},  # a repair shows soon after it is made
        "nodeStatusUpdateFrequency": "4s",
        "syncFrequency": "10s",
        "serializeImagePulls": False,
        "registryPullQPS": 0,
        "eventRecordQPS": 50,
        "kubeAPIQPS": 200,
        "kubeAPIBurst": 400,
        "maxPods": 200,
        "shutdownGracePeriod": "0s",
    }


def _commands(spec: NodeSpec) -> list[dict[str, object]]:
    """The components in their order; `after` names what must answer before one starts."""
    pki, bin_, folder = spec.folder / "pki", spec.bin, spec.folder
    api = [
        f"{bin_}/kube-apiserver",
        "--etcd-servers=http://127.0.0.1:2379",
        f"--secure-port={API_PORT}",
        f"--advertise-address={spec.ip}",
        f"--service-cluster-ip-range={SERVICE_CIDR}",
        "--authorization-mode=Node,RBAC",
        f"--client-ca-file={pki}/ca.crt",
        f"--tls-cert-file={pki}/apiserver.crt",
        f"--tls-private-key-file={pki}/apiserver.key",
        f"--kubelet-client-certificate={pki}/apiserver-kubelet-client.crt",
        f"--kubelet-client-key={pki}/apiserver-kubelet-client.key",
        f"--service-account-key-file={pki}/sa.pub",
        f"--service-account-signing-key-file={pki}/sa.key",
        "--service-account-issuer=https://kubernetes.default.svc",
        "--allow-privileged=true",
        "--anonymous-auth=true",
        "--kubelet-preferred-address-types=InternalIP",
        "--profiling=false",
        # One node: a taint until it is Ready, and its later removal, only delay the first pods by a back-off.
        "--disable-admission-plugins=TaintNodesByCondition",
        f"--cert-dir={pki}",
        "--max-requests-inflight=1000",
    ]
    etcd = [
        f"{bin_}/etcd",
        f"--data-dir={folder}/etcd",
        "--unsafe-no-fsync",  # the node is disposable
        "--listen-client-urls=http://127.0.0.1:2379",
        "--advertise-client-urls=http://127.0.0.1:2379",
        "--listen-peer-urls=http://127.0.0.1:2380",
        "--log-level=warn",
    ]
    manager = [
        f"{bin_}/kube-controller-manager",
        f"--kubeconfig={folder}/kube-controller-manager.kubeconfig",
        f"--service-account-private-key-file={pki}/sa.key",
        f"--root-ca-file={pki}/ca.crt",
        "--leader-elect=false",
        "--controllers=*,-node-lifecycle-controller",  # as above; and there is no other node to evict pods to
        "--use-service-account-credentials=false",
        f"--cluster-cidr={POD_CIDR}",
        "--allocate-node-cidrs=true",
        "--node-cidr-mask-size=24",
        f"--service-cluster-ip-range={SERVICE_CIDR}",
        "--kube-api-qps=200",
        "--kube-api-burst=400",
        "--concurrent-deployment-syncs=10",
        "--bind-address=127.0.0.1",
    ]
    scheduler = [
        f"{bin_}/kube-scheduler",
        f"--kubeconfig={folder}/kube-scheduler.kubeconfig",
        "--leader-elect=false",
        "--bind-address=127.0.0.1",
        "--kube-api-qps=200",
        "--kube-api-burst=400",
    ]
    kubelet = [
        f"{bin_}/kubelet",
        f"--config={folder}/kubelet.yaml",
        f"--kubeconfig={folder}/kubelet.kubeconfig",
        f"--root-dir={folder}/kubelet",
        f"--hostname-override={spec.name}",
        f"--node-ip={spec.ip}",
    ]
    proxy = [
        f"{bin_}/kube-proxy",
        f"--kubeconfig={folder}/kube-proxy.kubeconfig",
        f"--hostname-override={spec.name}",
        "--proxy-mode=nftables",
        "--conntrack-max-per-core=0",
        "--conntrack-tcp-timeout-established=0",
        "--conntrack-tcp-timeout-close-wait=0",
        f"--cluster-cidr={POD_CIDR}",
        "--nodeport-addresses=127.0.0.0/8",
    ]
    policies = [
        f"{bin_}/kube-policies",
        f"--kubeconfig={folder}/kube-policies.kubeconfig",
        f"--hostname-override={spec.name}",
        f"--service-cluster-ip-range={SERVICE_CIDR}",
    ]
    containerd = [f"{bin_}/containerd", "--config", f"{folder}/containerd.toml"]
    return [
        {"name": "etcd", "argv": etcd, "after": ""},
        {"name": "containerd", "argv": containerd, "after": ""},
        {"name": "kube-apiserver", "argv": api, "after": ""},
        {"name": "kubelet", "argv": kubelet, "after": "api"},
        {"name": "kube-controller-manager", "argv": manager, "after": "api"},
        {"name": "kube-scheduler", "argv": scheduler, "after": "api"},
        {"name": "kube-proxy", "argv": proxy, "after": "api"},
        {"name": "kube-policies", "argv": policies, "after": "node"},
    ]
