"""Status, logs, restart, pause, resume and scale; and that the harness is out of reach."""

import pytest


async def test_status_shows_the_application_alone(call) -> None:
    _, answer = await call("GET", "/components")
    assert set(answer["components"]) == {"web", "mariadb"}
    (pod,) = answer["components"]["web"]["pods"]
    assert (pod["restarts"], pod["waiting"], pod["last_exit"]["code"]) == (3, "CrashLoopBackOff", 1)


async def test_logs_of_a_component(call) -> None:
    _, answer = await call("GET", "/components/web/logs?lines=7")
    assert answer["pods"]["web-abc"][0].startswith("7 lines of")


@pytest.mark.parametrize("query", ["lines=0", "lines=9999999", "lines=x", "lines=%2D1", "which=all"])
async def test_odd_queries_are_refused(call, query: str) -> None:
    assert (await call("GET", f"/components/web/logs?{query}"))[0] == 400


HARNESS = (
    "agent",
    "referee",
    "load",
    "admin",
    "prometheus",
    "mariadb-exporter",
    "probe-exporter",
    "..%2fpods",
    "web%2f..",
)


@pytest.mark.parametrize("component", HARNESS)
async def test_the_harness_is_out_of_reach(call, cluster, component: str) -> None:
    for verb, body in (("restart", None), ("pause", None), ("resume", None), ("scale", {"replicas": 0})):
        assert (await call("POST", f"/components/{component}/{verb}", body))[0] == 404
    assert (await call("GET", f"/components/{component}/logs"))[0] == 404
    assert cluster.calls == []


async def test_restart_rolls_a_deployment_and_deletes_a_stateful_pod(call, cluster) -> None:
    await call("POST", "/components/web/restart")
    await call("POST", "/components/mariadb/restart")
    assert cluster.calls == [("PATCH", "deployments/web"), ("DELETE", "pods/mariadb-0")]
    assert cluster.objects["deployments/web"]["spec"]["replicas"] == 1
    assert "kubectl.kubernetes.io/restartedAt" in str(cluster.objects["deployments/web"]["spec"]["template"])


async def test_pause_and_resume_keep_the_replicas(call, cluster) -> None:
    web = cluster.objects["deployments/web"]
    web["spec"]["replicas"] = 2
    assert (await call("POST", "/components/web/pause"))[0] == 200
    assert web["spec"]["replicas"] == 0
    assert (await call("POST", "/components/web/pause"))[0] == 409
    assert (await call("GET", "/components"))[1]["components"]["web"]["paused"]
    assert (await call("POST", "/components/web/resume"))[0] == 200
    assert web["spec"]["replicas"] == 2
    assert web["metadata"]["annotations"] == {}
    assert (await call("POST", "/components/web/resume"))[0] == 409


@pytest.mark.parametrize("replicas", [-1, 6, 1.5, "1", None])
async def test_scale_takes_a_small_whole_number(call, replicas: object) -> None:
    assert (await call("POST", "/components/web/scale", {"replicas": replicas}))[0] == 400


async def test_scale_sets_replicas(call, cluster) -> None:
    assert (await call("POST", "/components/web/scale", {"replicas": 3}))[0] == 200
    assert cluster.objects["deployments/web"]["spec"]["replicas"] == 3
    assert (await call("POST", "/components/mariadb/scale", {"replicas": 2}))[0] == 400
    assert (await call("POST", "/components/mariadb/scale", {"replicas": 0}))[0] == 200
    assert call.actions()[-1]["what"] == "scale-to-zero"


async def test_a_cluster_that_is_not_reached_is_said(call, cluster) -> None:
    cluster.hangs_up = True
    status, answer = await call("GET", "/components")
    assert (status, "could not be reached" in answer["error"]["reason"]) == (502, True)


async def test_a_cluster_that_fails_is_said_and_audited(call, cluster) -> None:
    del cluster.objects["deployments/web"]
    status, answer = await call("POST", "/components/web/scale", {"replicas": 1})
    assert status == 502
    assert "404" in answer["error"]["reason"]
    # It had begun: what it did until then must not be a way to do it unseen.
    assert call.actions()[-1]["ok"] is True
    assert call.actions()[-1]["detail"].endswith("(interrupted: it may have taken effect)")
