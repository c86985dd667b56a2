"""The picture of a namespace's managed objects, made from the API's lists.

    <kind>/<name>/uid                     which object it is: one deleted and made again differs
    <kind>/<name>/spec                    digest of what it asks for, without the parts below
    deployments|statefulsets/<name>/replicas
    <kind>/<name>/image/<container>       image of each container, init containers too
    configmaps|secrets/<name>/<key>       digest of the value
    pods/<component>/uid                  only pods of the harness: none of theirs may be replaced
    pods/<component>/image/<container>    image by its digest, as it runs

Left out, because they change by themselves or only follow from what is here: status, resource versions, generations,
managed fields; ReplicaSets, ControllerRevisions, Endpoints and EndpointSlices, Events and Leases; the application's
pods (a restart is no difference, the action log has it); the time of a restart that a rollout writes into a template;
the agent's own pod, which is gone before snapshot C by design.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from incident_arena.formats.records import Facts
from incident_arena.stores.base import digest, segment

type Json = dict[str, Any]

LISTS = {
    "deployments": "apis/apps/v1",
    "statefulsets": "apis/apps/v1",
    "daemonsets": "apis/apps/v1",
    "jobs": "apis/batch/v1",
    "cronjobs": "apis/batch/v1",
    "networkpolicies": "apis/networking.k8s.io/v1",
    "roles": "apis/rbac.authorization.k8s.io/v1",
    "rolebindings": "apis/rbac.authorization.k8s.io/v1",
    "services": "api/v1",
    "serviceaccounts": "api/v1",
    "persistentvolumeclaims": "api/v1",
    "configmaps": "api/v1",
    "secrets": "api/v1",
    "pods": "api/v1",
}
"""Kinds by their plural, with the API group that lists them."""

AGENT = "agent"
COMPONENT = "app.kubernetes.io/name"
CLASS = "incident-arena.io/class"
RESTARTED = "kubectl.kubernetes.io/restartedAt"
_OWN_FACTS = frozenset({"replicas", "data", "binaryData", "stringData"})
_NOT_ASKED = frozenset({"apiVersion", "kind", "metadata", "status"})


def list_path(kind: str, namespace: str) -> str:
    """The path of the API that lists a kind in a namespace."""
    return f"/{LISTS[kind]}/namespaces/{namespace}/{kind}"


def snapshot(lists: Mapping[str, Sequence[Json]]) -> Facts:
    """Flatten lists of objects, each as the API gives them, by kind."""
    facts: Facts = {}
    for kind, items in lists.items():
        for item in items:
            facts.update(_pod(item) if kind == "pods" else _object(kind, item))
    return facts


def _object(kind: str, item: Json) -> Facts:
    base = f"{kind}/{segment(item['metadata']['name'])}"
    asked = {name: value for name, value in item.items() if name not in _NOT_ASKED and name not in _OWN_FACTS}
    spec = dict(asked.get("spec") or {})
    facts: Facts = {f"{base}/uid": item["metadata"]["uid"]}
    if "replicas" in spec:
        facts[f"{base}/replicas"] = spec.pop("replicas")
    if "template" in spec:
        spec["template"] = _without_restart(spec["template"])
        facts.update({f"{base}/image/{name}": image for name, image in _images(spec["template"].get("spec", {}))})
    facts[f"{base}/spec"] = digest(json.dumps({**asked, "spec": spec}, sort_keys=True))
    for field in ("data", "binaryData"):
        for key, value in (item.get(field) or {}).items():
            facts[f"{base}/{segment(key)}"] = digest(value)
    return facts


def _without_restart(template: Json) -> Json:
    metadata = dict(template.get("metadata") or {})
    notes = {name: value for name, value in (metadata.pop("annotations", None) or {}).items() if name != RESTARTED}
    return {**template, "metadata": {**metadata, **({"annotations": notes} if notes else {})}}


def _images(spec: Json) -> Iterator[tuple[str, str]]:
    for field in ("initContainers", "containers"):
        for container in spec.get(field) or []:
            yield segment(container["name"]), container["image"]


def _pod(item: Json) -> Facts:
    labels = item["metadata"].get("labels") or {}
    component = labels.get(COMPONENT, "")
    if labels.get(CLASS) != "harness" or component == AGENT or item["metadata"].get("deletionTimestamp"):
        return {}
    base = f"pods/{segment(component)}"
    facts: Facts = {f"{base}/uid": item["metadata"]["uid"]}
    for status in item.get("status", {}).get("containerStatuses") or []:
        facts[f"{base}/image/{segment(status['name'])}"] = status.get("imageID") or status["image"]
    return facts
