"""The admin interface's verbs on the real cluster, with its service account's rights, by the agent's command."""

import json
from typing import Any

import pytest

from incident_arena import wait

pytestmark = [pytest.mark.episode, pytest.mark.timeout(1500)]


def admin(deployed, words: str) -> dict[str, Any]:
    done = deployed.agent(f"admin {words}")
    assert done.exit == 0, done.stderr
    return json.loads(done.stdout)


def until_pods(deployed, component: str, condition: str, true) -> None:
    def probe() -> tuple[bool, str]:
        status = admin(deployed, f"components {component}")["components"][component]
        return true(status), str(status)

    wait.until(f"{component} {condition}", probe, deadline_s=90, every_s=1)


def names(status: dict[str, Any]) -> set[str]:
    return {pod["name"] for pod in status["pods"]}


def test_a_restart_replaces_a_deployments_pods(deployed) -> None:
    before = names(admin(deployed, "components worker-long")["components"]["worker-long"])
    assert admin(deployed, "restart worker-long") == {"restarted": "worker-long"}
    until_pods(deployed, "worker-long", "is new and ready", lambda s: s["ready"] == 1 and not names(s) & before)


def test_a_restart_replaces_a_stores_pod(deployed) -> None:
    before = admin(deployed, "components redis-cache")["components"]["redis-cache"]["pods"][0]["started"]
    admin(deployed, "restart redis-cache")
    until_pods(
        deployed, "redis-cache", "is new and ready", lambda s: s["ready"] == 1 and s["pods"][0]["started"] != before
    )


def test_jobs_outlive_a_restart_of_the_queue(deployed) -> None:
    def finished() -> int:
        said = deployed.agent("redis-cli --user operator -h redis-queue ZCARD rq:finished:site:default").stdout
        return int(said) if said.strip().isdecimal() else 0

    wait.until("jobs are done", lambda: (finished() >= 5, f"{finished()}"), deadline_s=60, every_s=1)
    done = finished()
    before = admin(deployed, "components redis-queue")["components"]["redis-queue"]["pods"][0]["started"]
    admin(deployed, "restart redis-queue")
    until_pods(
        deployed, "redis-queue", "is new and ready", lambda s: s["ready"] == 1 and s["pods"][0]["started"] != before
    )
    wait.until(
        "jobs are there again", lambda: (finished() >= done, f"{finished()} of {done}"), deadline_s=20, every_s=1
    )


def test_pause_and_resume(deployed) -> None:
    admin(deployed, "pause worker-long")
    until_pods(deployed, "worker-long", "is gone", lambda s: s["paused"] and s["pods"] == [])
    assert admin(deployed, "resume worker-long")["replicas"] == 1
    until_pods(deployed, "worker-long", "is back", lambda s: "paused" not in s and s["ready"] == 1)


def test_a_connection_setting_reaches_the_pods_that_read_it(deployed) -> None:
    own = admin(deployed, "connections queue-user")["connections"]["queue-user"]["value"]
    before = names(admin(deployed, "components worker-long")["components"]["worker-long"])
    answer = admin(deployed, f"connection-set queue-user {own}")
    assert "worker-long" in answer["restarted"]
    until_pods(deployed, "worker-long", "is new and ready", lambda s: s["ready"] == 1 and not names(s) & before)


def test_live_and_saved_rules_part_at_a_restart(deployed) -> None:
    intended = admin(deployed, "redis redis-cache acl app")
    admin(deployed, "redis redis-cache acl-set app -publish")
    assert admin(deployed, "redis redis-cache acl app")["file"] == intended["file"]
    assert "-publish" in admin(deployed, "redis redis-cache acl app")["live"]["app"]
    before = admin(deployed, "components redis-cache")["components"]["redis-cache"]["pods"][0]["started"]
    admin(deployed, "restart redis-cache")
    until_pods(
        deployed, "redis-cache", "is new and ready", lambda s: s["ready"] == 1 and s["pods"][0]["started"] != before
    )
    assert "-publish" not in admin(deployed, "redis redis-cache acl app")["live"]["app"]


def test_a_setting_of_mariadb_live_and_in_the_file(deployed) -> None:
    answer = admin(deployed, "mariadb set long_query_time 7 --where both")
    assert (float(answer["live"]), answer["file"]) == (7, "7")
    assert admin(deployed, "mariadb unset long_query_time")["file"] is None
    options = deployed.in_pod("mariadb", "sh", "-c", "cat /config/*.cnf").stdout
    assert "max_connections = 120" in options
    assert "long_query_time" not in options


def test_the_agent_can_give_a_privilege_and_too_many(deployed) -> None:
    def grants() -> str:
        return deployed.agent("mariadb -NBe \"SHOW GRANTS FOR 'site'@'%'\"").stdout

    intended = grants()
    assert "DELETE" in intended
    assert "ALL PRIVILEGES" not in intended
    assert deployed.agent("mariadb -e \"GRANT ALL PRIVILEGES ON site.* TO 'site'@'%'\"").exit == 0
    assert "ALL PRIVILEGES ON `site`" in grants()


def test_what_was_done_is_in_the_history(deployed) -> None:
    admin(deployed, "queue list")
    actions = admin(deployed, "history")["actions"]
    assert actions[-1]["what"] == "queues"
