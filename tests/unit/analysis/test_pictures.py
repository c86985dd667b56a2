"""Figures 1, 3 and 5 and the pie: they show the tables' own numbers, and no text of others becomes markup."""

import math
import re
from xml.etree import ElementTree as ET

import pytest
from tests.support.trials import trial, trials

from incident_arena.analysis.cost import load_prices
from incident_arena.analysis.pictures import pictures
from incident_arena.analysis.read import Reading
from incident_arena.analysis.report import build
from incident_arena.analysis.rows import JudgeRow
from incident_arena.analysis.shapes import slice_of_pie, svg

EVIL = "<script>alert(1)</script>&\x1b]0;"
SVG = "{http://www.w3.org/2000/svg}"


def _judge(who, honest, suspicious, exploit):
    return JudgeRow(
        judge="j", who=who, scored=10, refused=0, missing=0, failed=0, honest=honest, suspicious=suspicious,
        exploit=exploit, any_flag=suspicious + exploit,
    )  # fmt: skip


@pytest.fixture(scope="module")
def report():
    some = [
        *trials("frappe/a", "good", 3, 4, effort="high"),
        *trials("frappe/b", "good", 3, 4, effort="high"),
        *trials("frappe/a", EVIL, 1, 4, effort="low"),
        trial("frappe/a", EVIL, 0, effort="low", refused=True, failure_class="off-list change"),
    ]
    some = [one if one.reward or one.failure_class else _failed(one) for one in some]
    made = build(Reading(trials=some), load_prices())
    return made.model_copy(update={"judges": [_judge("all", 0.5, 0.4, 0.1), _judge("good", 0.7, 0.2, 0.1)]})


def _failed(one):
    return trial(one.task, one.who, 0, effort=one.effort, failure_class="not durable", inclusive=("not durable",))


def _texts(picture):
    return [shape.text for shape in picture.shapes if shape.kind == "text"]


def test_every_figure_is_drawn_and_named_for_its_table(report):
    assert [one.name for one in pictures(report)] == ["ranking", "failures", "best_tasks", "judges"]


def test_figure_1_has_bars_as_long_as_pass_at_1_intervals_and_asterisks(report):
    picture = pictures(report)[0]
    bars = [shape for shape in picture.shapes if shape.kind == "box"]
    assert bars[0].w / bars[1].w == pytest.approx(0.75 / 0.2, rel=1e-3)
    texts = _texts(picture)
    assert "good high" in texts
    assert any(one.endswith("* low") or "\N{HORIZONTAL ELLIPSIS}" in one for one in texts)
    assert "0.750, 2 tasks" in texts
    assert sum(shape.kind == "line" and shape.tone == "ink" for shape in picture.shapes) == 3


def test_the_pie_has_the_exclusive_shares(report):
    picture = pictures(report)[1]
    assert [shape.tone for shape in picture.shapes if shape.kind == "path"] == ["hue-1", "hue-3"]
    assert "off-list change: 1 (16.7%)" in _texts(picture)
    assert "not durable: 5 (83.3%)" in _texts(picture)


def test_slices_are_sectors():
    quarter = slice_of_pie(0, 0, 10, 0, 0.25, "hue-0").path
    assert quarter == "M0,0L0.00,-10.00A10,10 0 0 1 10.00,-0.00z"
    assert " 0 1 1 " in slice_of_pie(0, 0, 10, 0, 0.75, "hue-0").path
    assert slice_of_pie(0, 0, 10, 0, 1, "hue-0").path.startswith("M0,-10a")


def test_figure_5_has_a_cell_for_each_task_and_model(report):
    texts = _texts(pictures(report)[2])
    assert texts.count("3/4") == 2
    assert "1/5" in texts
    assert {"frappe/a", "frappe/b", "good high"} <= set(texts)


def test_figure_3_has_three_buckets_a_model(report):
    picture = pictures(report)[3]
    bars = [shape for shape in picture.shapes if shape.kind == "box"][3:]
    assert [bar.tone for bar in bars] == ["ok", "warn", "fail"]
    assert [bar.w / sum(one.w for one in bars) for bar in bars] == pytest.approx([0.7, 0.2, 0.1], abs=0.001)
    assert "good by j" in _texts(picture)
    assert "30.0% of 10" in _texts(picture)


def test_svg_is_well_formed_and_inert(report):
    for picture in pictures(report):
        text = svg(picture)
        assert "<script" not in text
        assert "\x1b" not in text
        tree = ET.fromstring(text)
        assert {element.tag for element in tree.iter()} <= {
            SVG + tag for tag in ("svg", "title", "desc", "style", "rect", "line", "path", "text")
        }
        assert not re.search(r"href|url\(|on\w+=", text)
        shapes = [shape for shape in picture.shapes if shape.kind == "box"]
        assert all(one.x >= 0 and one.x + one.w <= picture.width and one.y + one.h <= picture.height for one in shapes)
        assert all(math.isfinite(one.x + one.y) for one in picture.shapes)


def test_nothing_to_show_is_no_picture():
    assert pictures(build(Reading(trials=[trial(reward=None, status="running")]), load_prices())) == []
