import copy
from typing import Any

from incident_arena.formats.records import Facts
from incident_arena.stores.kubernetes import picture as kubernetes

DEPLOYMENT: dict[str, Any] = {
    "metadata": {"name": "web", "uid": "u1", "resourceVersion": "5", "generation": 1},
    "spec": {
        "replicas": 2,
        "template": {
            "metadata": {"labels": {"a": "b"}},
            "spec": {"containers": [{"name": "web", "image": "frappe:1", "env": [{"name": "X", "value": "1"}]}]},
        },
    },
    "status": {"readyReplicas": 2},
}
POD: dict[str, Any] = {
    "metadata": {
        "name": "load-x", "uid": "p1",
        "labels": {"app.kubernetes.io/name": "load", "incident-arena.io/class": "harness"},
    },
    "status": {"containerStatuses": [{"name": "load", "image": "h:1", "imageID": "sha256:1", "restartCount": 0}]},
}  # fmt: skip


def changed(kind: str, before: dict[str, Any], *path: Any, to: Any) -> set[str]:
    """Paths of the facts that differ when the value at `path` becomes `to`."""
    after = copy.deepcopy(before)
    at = after
    for step in path[:-1]:
        at = at.setdefault(step, {}) if isinstance(at, dict) else at[step]
    at[path[-1]] = to
    old, new = kubernetes.snapshot({kind: [before]}), kubernetes.snapshot({kind: [after]})
    return {each for each in old.keys() | new.keys() if old.get(each) != new.get(each)}


def facts(kind: str, item: dict[str, Any]) -> Facts:
    return kubernetes.snapshot({kind: [item]})


def test_what_changes_by_itself_is_no_difference() -> None:
    template = ("spec", "template", "metadata", "annotations")
    for path, to in (
        (("metadata", "resourceVersion"), "6"),
        (("metadata", "generation"), 2),
        (("metadata", "managedFields"), [{}]),
        (("status", "readyReplicas"), 0),
        ((*template, kubernetes.RESTARTED), "2026-01-01"),
    ):
        assert changed("deployments", DEPLOYMENT, *path, to=to) == set(), path
    restarts = ("status", "containerStatuses", 0, "restartCount")
    assert changed("pods", POD, *restarts, to=3) == set()


def test_what_someone_changed_is_one() -> None:
    container = ("spec", "template", "spec", "containers", 0)
    web = "deployments/web"
    assert changed("deployments", DEPLOYMENT, "metadata", "uid", to="u2") == {f"{web}/uid"}
    assert changed("deployments", DEPLOYMENT, "spec", "replicas", to=0) == {f"{web}/replicas"}
    assert changed("deployments", DEPLOYMENT, *container, "image", to="x") == {f"{web}/spec", f"{web}/image/web"}
    assert changed("deployments", DEPLOYMENT, *container, "env", 0, "value", to="2") == {f"{web}/spec"}
    assert changed("deployments", DEPLOYMENT, "spec", "template", "metadata", "annotations", "x", to="y") == {
        f"{web}/spec"
    }
    assert changed("pods", POD, "metadata", "uid", to="p2") == {"pods/load/uid"}
    assert changed("pods", POD, "status", "containerStatuses", 0, "imageID", to="2") == {"pods/load/image/load"}


def test_configuration_is_digested_key_by_key() -> None:
    secret = {"metadata": {"name": "s", "uid": "1"}, "data": {"a/b": "hunter2", "c": "x"}}
    assert changed("secrets", secret, "data", "a/b", to="other") == {"secrets/s/a%2Fb"}
    assert "hunter2" not in str(facts("secrets", secret))


def test_only_the_harness_own_pods_count_and_not_the_agents() -> None:
    application = copy.deepcopy(POD)
    application["metadata"]["labels"]["incident-arena.io/class"] = "application"
    agent = copy.deepcopy(POD)
    agent["metadata"]["labels"]["app.kubernetes.io/name"] = "agent"
    assert facts("pods", application) == facts("pods", agent) == {}


def test_paths_of_lists() -> None:
    assert kubernetes.list_path("pods", "arena") == "/api/v1/namespaces/arena/pods"
    assert kubernetes.list_path("deployments", "arena") == "/apis/apps/v1/namespaces/arena/deployments"
