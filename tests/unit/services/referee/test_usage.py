"""What a line of usage.jsonl says, with a kubelet and stores that answer, and when they do not."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from incident_arena.application import Backlog
from incident_arena.formats.records import Container, Usage
from incident_arena.services.cluster import ClusterError
from incident_arena.services.referee import usage
from incident_arena.services.referee.folder import Evidence
from incident_arena.stores.base import StoreError

POD: dict[str, Any] = {
    "metadata": {"uid": "u1", "labels": {"app.kubernetes.io/name": "web"}},
    "status": {
        "hostIP": "10.0.0.2",
        "containerStatuses": [
            {"name": "web", "restartCount": 2, "state": {"running": {}},
             "lastState": {"terminated": {"reason": "OOMKilled", "finishedAt": "2026-11-30T20:40:00Z"}}}
        ],
    },
}  # fmt: skip
ENDING = {**POD, "metadata": {**POD["metadata"], "uid": "u0", "deletionTimestamp": "2026-11-30T00:00:00Z"}}
SUMMARY: dict[str, Any] = {
    "pods": [
        {
            "podRef": {"uid": "u1"},
            "containers": [
                {
                    "name": "web",
                    "cpu": {"time": "2026-11-30T20:40:24Z", "usageCoreNanoSeconds": 1_500_000_000},
                    "memory": {"workingSetBytes": 100_000_000},
                }
            ],
        }
    ]
}


class Answers:
    """A cluster and its kubelet, or a store, in one; `broken` ones answer nothing."""

    def __init__(self, *broken: str) -> None:
        self.broken = broken

    async def items(self, kind: str, selector: str) -> list[Any]:
        assert (kind, selector) == ("pods", "incident-arena.io/class=application")
        return [self._told("cluster", POD), ENDING]

    async def call(self, method: str, path: str, *, query: dict[str, str]) -> Any:
        assert (method, path, query) == ("GET", "/stats/summary", {"only_cpu_and_memory": "true"})
        return self._told("kubelet", SUMMARY)

    def connections(self) -> int:
        return int(self._told("store", 7))

    def backlog(self, stores: object) -> Backlog:
        del stores
        return Backlog(self._told("backlog", 3), 1)

    def _told(self, what: str, answer: Any) -> Any:
        if what not in self.broken:
            return answer
        if what in {"cluster", "kubelet"}:
            raise ClusterError(what, "could not be reached")
        raise StoreError(what, "no answer") if what == "store" else RuntimeError("an answer of no known shape")


async def look(folder: Path, monkeypatch: pytest.MonkeyPatch, *broken: str) -> Usage:
    answers = Answers(*broken)
    config = SimpleNamespace(connect=lambda _: {"db": answers}, service_account=folder, namespace="arena")
    parts: Any = SimpleNamespace(
        config=config, cluster=answers, substrate=answers, evidence=Evidence(folder), stores={"db": answers}
    )
    reached: list[str] = []
    monkeypatch.setattr(usage, "Cluster", lambda url, *_: reached.append(url) or answers)
    await usage.Meter(parts).look()
    assert reached == ([] if "cluster" in broken else ["https://10.0.0.2:10250"])
    [line] = (folder / "live" / "usage.jsonl").read_text().splitlines()
    return Usage.model_validate_json(line)


async def test_a_line_has_it_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = await look(tmp_path, monkeypatch)
    container = Container(
        component="web", name="web", pod="u1", restarts=2, ended="OOMKilled", ended_at=1796071200.0,
        measured=1796071224.0, cpu=1.5, memory=100_000_000,
    )  # fmt: skip
    assert (seen.containers, seen.connections, seen.waiting) == ((container,), {"db": 7}, 3)


async def test_without_the_kubelet_a_container_has_no_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    [container] = (await look(tmp_path, monkeypatch, "kubelet")).containers
    assert (container.restarts, container.measured, container.memory) == (2, None, 0)


async def test_an_odd_answer_ends_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SUMMARY, "pods", [{"podRef": {}}])
    [container] = (await look(tmp_path, monkeypatch)).containers
    assert container.measured is None


@pytest.mark.parametrize(
    ("broken", "missing"), [("cluster", "containers"), ("store", "connections"), ("backlog", "waiting")]
)
async def test_what_does_not_answer_is_missing_and_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: str, missing: str
) -> None:
    seen = await look(tmp_path, monkeypatch, broken)
    fields = {"containers": seen.containers, "connections": seen.connections, "waiting": seen.waiting}
    assert not fields.pop(missing)
    assert all(fields.values())


async def test_a_reason_is_said_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    await look(tmp_path, monkeypatch, "store")
    assert capsys.readouterr().err.count("usage:") == 1
