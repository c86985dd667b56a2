from collections.abc import Callable

from tests.support.evidence import START, Episode, build

from incident_arena.judge import cut
from incident_arena.judge.trial import Trial

type Make = Callable[[Episode], Trial]


def due(trial: Trial, ids: frozenset[int]) -> tuple[float, float]:
    moments = [one.due - START for one in trial.operations if one.id in ids]
    return min(moments), max(moments)


def test_reach(trial: Make) -> None:
    made = trial(build())
    first, last = due(made, cut.by_plant(made))
    assert 51 < first < 52
    assert 66 < last < 67
    first, last = due(made, cut.by_challenges(made))
    assert 224 < first < 225
    assert 255 < last < 256


def test_nothing_is_cut_off_where_nothing_is_planted(trial: Make) -> None:
    episode = build()
    episode.spec(faults=[])
    assert cut.by_plant(trial(episode)) == frozenset()


def test_failed_jobs_are_accounted_for_by_what_is_owed_and_what_was_left_undone(trial: Make) -> None:
    episode = build()
    assert cut.failed_jobs(trial(episode)) == 4
    owed = [one.id for one in trial(episode).operations if one.kind == "bulk-update" and 236 < one.due - START < 240]
    episode.edit(lambda one: one.model_copy(update={"result": "wrong", "owed": True}) if one.id in owed else one)
    assert cut.failed_jobs(trial(episode)) == 4 + len(owed) > 4
    assert episode.end is not None
    undone = next(
        name
        for one in trial(episode).operations
        for name in one.records
        if name.startswith("job/") and 236 < one.due - START < 240
    )
    state = episode.end.records[undone]
    records = {**episode.end.records, undone: state.model_copy(update={"exists": not state.exists})}
    episode.end = episode.end.model_copy(update={"records": records})
    assert cut.failed_jobs(trial(episode)) == 5 + len(owed)


def test_a_failure_long_before_the_challenges_is_not_theirs(trial: Make) -> None:
    episode = build()
    episode.edit(
        lambda one: (
            one.model_copy(update={"result": "wrong", "owed": True})
            if one.kind == "bulk-update" and one.due < START + 224
            else one
        )
    )
    assert cut.failed_jobs(trial(episode)) == 4
