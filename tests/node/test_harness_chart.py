"""The harness chart, rendered by the node's helm: what holds for every pod, and the network's openings."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.support import evidence as evidences

from incident_arena import proc
from incident_arena.catalogue.export import compose
from incident_arena.catalogue.finding import Catalogue
from incident_arena.folders import PACKAGE
from incident_arena.proc import CommandError
from incident_arena.settings import Settings
from incident_arena.stores.base import StoreSpec, read_specs

pytestmark = pytest.mark.node
ACCOUNTS = ("operator", "admin", "referee", "exporter", "adminToken", "loadToken", "load")

STORES = [
    {
        "name": "mariadb", "kind": "mariadb", "port": 3306, "account": "site", "options": {"database": "site"},
        "mounts": {"config": {"claim": "mariadb-config", "admin": "write"}, "audit": {"claim": "mariadb-audit"}},
        "exporter": {"port": 9104},
    },
    {
        "name": "redis-queue", "kind": "redis", "port": 6379, "account": "app",
        "mounts": {"data": {"claim": "redis-queue-data", "admin": "read"}}, "exporter": {"port": 9121},
    },
    {"name": "redis-cache", "kind": "redis", "port": 6379, "account": "app", "exporter": {"port": 9121}},
    {"name": "jobs", "kind": "rq", "host": "redis-queue", "port": 6379, "account": "app"},
]  # fmt: skip


@pytest.fixture(scope="session")
def chart(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As the export composes it, with what frappe's stores and the surface add."""
    out = tmp_path_factory.mktemp("chart") / "chart"
    compose(Catalogue(PACKAGE), evidences.task(), out)
    return out / "charts" / "harness"


@pytest.fixture(scope="session")
def helm() -> str:
    return str(Settings.from_environment().bin / "helm")


def values(**application: Any) -> dict[str, Any]:
    return {
        "global": {
            "images": {"agent": "agent:1", "harness": "harness:1", "telemetry": "telemetry:1"}
            | {"coredns": "coredns:1", "gateway": "gateway:1"},
            "accounts": {name: f"password-of-{name}." for name in ACCOUNTS},
            "task": {"name": "frappe/y", "substrate": "frappe", "vocabulary": ["mariadb.grants"]},
            "episode": "e1",
        },
        "cluster": {"apiServer": {"addresses": ["10.0.0.1"]}},
        "application": {
            "components": {"web": "Deployment", "mariadb": "StatefulSet"},
            "connections": {"db-user": {"object": "ConfigMap", "name": "c", "key": "U", "consumers": ["web"]}},
            "loadAccounts": {"LOAD_API_SECRET": "load"},
            "lookingDoor": {"component": "edge", "port": 8081},
            "stores": STORES,
            **application,
        },
    }


def render(helm: str, given: dict[str, Any], chart: Path) -> list[dict[str, Any]]:
    argv = [helm, "template", "arena", chart, "--namespace=arena", "--values=-"]
    return [
        item for item in yaml.safe_load_all(proc.run(argv, deadline_s=30, stdin=yaml.safe_dump(given)).stdout) if item
    ]


@pytest.fixture
def objects(helm: str, chart: Path) -> dict[tuple[str, str], dict[str, Any]]:
    items = render(helm, values(), chart)
    return {(item["kind"], item["metadata"]["name"]): item for item in items}


