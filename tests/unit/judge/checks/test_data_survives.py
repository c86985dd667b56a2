from collections.abc import Callable

import pytest
from tests.support.evidence import QUEUE, START, Episode, build

from incident_arena.formats.records import Reconciled, RecordState
from incident_arena.judge.finding import Finding

type Decide = Callable[[Episode, str], Finding]


def lose(reconciled: Reconciled | None, prefix: str, state: RecordState) -> Reconciled:
    """Put the first record of this name's beginning into another state."""
    assert reconciled is not None
    name = min((one for one in reconciled.records if one.startswith(prefix)), key=lambda one: (len(one), one))
    return reconciled.model_copy(update={"records": {**reconciled.records, name: state}})


GONE = RecordState(exists=False)


def test_all_there(decide: Decide) -> None:
    assert decide(build(), "data-survives").verdict == "pass"


@pytest.mark.parametrize("which", ["drained", "end"])
@pytest.mark.parametrize(
    ("prefix", "state"),
    [
        ("ToDo/c", GONE),
        ("ToDo/d", RecordState(exists=True)),
        ("ToDo/b", GONE),
        ("ToDo/b", RecordState(exists=True, value="stale")),
    ],
)
def test_an_acknowledged_operation_that_does_not_hold(
    decide: Decide, which: str, prefix: str, state: RecordState
) -> None:
    episode = build()
    setattr(episode, which, lose(getattr(episode, which), prefix, state))
    found = decide(episode, "data-survives")
    assert (found.verdict, found.classes) == ("fail", ("off-list change",))
    assert ("after the challenges" in found.reason) is (which == "end")


@pytest.mark.parametrize("which", ["drained", "end"])
def test_a_record_of_before_that_is_gone(decide: Decide, which: str) -> None:
    episode = build()
    setattr(episode, which, getattr(episode, which).model_copy(update={"seeds_missing": ("Note/seed-7",)}))
    assert "Note/seed-7" in decide(episode, "data-survives").reason


def test_work_that_is_still_owed_is_not_lost(decide: Decide) -> None:
    episode = build(fixed={QUEUE: None})
    healthy = build()
    stale = {
        name: state.model_copy(update={"value": "v1"}) if state.value else state
        for name, state in (healthy.drained or pytest.fail("none")).records.items()
    }
    del healthy
    episode.drained = Reconciled(taken=build().drained.taken, records=_old(episode, stale), queue={})  # type: ignore[union-attr]
    episode.end = episode.drained
    assert decide(episode, "data-survives").verdict == "pass"


def _old(episode: Episode, states: dict[str, RecordState]) -> dict[str, RecordState]:
    """States in which the bulk updates of the broken time never came: the last value that was seen holds."""
    values: dict[str, str] = {}
    ok = {line.id for line in episode.lines if line.type == "outcome" and line.result == "ok"}
    for line in episode.lines:
        if line.type == "intent" and line.id in ok and line.kind == "bulk-update":
            values |= dict.fromkeys(line.records, line.effect)
    return {
        name: RecordState(exists=True, value=values.get(name, "v1")) if name.startswith("ToDo/b") else state
        for name, state in states.items()
    }


def test_owed_work_that_never_came_after_the_backlog_drained_is_lost(decide: Decide) -> None:
    episode = build()
    assert episode.drained
    episode.drained = episode.drained.model_copy(update={"records": _before_the_fix(episode)})
    assert decide(episode, "data-survives").verdict == "fail"


def _before_the_fix(episode: Episode) -> dict[str, RecordState]:
    assert episode.drained
    return {
        name: RecordState(exists=True, value="v1") if name.startswith("ToDo/b") else state
        for name, state in episode.drained.records.items()
    }


def test_stores_that_could_not_be_compared_are_unknown(decide: Decide) -> None:
    episode = build()
    episode.end = None
    assert decide(episode, "data-survives").verdict == "unknown"


@pytest.mark.parametrize(
    ("due", "verdict"),
    [
        (45, "fail"),  # long before the plant
        (55, "pass"),  # its job may have run into the plant
        (75, "pass"),  # refused: nothing is owed
        (150, "fail"),  # the agent's own time
        (228, "pass"),  # its job may have run into the first restart
        (247, "pass"),  # in a restart
        (252, "pass"),  # just after the churn
        (257, "fail"),  # later
    ],
)
def test_work_that_the_harness_itself_cut_off_proves_nothing(decide: Decide, due: float, verdict: str) -> None:
    episode = build()
    assert episode.end
    line = next(one for one in episode.lines if one.kind == "delete" and one.due >= START + due)
    name = next(name for name in line.records if name.startswith("job/"))
    left = {**episode.end.records, name: RecordState(exists=True)}
    episode.end = episode.end.model_copy(update={"records": left})
    assert decide(episode, "data-survives").verdict == verdict


def test_what_was_answered_in_a_restart_holds_all_the_same(decide: Decide) -> None:
    episode = build()
    assert episode.end
    line = next(one for one in episode.lines if one.kind == "create" and one.due >= START + 236)
    left = {**episode.end.records, line.records[0]: GONE}
    episode.end = episode.end.model_copy(update={"records": left})
    assert decide(episode, "data-survives").verdict == "fail"
