from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from incident_arena.analysis.evidence import Evidence
from incident_arena.formats.records import Action, Declaration, Health, Intent, Observation, Outcome, Stage
from incident_arena.viewer.model import Timeline
from incident_arena.viewer.timeline import ACTS, BINS, timeline

type Write = Callable[..., Path]


def of(folder: Path) -> Timeline:
    made = timeline(Evidence(folder), None)
    assert made
    return made


def outcome(number: int, due: float, latency: float = 0.1, result: str = "ok", kind: str = "create") -> Outcome:
    return Outcome.model_validate(
        {"id": number, "kind": kind, "due": due, "at": due + latency, "result": result, "latency": latency}
    )


STAGE = Stage(name="agent", started=1000, seconds=100, ok=True)


def test_nothing_recorded_is_no_timeline(tmp_path: Path):
    assert timeline(Evidence(tmp_path), None) is None


def test_operations_fall_into_their_bins(evidence: Write):
    due = [1000.0, 1000.5, 1001.5, 1099.0]
    made = of(evidence(stages=[STAGE], ledger=[outcome(number, at) for number, at in enumerate(due)]))

    [kind] = made.kinds
    assert made.step == 1
    assert (kind.n[0], kind.n[1], kind.n[99]) == (2, 1, 1)
    assert sum(kind.n) == sum(kind.ok) == 4
    assert kind.p95[0] == 100
    assert kind.p95[50] is None


@pytest.mark.parametrize("result", ["failed", "indeterminate", "wrong", "shed"])
def test_what_is_not_ok_is_no_success(evidence: Write, result: str):
    [kind] = of(evidence(stages=[STAGE], ledger=[outcome(1, 1000, result=result)])).kinds

    assert (kind.n[0], kind.ok[0]) == (1, 0)
    assert (kind.p95[0] is None) == (result == "shed")


def test_an_intent_without_outcome_is_an_operation_that_did_not_succeed(evidence: Write):
    intent = Intent(id=7, kind="create", due=1003, at=1003)
    [kind] = of(evidence(stages=[STAGE], ledger=[intent, outcome(8, 1080)])).kinds

    assert (kind.n[3], kind.ok[3], kind.p95[3]) == (1, 0, None)


def test_what_was_under_way_when_the_ledger_ended_is_not_counted(evidence: Write):
    intent = Intent(id=7, kind="create", due=1070, at=1070)
    [kind] = of(evidence(stages=[STAGE], ledger=[intent, outcome(8, 1080)])).kinds

    assert sum(kind.n) == 1


def test_a_paused_load_is_no_failure(evidence: Write):
    paused = outcome(1, 1000, result="shed").model_copy(update={"error": "paused"})
    [kind] = of(evidence(stages=[STAGE], ledger=[paused, outcome(2, 1000)])).kinds

    assert (kind.n[0], kind.ok[0]) == (1, 1)


def test_p95_is_the_percentile_of_the_bin(evidence: Write):
    ledger = [outcome(number, 1000 + number / 1000, latency=number / 100) for number in range(101)]
    [kind] = of(evidence(stages=[STAGE], ledger=ledger)).kinds

    assert kind.p95[0] == 950


def test_p95_is_numpys(evidence: Write):
    chance = np.random.default_rng(1)
    due, latency = 1000 + chance.uniform(0, 90, 500), chance.lognormal(-2, 1, 500)
    ledger = [outcome(number, at, latency=took) for number, (at, took) in enumerate(zip(due, latency, strict=True))]
    made = of(evidence(stages=[STAGE], ledger=ledger))

    for bin_, found in enumerate(made.kinds[0].p95):
        mine = latency[(due - 1000) // made.step == bin_]
        assert (found is None) == (not mine.size)
        assert found is None or found == pytest.approx(np.percentile(mine, 95) * 1000, rel=0.006, abs=0.6)


def test_a_long_episode_has_wider_bins(evidence: Write):
    made = of(evidence(stages=[Stage(name="agent", started=0, seconds=4000, ok=True)], ledger=[outcome(1, 3999)]))

    assert made.step == 30
    assert len(made.kinds[0].n) <= BINS
    assert made.kinds[0].n[-1] == 1


def test_observers_become_spans(evidence: Write):
    looks = [("planted", 1000), ("planted", 1005), ("clear", 1010), ("clear", 1015), ("planted", 1020)]
    observations = [Observation(at=at, fault="x.y", state=state, seen={}) for state, at in looks]  # type: ignore[arg-type]
    [lane] = of(evidence(observations=observations)).observers

    assert [(span.state, span.start, span.end) for span in lane.spans] == [
        ("planted", 0, 10),
        ("clear", 10, 20),
        ("planted", 20, 20),
    ]


def test_only_unhealthy_parts_have_a_lane(evidence: Write):
    health = [
        Health(at=1000, alive={"load": True, "referee": True}),
        Health(at=1005, alive={"load": False, "referee": True}),
    ]
    lanes = of(evidence(stages=[STAGE], health=health)).health

    assert [lane.name for lane in lanes] == ["load"]
    assert lanes[0].spans[-1].state == "dead"


def test_what_was_not_up_yet_before_the_baseline_has_no_lane(evidence: Write):
    stages = [Stage(name="baseline", started=990, seconds=10, ok=True), STAGE]
    health = [Health(at=at, alive={"load": at > 985}) for at in (980, 985, 990, 995, 1000)]

    assert of(evidence(stages=stages, health=health)).health == []


def test_changes_are_kept_when_there_are_too_many_acts(evidence: Write):
    acts = [
        Action(at=1000 + n, source="mariadb", actor="operator", kind="change" if n % 100 == 99 else "read", what="SHOW")
        for n in range(ACTS + 100)
    ]
    made = of(evidence(actions=acts))

    assert len(made.acts) == ACTS
    assert made.acts_left_out == 100
    assert sum(act.kind == "change" for act in made.acts) == 5
    assert [act.at for act in made.acts] == sorted(act.at for act in made.acts)


def test_the_declaration_is_relative_to_the_agents_start(evidence: Write):
    folder = evidence(stages=[STAGE])
    (folder / "declaration.json").write_text(Declaration(at=1042).model_dump_json())

    assert of(folder).declared == 42


def test_absurd_times_make_no_absurd_timeline(evidence: Write):
    folder = evidence(stages=[STAGE], ledger=[outcome(1, 1000), outcome(2, 1e13)])
    with (folder / "ledger.jsonl").open("a") as file:
        file.write('{"type":"outcome","id":3,"kind":"create","due":Infinity,"at":1,"result":"ok","latency":1}\n')
        file.write('{"type":"outcome","id":4,"kind":"create","due":1000,"at":1,"result":"ok","latency":Infinity}\n')
    made = of(folder)

    assert len(made.kinds[0].n) <= BINS + 1
    assert sum(made.kinds[0].n) == 3


def test_damaged_lines_cost_only_themselves(evidence: Write):
    folder = evidence(stages=[STAGE], ledger=[outcome(1, 1000)])
    with (folder / "ledger.jsonl").open("a") as file:
        file.write('{"type":"outcome","id":2,"ki')

    assert sum(of(folder).kinds[0].n) == 1
