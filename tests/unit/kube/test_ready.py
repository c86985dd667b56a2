from typing import Any

from incident_arena.kube.ready import judge

READY = {"conditions": [{"type": "Ready", "status": "True"}]}


def pod(name: str, status: dict[str, Any], *, owned: bool = True) -> dict[str, Any]:
    owners = {"ownerReferences": [{"name": "x"}]} if owned else {}
    return {"metadata": {"name": name, **owners}, "status": status}


def deployment(name: str, ready: int, *, generation: int = 2, observed: int = 2) -> dict[str, Any]:
    status = {"readyReplicas": ready, "updatedReplicas": ready, "observedGeneration": observed}
    return {"metadata": {"name": name, "generation": generation}, "spec": {"replicas": 1}, "status": status}


def job(name: str, kind: str = "", message: str = "") -> dict[str, Any]:
    conditions = [{"type": kind, "status": "True", "message": message}] if kind else []
    return {"metadata": {"name": name}, "spec": {}, "status": {"conditions": conditions}}


def test_all_up() -> None:
    state = judge([deployment("web", 1)], [job("setup", "Complete")], [pod("agent", READY, owned=False)])
    assert state.done
    assert (state.ready, state.total) == (3, 3)


def test_nothing_there_is_not_up() -> None:
    assert not judge([], [], []).done


def test_an_old_generation_is_not_up() -> None:
    assert not judge([deployment("web", 1, generation=3)], [], []).done


def test_a_pod_that_is_not_ready_says_why() -> None:
    waiting = {
        "name": "app",
        "ready": False,
        "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off"}},
        "lastState": {"terminated": {"exitCode": 3, "reason": "Error"}},
    }
    state = judge([deployment("web", 0)], [], [pod("web-1", {"phase": "Running", "containerStatuses": [waiting]})])
    assert state.waiting == ("web-1: container app: CrashLoopBackOff (back-off), last exit 3 Error",)
    assert not state.hopeless


def test_running_but_not_ready() -> None:
    running = {"name": "app", "ready": False, "state": {"running": {}}}
    state = judge([deployment("web", 0)], [], [pod("web-1", {"phase": "Running", "containerStatuses": [running]})])
    assert state.waiting == ("web-1: container app runs but is not ready",)


def test_not_scheduled() -> None:
    status = {"conditions": [{"type": "PodScheduled", "status": "False", "message": "0/1 nodes: too little cpu"}]}
    assert judge([], [], [pod("agent", status, owned=False)]).waiting == (
        "agent: not scheduled: 0/1 nodes: too little cpu",
    )


def test_an_image_that_is_not_there_and_a_failed_job_are_hopeless() -> None:
    waiting = {"name": "app", "state": {"waiting": {"reason": "ErrImageNeverPull"}}}
    state = judge(
        [deployment("web", 0)],
        [job("setup", "Failed", "BackoffLimitExceeded")],
        [pod("web-1", {"containerStatuses": [waiting]})],
    )
    assert state.hopeless == ("job setup: BackoffLimitExceeded", "web-1: container app: ErrImageNeverPull")


def test_a_workload_without_pods_is_named() -> None:
    assert judge([deployment("web", 0)], [], []).waiting == ("web: no pod yet",)


def test_a_pod_that_is_being_deleted_does_not_count() -> None:
    gone = pod("agent", READY, owned=False)
    gone["metadata"]["deletionTimestamp"] = "now"
    assert not judge([], [], [gone]).done
