"""What each kind of event does, over stand-ins for the load, the cluster and the stores."""

import dataclasses
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.support.evidence import task

from incident_arena.errors import InfrastructureError
from incident_arena.formats.records import Intent, Outcome
from incident_arena.formats.task import Event
from incident_arena.ledger.reading import PEAK
from incident_arena.services.referee import events
from incident_arena.services.referee.events import peak, reconcile
from incident_arena.services.referee.folder import Evidence
from incident_arena.services.referee.patience import StalledError
from incident_arena.stores.base import StoreError
from incident_arena.wait import DeadlineError


class Load:
    """Sends what a peak asks for into a ledger: `ok` of its operations succeed."""

    def __init__(self, ledger: Path, ok: float) -> None:
        self.ledger, self.ok, self.asked = ledger, ok, {}

    async def peak(self, wanted: dict[str, Any]) -> None:
        self.asked = wanted
        now = time.time()
        lines = []
        for number in range(60):
            kind = sorted(task().load.kinds)[number % len(task().load.kinds)]
            at = now + 0.001 * number
            result = "ok" if number < self.ok * 60 else "failed"
            lines.append(Intent(id=PEAK + number, kind=kind, due=at, at=at))
            lines.append(Outcome(id=PEAK + number, kind=kind, due=at, at=at, result=result, latency=0.0))
        self.ledger.write_text("".join(line.model_dump_json() + "\n" for line in lines))


class Cluster:
    """One deployment, whose pods follow what is written, unless it is `stuck`."""

    def __init__(self, *, stuck: bool = False) -> None:
        self.stuck = stuck
        self.spec: dict[str, Any] = {"replicas": 2, "template": {"spec": {"containers": [{"name": "web"}]}}}
        self.seen, self.replicas = 1, 2

    async def items(self, kind: str) -> list[dict[str, Any]]:
        return [await self.get(kind, "web")] if kind == "deployments" else []

    async def get(self, _kind: str, name: str) -> dict[str, Any]:
        ready = 0 if self.stuck else self.replicas
        status = {"observedGeneration": self.seen, "replicas": self.replicas}
        status |= {"updatedReplicas": self.replicas, "readyReplicas": ready}
        return {"metadata": {"name": name, "generation": self.seen}, "spec": self.spec, "status": status}

    async def pods(self, _component: str) -> list[dict[str, Any]]:
        return [{"status": {"phase": "Pending"}}]

    async def replace_in_spec(self, _kind: str, _name: str, fields: dict[str, Any]) -> None:
        self.spec = {**self.spec, **fields}
        self.replicas = fields["replicas"]


@pytest.fixture
def parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(peak, "LAST_ENDS_S", 0.2)
    judged = {
        name: kind.model_copy(update={"judged": name in {"create", "read"}}) for name, kind in task().load.kinds.items()
    }
    load = task().load.model_copy(update={"kinds": judged})
    deadlines = task().deadlines.model_copy(update={"restart": 0.5})
    ledger = tmp_path / "ledger.jsonl"
    ledger.touch()
    return SimpleNamespace(
        task=task().model_copy(update={"load": load, "deadlines": deadlines}),
        config=SimpleNamespace(ledger=ledger, kinds={}),
        evidence=Evidence(tmp_path),
        load=Load(ledger, 1.0),
        cluster=Cluster(),
        stores={},
    )


PEAK_OF_ALL = Event(kind="peak", parameters={"factor": 3, "seconds": 0.2})


