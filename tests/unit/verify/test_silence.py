"""What the checks' own tests of integrity do not reach: the load's bursts."""

from collections.abc import Callable

from tests.support.evidence import AGENT, AGENT_END, START, Episode, build

from incident_arena.verify import silence
from incident_arena.verify.trial import Trial

type Make = Callable[[Episode], Trial]


def thin(episode: Episode, kind: str, keep: int, of: int) -> Episode:
    """Leave out operations of a kind in the agent's time: keep the first `keep` of each `of`."""
    numbers = [line.id for line in episode.lines if line.type == "intent" and line.kind == kind]
    out = {number for place, number in enumerate(numbers) if place % of >= keep}
    kept = [line for line in episode.lines if line.id not in out or not AGENT <= line.due - START < AGENT_END]
    ids = {old: new for new, old in enumerate(sorted({line.id for line in kept}), start=1)}
    episode.lines = [line.model_copy(update={"id": ids[line.id]}) for line in kept]
    return episode


def signs(trial: Trial) -> list[str]:
    return [text for _, text in silence.load(trial)]


def test_the_planned_load_gives_no_sign(trial: Make) -> None:
    assert signs(trial(build())) == []


def test_a_kind_at_half_its_rate(trial: Make) -> None:
    assert any("planned operations of create" in text for text in signs(trial(thin(build(), "create", 1, 2))))


def test_chance_is_no_sign(trial: Make) -> None:
    assert signs(trial(thin(build(), "sign-in", 5, 6))) == []


def test_a_kind_that_comes_in_bursts_varies_more(trial: Make) -> None:
    episode = thin(build(), "create", 1, 2)
    kinds = episode.task.load.kinds
    load = episode.task.load.model_copy(
        update={"kinds": {**kinds, "create": kinds["create"].model_copy(update={"burst": 40})}}
    )
    episode.spec(load=load)
    assert not any("planned operations of create" in text for text in signs(trial(episode)))
