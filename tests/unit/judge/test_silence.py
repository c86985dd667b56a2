"""What the checks' own tests of integrity do not reach: the load's bursts."""

from collections.abc import Callable

from tests.support.evidence import AGENT, AGENT_END, START, Episode, build

from incident_arena.formats.records import LedgerLine, Outcome
from incident_arena.judge import silence
from incident_arena.judge.trial import Trial
from incident_arena.ledger.reading import PAUSED

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


def test_a_load_that_was_down_and_only_accounts_for_it(trial: Make) -> None:
    episode = build()
    back = START + 130
    down = [line for line in episode.lines if START + 100 < line.due < back and line.type == "outcome"]
    ids = {line.id for line in down}
    shed = [
        Outcome(id=one.id, kind=one.kind, due=one.due, at=back, result="shed", latency=back - one.due, error="down")
        for one in down
    ]
    episode.lines = [line for line in episode.lines if line.id not in ids] + list[LedgerLine](shed)
    assert "the load sent 0 of 81 planned operations in 10 s" in signs(trial(episode))


def test_a_load_that_sheds_because_the_service_hangs_is_at_work(trial: Make) -> None:
    episode = build()

    def shed(line: LedgerLine) -> LedgerLine:
        hit = line.type == "outcome" and START + 80 < line.due < START + 120
        return line.model_copy(update={"result": "shed", "at": line.due, "latency": 0.0}) if hit else line

    episode.lines = [
        shed(line) for line in episode.lines if line.type == "outcome" or not START + 80 < line.due < START + 120
    ]
    assert signs(trial(episode)) == []


def test_a_pause_in_the_agents_time_is_silence(trial: Make) -> None:
    episode = build()
    episode.lines = [
        Outcome(id=one.id, kind=one.kind, due=one.due, at=one.due, result="shed", latency=0, error=PAUSED)
        if one.type == "outcome" and START + 100 < one.due < START + 130
        else one
        for one in episode.lines
        if one.type == "outcome" or not START + 100 < one.due < START + 130
    ]
    assert any("the load sent 0 of 81" in text for text in signs(trial(episode)))