async def test_a_peak_that_is_borne(parts: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("incident_arena.ledger.rates.MINIMUM_SAMPLES", 5)
    assert await events.run(parts, PEAK_OF_ALL) == "3 times the load for 0.2 s"
    assert parts.load.asked == {"factor": 3.0, "seconds": 0.2, "kinds": []}


async def test_a_peak_that_is_not_borne_fails(parts: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("incident_arena.ledger.rates.MINIMUM_SAMPLES", 5)
    parts.load.ok = 0.5
    with pytest.raises(StalledError, match=r"create: .* succeeded, floor"):
        await events.run(parts, PEAK_OF_ALL)


async def test_a_peak_as_a_scene_goes_on_by_itself(parts: Any) -> None:
    long = Event(kind="peak", parameters={"factor": 2, "seconds": 900})
    started = time.monotonic()
    assert await events.begin(parts, long) == "2 times the load for 900 s"
    assert time.monotonic() - started < 5


async def test_growth_is_the_stores_own(parts: Any) -> None:
    taken: list[int] = []
    parts.stores = {"cache": SimpleNamespace(grow=taken.append)}
    assert (
        await events.run(parts, Event(kind="grow", component="cache", parameters={"megabytes": 7})) == "took 7 MB more"
    )
    assert taken == [7]

    def full(_megabytes: int) -> None:
        raise StoreError("cache", "out of memory")

    parts.stores = {"cache": SimpleNamespace(grow=full)}
    with pytest.raises(StoreError, match="out of memory"):
        await events.run(parts, Event(kind="grow", component="cache", parameters={"megabytes": 7}))


async def test_a_scheduled_job_is_made_due_and_waited_for(parts: Any) -> None:
    due: list[str] = []
    looks = iter([(False, "has not begun"), (True, "Complete")])
    parts.substrate = SimpleNamespace(
        make_due=lambda _stores, job: due.append(job), has_run=lambda _stores, _job, _since: next(looks)
    )
    nightly = Event(kind="schedule", parameters={"job": "nightly", "seconds": 20})
    assert (await events.run(parts, nightly)).startswith("ran after")
    assert due == ["nightly"]


async def test_a_scheduled_job_that_fails_is_told(parts: Any) -> None:
    parts.substrate = SimpleNamespace(make_due=lambda *_: None, has_run=lambda *_: (False, "Failed"))
    with pytest.raises(DeadlineError, match=r"'nightly' has run.*Failed"):
        await events.run(parts, Event(kind="schedule", parameters={"job": "nightly", "seconds": 0.5}))


async def test_a_component_is_put_back_to_what_was_written_down(parts: Any) -> None:
    event = Event(kind="reconcile", component="web")
    await events.prepare(parts, event)
    parts.cluster.spec = {"replicas": 5, "template": {"spec": {"containers": [{"name": "web", "env": ["X"]}]}}}
    parts.cluster.replicas = 5
    assert (await events.run(parts, event)).startswith("as written down, ready in")
    assert parts.cluster.spec == {"replicas": 2, "template": {"spec": {"containers": [{"name": "web"}]}}}
    parts.cluster.stuck = True
    with pytest.raises(DeadlineError, match="0 of 2 as written down and ready; Pending"):
        await events.run(parts, event)


async def test_only_a_workload_can_be_put_back(parts: Any) -> None:
    with pytest.raises(StalledError, match="neither a deployment nor a stateful set"):
        await events.prepare(parts, Event(kind="reconcile", component="mariadb"))
    assert reconcile.KINDS == ("deployments", "statefulsets")


async def test_events_that_look_at_nothing_before_need_no_preparation(parts: Any) -> None:
    await events.prepare(parts, Event(kind="restart", component="web"))
    assert parts.evidence.state.written_down == {}


async def test_a_fault_that_passes_comes_and_goes(parts: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    state = ["clear"]
    acts: list[str] = []

    def act(name: str, becomes: str) -> Any:
        return lambda _store, _parameters: (acts.append(name), state.__setitem__(0, becomes))

    seen = SimpleNamespace(
        plant=act("plant", "planted"), lift=act("lift", "clear"), describe=lambda _given: "it was broken"
    )
    seen.observe = lambda _store, _parameters: SimpleNamespace(state=state[0], seen={})
    broken = SimpleNamespace(name="db.mood", component="db", fault=seen, parameters=None)
    monkeypatch.setattr("incident_arena.services.referee.events.passed.planted", lambda *_: broken)
    parts.stores = {"db": object()}
    event = Event(kind="passed", component="db", parameters={"aspect": "mood", "seconds": 0.1})
    assert await events.begin(parts, event) == "it was broken, for 0.1 s"
    assert (acts, state) == (["plant", "lift"], ["clear"])
    seen.lift = act("lift", "planted")
    with pytest.raises(InfrastructureError, match="should be clear"):
        await events.begin(parts, event)


def test_the_stand_ins_are_what_events_use(parts: Any) -> None:
    from incident_arena.services.referee.parts import Parts  # noqa: PLC0415

    assert set(vars(parts)) <= {field.name for field in dataclasses.fields(Parts)}