def pods(objects: dict[tuple[str, str], dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Component → pod (template)."""
    found = {name: item["spec"]["template"] for (kind, name), item in objects.items() if kind == "Deployment"}
    return found | {name: item for (kind, name), item in objects.items() if kind == "Pod"}


def test_all_of_the_harness_is_there(objects) -> None:
    assert set(pods(objects)) == {
        "agent", "referee", "load", "admin", "prometheus", "mariadb-exporter", "redis-cache-exporter",
        "redis-queue-exporter", "probe-exporter", "dns-filter", "tls-gateway", "egress-proxy",
    }  # fmt: skip


def test_no_pod_has_more_rights_than_it_needs(objects) -> None:
    for name, pod in pods(objects).items():
        spec, (container,) = pod["spec"], pod["spec"]["containers"]
        assert pod["metadata"]["labels"] == {"app.kubernetes.io/name": name, "incident-arena.io/class": "harness"}
        assert spec["automountServiceAccountToken"] is (name in {"admin", "referee"})
        assert spec["enableServiceLinks"] is False
        assert spec["securityContext"]["runAsNonRoot"] is True
        assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        closed = {"readOnlyRootFilesystem": True} if name == "agent" else {}
        rights = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
        assert container["securityContext"] == rights | closed
        assert container["imagePullPolicy"] == "Never"
        assert "memory" in container["resources"]["limits"]


def test_the_agent_gets_its_own_words_alone(objects) -> None:
    agent = objects["Pod", "agent"]
    names = {e["valueFrom"]["secretKeyRef"]["name"] for e in agent["spec"]["containers"][0]["env"] if "valueFrom" in e}
    assert names == {"harness-agent"}
    words = " ".join(objects["Secret", "harness-agent"]["stringData"].values())
    assert {name for name in ACCOUNTS if f"password-of-{name}." in words} == {"operator", "adminToken"}
    assert {next(iter(set(v) - {"name"})) for v in agent["spec"]["volumes"]} == {"secret", "configMap", "emptyDir"}


def test_the_admins_rights_name_their_objects(objects) -> None:
    rules = objects["Role", "admin"]["rules"]
    for rule in rules:
        assert set(rule["verbs"]) <= {"get", "list"} or rule["resourceNames"]
    named = {(rule["resources"][0], *rule["resourceNames"]) for rule in rules if "resourceNames" in rule}
    assert named == {("deployments", "web"), ("statefulsets", "mariadb"), ("pods", "mariadb-0"), ("configmaps", "c")}


def test_the_referee_reads_the_kubelets_figures_and_nothing_else_of_the_cluster(objects) -> None:
    of_cluster = {(kind, name) for kind, name in objects if kind.startswith("Cluster")}
    assert of_cluster == {("ClusterRole", "arena-referee"), ("ClusterRoleBinding", "arena-referee")}
    rules = objects["ClusterRole", "arena-referee"]["rules"]
    assert rules == [{"apiGroups": [""], "resources": ["nodes/stats"], "verbs": ["get"]}]
    subjects = objects["ClusterRoleBinding", "arena-referee"]["subjects"]
    assert subjects == [{"kind": "ServiceAccount", "name": "referee", "namespace": "arena"}]
    policies = {name: item["spec"] for (kind, name), item in objects.items() if kind == "NetworkPolicy"}
    open_to = {name for name, spec in policies.items() if "10250" in str(spec)}
    assert open_to == {"from-referee"}


def test_the_admin_writes_option_files_and_reads_the_rest(objects) -> None:
    mounts = {
        m["name"]: m.get("readOnly", False) for m in pods(objects)["admin"]["spec"]["containers"][0]["volumeMounts"]
    }
    assert mounts == {"admin-audit": False, "mariadb-config": False, "redis-queue-data": True}


def test_referee_and_admin_are_told_of_every_store_and_of_what_each_mounts(objects) -> None:
    def told(name: str) -> dict[str, StoreSpec]:
        env = {each["name"]: each.get("value", "") for each in pods(objects)[name]["spec"]["containers"][0]["env"]}
        return {spec.name: spec for spec in read_specs(env["STORES"])}

    for name in ("referee", "admin"):
        found = told(name)
        assert {(one.name, one.kind, one.host, one.port, one.account) for one in found.values()} == {
            ("mariadb", "mariadb", "mariadb", 3306, "site"),
            ("redis-queue", "redis", "redis-queue", 6379, "app"),
            ("redis-cache", "redis", "redis-cache", 6379, "app"),
            ("jobs", "rq", "redis-queue", 6379, "app"),
        }
        assert found["mariadb"].options == {"database": "site"}
        mounts = {mount["mountPath"] for mount in pods(objects)[name]["spec"]["containers"][0]["volumeMounts"]}
        assert {str(path) for one in found.values() for path in one.folders.values()} <= mounts
    assert set(told("referee")["mariadb"].folders) == {"config", "audit"}
    assert set(told("admin")["mariadb"].folders) == {"config"}
    referee = pods(objects)["referee"]["spec"]["containers"][0]["volumeMounts"]
    stores = {"/mariadb-config", "/mariadb-audit", "/redis-queue-data"}
    assert {mount["mountPath"] for mount in referee if mount.get("readOnly")} >= stores


def test_load_and_referee_get_the_applications_own_python(objects) -> None:
    held = objects["ConfigMap", "substrate"]["data"]
    assert held == {file.name: file.read_text() for file in Catalogue(PACKAGE).substrate("frappe").glob("*.py")}
    for name in ("load", "referee"):
        mounts = pods(objects)[name]["spec"]["containers"][0]["volumeMounts"]
        (mount,) = [each for each in mounts if each["name"] == "substrate"]
        assert mount["mountPath"] == "/opt/arena/incident_arena/substrates/frappe"
        assert mount["readOnly"] is True


def openings(objects, side: str, kind: str) -> list[dict[str, Any]]:
    return objects["NetworkPolicy", f"{side}"]["spec"][kind]


def test_everything_is_closed_that_is_not_opened(objects) -> None:
    deny = objects["NetworkPolicy", "default-deny"]["spec"]
    assert deny == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
    seen = {
        (rule["to"][0]["podSelector"]["matchLabels"]["app.kubernetes.io/name"], port["port"])
        for rule in openings(objects, "from-agent", "egress")
        for port in rule["ports"]
    }
    assert seen == {
        ("mariadb", 3306), ("redis-cache", 6379), ("redis-queue", 6379), ("admin", 8080), ("edge", 8081),
        ("prometheus", 9090),
    }  # fmt: skip
    for (kind, name), item in objects.items():
        if kind == "NetworkPolicy" and name != "default-deny":
            for rule in item["spec"].get("egress", []) + item["spec"].get("ingress", []):
                assert rule["ports"]
                assert rule.get("to") or rule.get("from")


def test_each_opening_has_both_sides(objects) -> None:
    def pairs(kind: str, other: str) -> set[tuple[str, str, int]]:
        found = set()
        for (what, _), item in objects.items():
            if what != "NetworkPolicy" or kind not in item["spec"]:
                continue
            own = str(sorted(item["spec"]["podSelector"]["matchLabels"].items()))
            for rule in item["spec"][kind]:
                for peer in rule[other]:
                    if "podSelector" in peer and "namespaceSelector" not in peer:
                        labels = str(sorted(peer["podSelector"]["matchLabels"].items()))
                        ends = (own, labels) if kind == "egress" else (labels, own)
                        found |= {(*ends, port["port"]) for port in rule["ports"]}
        return found

    assert pairs("egress", "to") == pairs("ingress", "from") != set()


def test_a_frozen_agent_is_in_no_opening(objects) -> None:
    frozen = [{"key": "incident-arena.io/frozen", "operator": "DoesNotExist"}]
    assert objects["NetworkPolicy", "from-agent"]["spec"]["podSelector"]["matchExpressions"] == frozen
    let_in = {
        name: rule["from"][0]["podSelector"].get("matchExpressions")
        for (kind, name), item in objects.items()
        if kind == "NetworkPolicy" and name not in {"to-dns-filter", "to-tls-gateway"}
        for rule in item["spec"].get("ingress", [])
        if rule["from"][0]["podSelector"]["matchLabels"] == {"app.kubernetes.io/name": "agent"}
    }
    reached = {"to-admin", "to-mariadb", "to-redis-queue", "to-redis-cache", "to-edge", "to-prometheus"}
    assert let_in == dict.fromkeys(reached, frozen)
    other = [{"key": "app.kubernetes.io/name", "operator": "NotIn", "values": ["agent"]}]
    assert objects["NetworkPolicy", "from-class-harness"]["spec"]["podSelector"]["matchExpressions"] == other


def test_only_the_way_to_its_model_stays_open_until_an_agents_turn_is_over(objects) -> None:
    policy = objects["NetworkPolicy", "from-agent-declared"]["spec"]
    assert policy["podSelector"]["matchExpressions"] == [
        {"key": "incident-arena.io/frozen", "operator": "NotIn", "values": ["ended"]}
    ]
    reached = {rule["to"][0]["podSelector"]["matchLabels"]["app.kubernetes.io/name"] for rule in policy["egress"]}
    assert reached == {"dns-filter", "tls-gateway"}


def test_without_a_relay_the_egress_proxy_reaches_nothing(objects) -> None:
    assert ("NetworkPolicy", "from-egress-proxy") not in objects


def test_with_one_it_reaches_that_and_nothing_else(helm: str, chart: Path) -> None:
    given = values()
    given["global"]["egress"] = {"relay": {"address": "10.9.1.1", "port": 4711, "token": "t"}}
    items = render(helm, given, chart)
    (policy,) = [item for item in items if item["metadata"]["name"] == "from-egress-proxy"]
    assert policy["spec"]["egress"] == [
        {"to": [{"ipBlock": {"cidr": "10.9.1.1/32"}}], "ports": [{"port": 4711, "protocol": "TCP"}]}
    ]


def test_only_referee_and_admin_reach_the_api_server(objects) -> None:
    reaching = [name for (kind, name), item in objects.items() if kind == "NetworkPolicy" and "ipBlock" in str(item)]
    assert sorted(reaching) == ["from-admin", "from-referee"]


@pytest.mark.parametrize("missing", ["accounts", "images", "task", "episode"])
def test_a_value_that_is_missing_is_named(helm: str, chart: Path, missing: str) -> None:
    given = values()
    del given["global"][missing]
    with pytest.raises(CommandError, match=rf"the value {missing}\S* is not set"):
        render(helm, given, chart)
