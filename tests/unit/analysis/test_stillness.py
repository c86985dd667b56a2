"""A gap of the whole machine is told from one that an agent could make."""

import json
from pathlib import Path

import pytest

from incident_arena.analysis.read import read_jobs
from incident_arena.analysis.simulate import FRAPPE, MODELS, Plan, simulate
from incident_arena.analysis.stillness import EVIDENCE, RECORDS, Gap, Stillness, stood_still

GAP = Gap(at=1000.0, seconds=60.0)


def write(trial: Path, gaps: tuple[Gap, ...], **extra: float) -> None:
    (trial / EVIDENCE).mkdir(parents=True, exist_ok=True)
    for name in RECORDS:
        beats = [float(at) for at in (*range(900, 1001, 4), *range(1060, 1200, 4))]
        beats += [extra[name.partition(".")[0]]] if name.partition(".")[0] in extra else []
        (trial / EVIDENCE / name).write_text("".join(json.dumps({"at": at}) + "\n" for at in beats))
    (trial / "machine.json").write_text(Stillness(gaps=gaps).model_dump_json())


def test_all_have_the_gap(tmp_path: Path) -> None:
    write(tmp_path, (GAP,))
    assert stood_still(tmp_path) == "the machine stood still for 60 s"


@pytest.mark.parametrize("witness", ["ledger", "health", "observations"])
def test_one_that_went_on_gainsays_it(tmp_path: Path, witness: str) -> None:
    write(tmp_path, (GAP,), **{witness: 1030.0})
    assert stood_still(tmp_path) == ""


def test_records_that_were_silenced_prove_nothing_without_the_runner(tmp_path: Path) -> None:
    write(tmp_path, ())
    assert stood_still(tmp_path) == ""
    (tmp_path / "machine.json").unlink()
    assert stood_still(tmp_path) == ""


def test_the_runner_alone_proves_nothing(tmp_path: Path) -> None:
    (tmp_path / "machine.json").write_text(Stillness(gaps=(GAP,)).model_dump_json())
    assert stood_still(tmp_path) == ""


def test_such_a_trial_is_inadmissible(tmp_path: Path) -> None:
    simulate(tmp_path, Plan(tasks=FRAPPE[:1], models=MODELS[:1], repeats=1, odd=0.0))
    trial = next(path.parent for path in sorted(tmp_path.glob("*/*/result.json")))
    write(trial, (GAP,))
    found = next(one for one in read_jobs([tmp_path]).trials if one.folder == trial)
    assert (found.status, found.reward, found.reason) == ("inadmissible", None, "the machine stood still for 60 s")
