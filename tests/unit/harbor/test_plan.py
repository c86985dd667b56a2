from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incident_arena.errors import UserError
from incident_arena.harbor.experiment import AgentEntry, Experiment
from incident_arena.harbor.plan import Batch, Cell, Played, batches, failed_controls, played, rows, summary

TASKS = ("s/a", "s/b", "s/c")
EFFORTS = ("low", "high")


def experiment(trials: int = 3) -> Experiment:
    entries = (
        AgentEntry.model_construct(agent="x", models=("p/m", "p/n"), efforts=EFFORTS),
        AgentEntry.model_construct(agent="y"),
    )
    return Experiment.model_construct(version=1, tasks=TASKS, trials=trials, agents=entries)


def cells(todo: Iterable[Batch]) -> dict[Cell, int]:
    found: dict[Cell, int] = {}
    for batch in todo:
        for model, effort in batch.variants:
            for task in batch.tasks:
                cell = Cell(task, batch.entry.agent, model or "", effort or "")
                assert cell not in found, "a cell is in one batch alone"
                found[cell] = batch.trials
    return found


def test_a_fresh_experiment_is_one_job_for_each_agent_after_the_controls() -> None:
    plan = rows(experiment(), Played())
    todo = batches(plan)
    assert [(one.entry.agent, one.trials) for one in todo] == [("oracle", 1), ("nop", 1), ("x", 3), ("y", 3)]
    assert summary(plan) == (2 * 3 + 4 * 3 * 3 + 3 * 3,) * 2
    assert set(cells(todo).values()) == {1, 3}


@settings(deadline=None)
@given(st.dictionaries(st.tuples(st.sampled_from(TASKS), st.sampled_from(["p/m", "p/n"]), st.sampled_from(EFFORTS)),
                       st.integers(min_value=0, max_value=5)))  # fmt: skip
def test_exactly_what_is_missing_is_played(known: dict[tuple[str, str, str], int]) -> None:
    done = Played({Cell(task, "x", model, effort): [0.0] * n for (task, model, effort), n in known.items() if n})
    plan = rows(experiment(), done)
    assert cells(batches(plan)) == {row.cell: row.missing for row in plan if row.missing}
    for row in plan:
        assert row.missing + min(row.played, row.wanted) == row.wanted


def test_seeds_that_were_played_are_left_out_and_contestants_that_lack_others_are_another_job() -> None:
    one, other = Cell("s/a", "x", "p/m", "low"), Cell("s/a", "x", "p/n", "low")
    done = Played({one: [1.0, 0.0], other: [1.0]}, seeds={one: [1, 3], other: [0]})
    plan = {row.cell: row.seeds for row in rows(experiment(), done)}
    assert (plan[one], plan[other], plan[Cell("s/b", "x", "p/m", "low")]) == ((2,), (1, 2), (1, 2, 3))
    todo = batches(rows(experiment(), done))
    assert [one.seeds for one in todo if one.entry.agent == "x"] == [(1, 2, 3), (1, 2, 3), (1, 2), (2,)]
    assert cells(todo)[one] == 1


def test_nothing_is_left_when_all_is_played() -> None:
    done = Played({row.cell: [1.0] * row.wanted for row in rows(experiment(), Played())})
    assert batches(rows(experiment(), done)) == []
    assert sum(cells(batches(rows(experiment(trials=4), done))).values()) == 15  # one more in each cell of the agents


def test_controls_must_be_one_and_nothing() -> None:
    right = {Cell(task, "oracle"): [1.0] for task in TASKS} | {Cell(task, "nop"): [0.0] for task in TASKS}
    assert failed_controls(TASKS, Played(right)) == []
    wrong = right | {Cell("s/a", "oracle"): [0.0], Cell("s/b", "nop"): [1.0]}
    del wrong[Cell("s/c", "nop")]
    assert failed_controls(TASKS, Played(wrong)) == [
        "s/a: oracle scored 0; it must score 1",
        "s/b: nop scored 1; it must score 0",
        "s/c: nop has no verdict; it must score 0",
    ]


def test_a_folder_that_is_not_there_or_of_a_single_job(tmp_path: Path) -> None:
    assert played(tmp_path / "none") == Played()
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(UserError, match="single job"):
        played(tmp_path)
