"""Counts of users' requests from the edge's log."""

import json
import time
from pathlib import Path

from incident_arena.services.admin.traffic import Traffic, parse, summary
from incident_arena.services.cluster import Cluster


def line(path: str, status: int = 200, seconds: float = 0.1, age: float = 1, method: str = "GET") -> str:
    return json.dumps({"time": time.time() - age, "method": method, "path": path, "status": status, "seconds": seconds})


def test_routes_leave_names_out_and_count_what_failed() -> None:
    lines = [
        line("/api/resource/Note/one"),
        line("/api/resource/Note/two", 500, 2.0),
        line("/api/resource/Note", method="POST"),
        line("/login", 404),
        "started",
        '{"time": 1, "met',
    ]
    found = summary(parse(lines))
    assert (found["requests"], found["failed"]) == (4, 1)
    assert found["routes"]["GET /api/resource/Note/*"] == {"requests": 2, "failed": 1, "p95": 2.0}
    assert set(found["routes"]) == {"GET /api/resource/Note/*", "POST /api/resource/Note", "GET /login"}


def test_p95_is_the_nearest_rank() -> None:
    found = summary(parse([line("/x", seconds=n / 100) for n in range(1, 101)]))
    assert found["routes"]["GET /x"]["p95"] == 0.95


async def test_only_the_window_counts(call, cluster) -> None:
    cluster.logs["pods/edge-abc/log"] = "\n".join([line("/x", age=40), line("/x", 502, age=5)])
    _, answer = await call("GET", "/traffic?seconds=30")
    assert (answer["requests"], answer["failed"]) == (1, 1)
    _, answer = await call("GET", "/traffic?seconds=60")
    assert answer["requests"] == 2
    assert (await call("GET", "/traffic?seconds=601"))[0] == 400


def test_without_a_component_whose_log_counts_there_is_no_such_verb(tmp_path: Path) -> None:
    kubernetes = Cluster("http://127.0.0.1:1", tmp_path, "arena")
    assert [route.what for route in Traffic("edge", kubernetes).routes()] == ["traffic"]
    assert Traffic("", kubernetes).routes() == []
