"""What every node has besides its components: DNS, a default storage class and its volumes."""

import yaml

from incident_arena.node import config
from incident_arena.node.spec import DNS_SERVICE_IP, NodeSpec

type Manifest = dict[str, object]

COREFILE = """.:53 {
    errors
    health
    ready
    kubernetes cluster.local in-addr.arpa {
        pods disabled
        ttl 5
    }
    cache 5
}
"""


def render(spec: NodeSpec, coredns_image: str) -> str:
    """All of it, as one YAML stream."""
    return yaml.safe_dump_all([*_storage(spec), *_dns(coredns_image)])


def _storage(spec: NodeSpec) -> list[Manifest]:
    """Folders of the node as `local` volumes: they honour fsGroup, and binding one starts no helper pod."""
    storage_class: Manifest = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "standard", "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}},
        "provisioner": "kubernetes.io/no-provisioner",
        "volumeBindingMode": "Immediate",
        "reclaimPolicy": "Retain",
    }
    terms = [{"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": [spec.name]}]}]
    volumes: list[Manifest] = [
        {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": f"local-{number:02}"},
            "spec": {
                "capacity": {"storage": "10Gi"},
                "accessModes": ["ReadWriteOnce", "ReadWriteMany"],
                "persistentVolumeReclaimPolicy": "Retain",
                "storageClassName": "standard",
                "local": {"path": str(config.volume_folder(spec, number))},
                "nodeAffinity": {"required": {"nodeSelectorTerms": terms}},
            },
        }
        for number in range(config.VOLUMES)
    ]
    return [storage_class, *volumes]


def _dns(image: str) -> list[Manifest]:
    name = {"name": "coredns", "namespace": "kube-system"}
    labels = {"k8s-app": "kube-dns"}
    rules = [
        {"apiGroups": [""], "resources": ["services", "namespaces"], "verbs": ["list", "watch"]},
        {"apiGroups": ["discovery.k8s.io"], "resources": ["endpointslices"], "verbs": ["list", "watch"]},
    ]
    container = {
        "name": "coredns",
        "image": image,
        "imagePullPolicy": "Never",
        "args": ["-conf", "/etc/coredns/Corefile"],
        "ports": [{"containerPort": 53, "protocol": "UDP"}, {"containerPort": 53, "protocol": "TCP"}],
        "readinessProbe": {"httpGet": {"path": "/ready", "port": 8181}, "periodSeconds": 1},
        "resources": {"requests": {"cpu": "20m", "memory": "30Mi"}, "limits": {"memory": "120Mi"}},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"], "add": ["NET_BIND_SERVICE"]},
            "readOnlyRootFilesystem": True,
        },
        "volumeMounts": [{"name": "config", "mountPath": "/etc/coredns"}],
    }
    pod = {
        "serviceAccountName": "coredns",
        "dnsPolicy": "Default",
        "enableServiceLinks": False,
        "containers": [container],
        "volumes": [{"name": "config", "configMap": {"name": "coredns"}}],
    }
    ports = [{"name": "dns", "port": 53, "protocol": "UDP"}, {"name": "dns-tcp", "port": 53, "protocol": "TCP"}]
    role_ref = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "system:coredns"}
    subject = {"kind": "ServiceAccount", **name}
    rbac = "rbac.authorization.k8s.io/v1"
    return [
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": name},
        {"apiVersion": rbac, "kind": "ClusterRole", "metadata": {"name": "system:coredns"}, "rules": rules},
        {
            "apiVersion": rbac,
            "kind": "ClusterRoleBinding",
            "metadata": {"name": "system:coredns"},
            "roleRef": role_ref,
            "subjects": [subject],
        },
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": name, "data": {"Corefile": COREFILE}},
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": name,
            "spec": {
                "replicas": 1,
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": pod},
            },
        },
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": "kube-dns", "namespace": "kube-system"},
            "spec": {"clusterIP": DNS_SERVICE_IP, "selector": labels, "ports": ports},
        },
    ]
