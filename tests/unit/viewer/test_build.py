import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from incident_arena.analysis.cost import load_prices, with_cost
from incident_arena.analysis.judgements import Judgement, append
from incident_arena.analysis.read import Reading, read_jobs
from incident_arena.analysis.report import Report, labelled
from incident_arena.analysis.simulate import FRAPPE, MODELS, Plan, simulate
from incident_arena.cli.view import make_page
from incident_arena.errors import InfrastructureError
from incident_arena.viewer import build as module
from incident_arena.viewer.build import Built, build
from incident_arena.viewer.packs import decode


def index(path: Path) -> dict:
    found = re.search(r'id="index">([A-Za-z0-9+/=]+)<', path.read_text())
    assert found
    return json.loads(decode(found[1]))


def test_every_trial_is_listed_with_its_cost(make: Callable[[], Built], reading: Reading):
    shown = index(make().page)["trials"]
    costs = with_cost(labelled(reading.trials, []), load_prices())["cost"]

    assert [(one["job"], one["name"]) for one in shown] == [(trial.job, trial.name) for trial in reading.trials]
    assert [one["cost"] for one in shown] == pytest.approx(costs.to_list(), nan_ok=True)


def test_a_trial_without_verdict_has_no_reward(make: Callable[[], Built]):
    shown = index(make().page)["trials"]

    assert {one["reward"] for one in shown if one["status"] != "judged"} == {None}
    assert {one["reward"] for one in shown if one["status"] == "judged"} == {0, 1}


def test_what_has_no_room_goes_beside_transcripts_first(make: Callable[[], Built], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("incident_arena.viewer.packs.PACK_BYTES", 4000)
    full = make()
    monkeypatch.setattr(module, "BUDGET", 110_000)
    made = make()
    shown = index(made.page)
    outside = set(shown["outside"])
    beside = {
        part: sum(one[part] is not None and one[part][0] in outside for one in shown["trials"])
        for part in ("detail", "timeline", "transcript")
    }

    assert full.files_beside == 0
    assert made.files_beside == len(outside) > 10
    assert made.page_bytes < full.page_bytes
    assert beside["detail"] == 0
    assert beside["transcript"] == sum(one["transcript"] is not None for one in shown["trials"])


def test_a_new_page_leaves_no_old_files_beside(make: Callable[[], Built]):
    old = make().folder
    old.mkdir()
    (old / "999.js").write_text("arenaPack()")

    assert make().files_beside == 0


def test_an_unwritable_place_is_said(reading: Reading, report: Report, tmp_path: Path):
    (tmp_path / "file").touch()

    with pytest.raises(InfrastructureError, match="--out"):
        build(reading, report, load_prices(), tmp_path / "file" / "page.html")


def test_a_page_is_not_written_through_a_link(reading: Reading, report: Report, tmp_path: Path):
    (tmp_path / "mine").write_text("precious")
    (tmp_path / "page.html").symlink_to(tmp_path / "mine")
    built = build(reading, report, load_prices(), tmp_path / "page.html")

    assert not built.page.is_symlink()
    assert (tmp_path / "mine").read_text() == "precious"


def test_nothing_is_written_or_deleted_behind_a_link_beside_the_page(
    reading: Reading, report: Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("incident_arena.viewer.build.BUDGET", 0)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "1.js").write_text("precious")
    (tmp_path / "page.data").symlink_to(tmp_path / "mine")
    with pytest.raises(InfrastructureError, match=r"page\.data' is a link"):
        build(reading, report, load_prices(), tmp_path / "page.html")

    assert [(one.name, one.read_text()) for one in (tmp_path / "mine").iterdir()] == [("1.js", "precious")]


def test_judges_stand_in_their_trial_alone(tmp_path: Path):
    simulate(tmp_path / "jobs", Plan(tasks=FRAPPE[:1], models=MODELS[:1], repeats=1, odd=0, steps=0))
    trial = read_jobs([tmp_path / "jobs"]).judged[1]
    said = Judgement(
        trial=trial.id, name=trial.name, judge="j", rubric="r", at=1.0, status="scored", category="exploit", score=90,
        reasons="It read the answer.",
    )  # fmt: skip
    append(trial.folder.parent, said)
    text = make_page([tmp_path / "jobs"], tmp_path / "page.html").page
    found = {}
    for row in index(text)["trials"]:
        number, place = row["detail"]
        pack = re.search(f'id="pack-{number}">([A-Za-z0-9+/=]+)<', text.read_text())
        assert pack
        found[row["name"]] = json.loads(decode(pack[1]))[place]["judgements"]

    assert found.pop(trial.name) == [said.model_dump()]
    assert list(found.values()) == [[]] * 4
