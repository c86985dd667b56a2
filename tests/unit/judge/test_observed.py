from collections.abc import Callable

from tests.support.evidence import AGENT_END, FAULTS, GRANTS, QUEUE, START, Episode, build

from incident_arena.judge.observed import look, tracked
from incident_arena.judge.trial import Trial

type Make = Callable[[Episode], Trial]


def repaired(trial: Trial) -> dict[str, float | None]:
    return {one.fault: None if one.repaired is None else one.repaired - START for one in tracked(trial)}


def see(episode: Episode, fault: str, start: float, end: float, state: str) -> Episode:
    episode.observations = [
        one.model_copy(update={"state": state})
        if one.fault == fault and START + start <= one.at <= START + end
        else one
        for one in episode.observations
    ]
    return episode


def test_each_fault_when_it_was_first_seen_clear(trial: Make) -> None:
    assert repaired(trial(build(fixed={GRANTS: 100.0, QUEUE: 121.0}))) == {GRANTS: 101, QUEUE: 121}


def test_never(trial: Make) -> None:
    assert repaired(trial(build(fixed={GRANTS: None}))) == {GRANTS: None, QUEUE: 127}


def test_the_last_repair_counts_when_it_came_back_in_between(trial: Make) -> None:
    assert repaired(trial(see(build(), GRANTS, 140, 150, "planted")))[GRANTS] == 151


def test_one_that_came_back_for_good_is_not_repaired(trial: Make) -> None:
    assert repaired(trial(see(build(), GRANTS, 140, 300, "planted")))[GRANTS] is None


def test_what_happens_after_the_agent_is_another_matter(trial: Make) -> None:
    assert repaired(trial(see(build(), GRANTS, AGENT_END + 2, 300, "planted")))[GRANTS] == 127


def test_a_repair_just_before_the_end_is_seen_just_after_it(trial: Make) -> None:
    assert repaired(trial(build(fixed=dict.fromkeys(FAULTS, 195.5)))) == dict.fromkeys(FAULTS, AGENT_END)


def test_blind_looks_say_nothing(trial: Make) -> None:
    assert repaired(trial(see(build(), GRANTS, 127, 139, "unknown")))[GRANTS] == 141


def test_one_planted_look_decides(trial: Make) -> None:
    made = trial(see(build(), GRANTS, 141, 141, "planted"))
    assert look(made, GRANTS, START + 130, START + 150).state == "planted"
    assert look(made, GRANTS, START + 130, START + 150).at == START + 141
    assert look(made, GRANTS, START + 142, START + 150).state == "clear"


def test_no_look_is_unknown(trial: Make) -> None:
    assert look(trial(build()), GRANTS, START + 130.1, START + 130.2).state == "unknown"
