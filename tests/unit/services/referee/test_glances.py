"""The lines are as Prometheus 2.42 and the application's edge write them."""

import json
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from incident_arena.services.cluster import ClusterError
from incident_arena.services.referee import collect, glances
from incident_arena.services.referee.config import Config
from incident_arena.services.referee.folder import Evidence
from incident_arena.stores import audits

AT = datetime(2026, 11, 30, 18, 41, 2, 586000, tzinfo=UTC).timestamp()
QUERY = (
    '{"httpRequest":{"clientIP":"10.42.0.9","method":"GET","path":"/api/v1/query_range"},"params":{"end":"2026-11-30T'
    '16:47:42.586Z","query":"up{a=\\"b\\"}","start":"1970-01-01T00:00:01.000Z","step":1},"spanID":"0000000000000000",'
    '"stats":{"timings":{"evalTotalTime":0.000048454},"samples":{"peakSamples":0}},"ts":"2026-11-30T18:41:02.586Z"}'
)


def visit(port: object = 8081, status: int = 200, at: float = AT, path: str = "/login") -> str:
    return json.dumps({"time": at, "method": "GET", "path": path, "status": status, "seconds": 0.1, "port": port})


class Pods:
    """A cluster of which only logs are asked; an error in place of a log is raised."""

    def __init__(self, logs: dict[str, str | Exception]) -> None:
        self.held = logs
        self.asked: list[dict[str, str]] = []

    async def pods(self, component: str) -> list[dict[str, Any]]:
        return [{"metadata": {"name": f"{component}-1"}}] if component in self.held else []

    async def log(self, pod: str, query: dict[str, str]) -> str:
        self.asked.append(query)
        log = self.held[pod.removesuffix("-1")]
        if isinstance(log, Exception):
            raise log
        return log


class Parts:
    """What is needed of the referee's parts."""

    def __init__(self, folder: Path, logs: dict[str, str | Exception], door: str = "8081") -> None:
        told = {"EPISODE": "e", "STORES": "[]", "STORES_PASSWORD": "p", "LOAD_TOKEN": "l"}
        told |= {"EDGE": "edge", "LOOKING_PORT": door, "ADMIN_AUDIT_DIR": str(folder / "audit")}
        self.config = Config.from_environment(told)
        self.cluster = Pods(logs)
        self.evidence = Evidence(folder)
        self.stores: dict[str, Any] = {}


def test_a_query_of_the_telemetry() -> None:
    found = glances.asked(QUERY)
    assert (found.at, found.source, found.actor, found.kind) == (AT, "prometheus", "agent", "read")
    assert (found.what, found.detail, found.ok) == ("query_range", 'up{a="b"}', True)


def test_a_request_through_the_looking_door() -> None:
    found = glances.visited(visit(status=403), "edge", 8081)
    assert (found.at, found.source, found.what, found.detail, found.ok) == (AT, "edge", "GET", "/login", False)


@pytest.mark.parametrize(
    "line",
    [visit(8080), visit(None), '{"time":1,"method":"GET","path":"/","status":200}', "{", "ready", ""],
)
def test_what_came_in_elsewhere_or_is_no_request_is_left_out(line: str) -> None:
    log = f"{line}\n{visit()}\n"
    assert [each.detail for each in glances.looks(log, lambda one: glances.visited(one, "edge", 8081))] == ["/login"]


@pytest.mark.parametrize("line", ['{"level":"warn","ts":"2026-11-30T18:41:02Z"}', QUERY.replace("02.586Z", "02.586")])
def test_other_lines_of_the_telemetry_are_left_out(line: str) -> None:
    assert [each.what for each in glances.looks(f"{line}\n{QUERY}", glances.asked)] == ["query_range"]


async def test_those_of_the_agents_time_are_in_the_action_log_in_order(tmp_path: Path) -> None:
    logs = {"prometheus": f"{QUERY}\n", "edge": "\n".join(visit(at=AT + late) for late in (-9, -1, 1, 9))}
    parts: Any = Parts(tmp_path, dict(logs))
    assert await glances.keep(parts, AT - 2, AT + 2) == "prometheus: 1, edge: 2"
    lines = [json.loads(line) for line in collect._actions(parts, AT - 2, AT + 2).splitlines()]
    assert [(each["source"], each["at"]) for each in lines] == [("edge", AT - 1), ("prometheus", AT), ("edge", AT + 1)]
    assert {each["kind"] for each in lines} == {"read"}


async def test_one_log_that_cannot_be_read_costs_only_its_own(tmp_path: Path) -> None:
    parts: Any = Parts(tmp_path, {"prometheus": ClusterError("GET", "forbidden", 403), "edge": visit()})
    assert await glances.keep(parts, AT, AT) == "prometheus: forbidden, edge: 1"
    assert [each.source for each in glances.kept(parts)] == ["edge"]


async def test_without_a_door_of_the_agents_own_only_the_telemetry_is_asked(tmp_path: Path) -> None:
    parts: Any = Parts(tmp_path, {"prometheus": QUERY, "edge": visit()}, door="0")
    assert await glances.keep(parts, AT, AT) == "prometheus: 1"
    assert len(parts.cluster.asked) == 1
    assert float(parts.cluster.asked[0]["sinceSeconds"]) == pytest.approx(time.time() - AT, abs=5)


async def test_a_flood_of_looks_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audits, "BUDGET", 4 * (audits.FRAME + len("/login")))
    parts: Any = Parts(tmp_path, {"edge": "\n".join([visit()] * 50)})
    assert await glances.keep(parts, AT, AT) == "prometheus: 0, edge: 2"
