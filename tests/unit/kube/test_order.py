"""What others wait for is created first."""

from incident_arena.kube.order import stores_first

MANIFESTS = """---
# Source: x
apiVersion: v1
kind: Secret
data: {text: "kind: Pod"}
---
kind: Pod
---
kind: Deployment
spec: |
  ---
---
kind: StatefulSet

---

---
kind: Job
"""


def test_deployments_and_pods_come_last_and_nothing_is_lost() -> None:
    ordered = stores_first(MANIFESTS)
    kinds = [line.split()[1] for line in ordered.splitlines() if line.startswith("kind:")]
    assert kinds == ["Secret", "StatefulSet", "Job", "Pod", "Deployment"]
    assert "  ---\n" in ordered


def test_ordering_again_changes_nothing() -> None:
    assert stores_first(stores_first(MANIFESTS)) == stores_first(MANIFESTS)
