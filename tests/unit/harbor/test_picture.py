"""A picture of an episode from its files, as the board and as lines."""

import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console
from tests.support import evidence as evidences

from incident_arena.formats.records import Action, Observation, Outcome, Stage
from incident_arena.harbor.board import Teller, board
from incident_arena.harbor.explain import words
from incident_arena.harbor.journal import Attempt
from incident_arena.harbor.picture import Picture
from incident_arena.ledger.reading import PAUSED

AGENT = evidences.START + 76


def attempt(**more: object) -> Attempt:
    node = Stage(name="node", started=evidences.START, seconds=6.5, ok=True)
    fields = {"job": "job", "trial": "t", "task": "frappe/x", "number": 1, "started": evidences.START - 10}
    return Attempt(**{**fields, "state": "admitted", "stages": (node,), **more})  # type: ignore[arg-type]


def until(lines: list[str], moment: float) -> list[str]:
    """Lines of a file that were written by a moment."""
    return [line for line in lines if json.loads(line)["at"] <= moment]


@pytest.fixture
def at(tmp_path: Path) -> Callable[..., Picture]:
    """The picture at a moment of an episode, in seconds since its start, and what the files hold then."""
    folder = evidences.build().write(tmp_path / "evidence")

    def read(name: str) -> list[str]:
        return (folder / name).read_text().splitlines()

    def make(seconds: float, **more: object) -> Picture:
        moment = evidences.START + seconds
        picture = Picture(attempt(**more), clock=lambda: moment)
        new = {
            "task": [(folder / "task.json").read_text()],
            "state": [f'{{"agent_started": {AGENT}, "agent_ended": null}}'] if moment >= AGENT else [],
            "observations": until(read("observations.jsonl"), moment),
            "health": until(read("health.jsonl"), moment),
            "ledger": until(read("ledger.jsonl"), moment),
            "acts": until(read("actions.jsonl"), moment),
        }
        if moment >= evidences.START + 190:
            new["declaration"] = [(folder / "declaration.json").read_text()]
        picture.feed(new)
        return picture

    return make


def drawn(picture: Picture) -> str:
    out = io.StringIO()
    Console(file=out, width=100).print(board(picture))
    return out.getvalue()


def test_broken_is_seen_by_kind_and_fault(at) -> None:
    picture = at(100)
    kinds = {kind.kind: kind for kind in picture.kinds()}
    assert (kinds["delete"].ok, kinds["delete"].p95) == (0, None)
    assert kinds["delete"].total > 20
    assert kinds["read"].share == 1
    assert kinds["read"].p95 is not None
    assert 0 < kinds["read"].p95 < 0.5
    assert {fault: seen.state for fault, seen in picture.faults.items()} == dict.fromkeys(evidences.FAULTS, "planted")
    text = drawn(picture)
    assert "the agent works   00:24 of 10:00" in text
    assert text.count("planted") == 2
    assert "not declared" in text
    assert "✔ node 6.5 s" in text


def test_repaired_and_declared_is_seen_with_its_time(at) -> None:
    text = drawn(at(192))
    assert "after 00:5" in text
    assert text.count("clear") == 2
    assert "declared repaired after 01:54" in text


def test_only_the_last_seconds_count(at) -> None:
    kinds = {kind.kind: kind for kind in at(170).kinds()}
    assert kinds["delete"].share == 1
    assert kinds["delete"].total <= 2 * 15 + 2


def test_acts_from_before_the_agent_are_not_the_agents(at) -> None:
    picture = at(100)
    counted = (picture.reads, picture.changes)
    early = Action(at=AGENT - 5, source="admin", actor="agent", kind="change", what="restart")
    late = Action(at=AGENT + 2, source="admin", actor="agent", kind="change", what="restart", ok=False)
    picture.feed({"acts": [late.model_dump_json(), early.model_dump_json()]})
    assert (picture.reads, picture.changes) == (counted[0], counted[1] + 1)
    assert "restart  refused" in drawn(picture)


def test_what_cannot_be_read_is_left_out(at) -> None:
    picture = at(100)
    before = drawn(picture)
    picture.feed({"ledger": ["{", '{"type": "outcome"}'], "observations": [""], "task": ["no"], "state": ["[]"]})
    assert drawn(picture) == before


def test_a_silent_harness_is_told(at) -> None:
    picture = at(100)
    picture.feed({"health": [f'{{"at": {AGENT}, "alive": {{"load": false, "admin": true}}}}']})
    assert "no sign of life: load" in drawn(picture)


@pytest.mark.parametrize(
    ("state", "phase"),
    [("starting", "the incident is prepared"), ("stopped", "over"), ("admitted", "the agent works")],
)
def test_phases(at, state: str, phase: str) -> None:
    assert at(100, state=state).phase() == phase


def test_before_anything_there_is_a_board_too() -> None:
    assert "no stage has ended yet" in drawn(Picture(attempt(stages=(), state="starting")))


def test_lines_tell_each_thing_once(at) -> None:
    teller = Teller()
    first = list(teller.lines(at(100)))
    assert "t  fault mariadb.grants is planted" in first
    assert [line for line in first if "load:" in line and "delete 0%" in line]
    assert list(teller.lines(at(101))) == []
    later = list(teller.lines(at(192)))
    assert "t  fault mariadb.grants is clear" in later
    assert [line for line in later if line.startswith("t  declared repaired after 01:54")]
    assert not [line for line in later if "node" in line]


@pytest.mark.parametrize(
    ("what", "detail", "told"),
    [
        ("GRANT", "GRANT DELETE ON site.*", "GRANT DELETE ON site.*"),
        ("acl-set", '{"rules":["+blmove","+blpop"],"store":"redis-queue"}', "acl-set +blmove +blpop redis-queue"),
        ("declare", '{"causes":null}', "declare"),
        ("restart", "web", "restart web"),
        ("queues", "", "queues"),
    ],
)
def test_an_act_in_few_words(what: str, detail: str, told: str) -> None:
    assert words(Action(at=0, source="x", actor="agent", kind="change", what=what, detail=detail)) == told


def test_a_pause_of_the_load_is_no_failure(at) -> None:
    picture = at(100)
    before = picture.kinds()
    shed = Outcome(id=1, kind="read", due=AGENT, at=AGENT + 20, result="shed", latency=0, error=PAUSED)
    picture.feed({"ledger": [shed.model_dump_json()]})
    assert picture.kinds() == before


def test_a_store_that_restarts_is_no_new_state(at) -> None:
    picture = at(150)
    since = dict(picture.since)
    look = Observation(at=AGENT + 75, fault=evidences.GRANTS, state="unknown", seen={})
    picture.feed({"observations": [look.model_dump_json()]})
    assert "unknown" in drawn(picture)
    again = look.model_copy(update={"state": "clear", "at": AGENT + 77})
    picture.feed({"observations": [again.model_dump_json()]})
    assert picture.since == since
