"""Four formats of one report, with hostile text in it."""

import csv
import io
import json

import jsonschema
import pytest
from tests.support.trials import trial, trials

from incident_arena.analysis.attempts import Attempt
from incident_arena.analysis.cells import cell, clean, grids, table_names
from incident_arena.analysis.compare import compare_sides
from incident_arena.analysis.cost import load_prices
from incident_arena.analysis.layout import fit
from incident_arena.analysis.read import Reading
from incident_arena.analysis.render import csv_tables, json_document, markdown, terminal
from incident_arena.analysis.report import Report, build
from incident_arena.analysis.rows import Span
from incident_arena.analysis.schemas import schemas
from incident_arena.analysis.trial import frame

HOSTILE = "=cmd|' /C calc'!A1 <script>alert(1)</script> **bold** | [x](http://e) \x1b[31mred\x07 \u202eabc\n# head"


@pytest.fixture(scope="module")
def report():
    some = [
        *trials("frappe/a", "gpt-6-sol", 7, 10, effort="high", input_tokens=2_000_000, output_tokens=100),
        *trials("frappe/b", "gpt-6-sol", 2, 10, effort="high"),
        *trials("frappe/a", "claude-opus-5", 5, 10, effort="low"),
        *trials("frappe/b", "claude-opus-5", 5, 10, effort="low"),
        trial(reward=None, status="inadmissible", reason=HOSTILE, judge_version=None),
        trial(reward=None, status="errored", reason=f"the provider failed: {HOSTILE}"),
    ]
    attempts = [Attempt(job="job", trial="gone", task=HOSTILE, inadmissible="no symptom"), Attempt(
        job="job", trial="again", task="frappe/a", admissible=True, errored=f"the provider failed: {HOSTILE}",
        model="gpt-6-sol", input_tokens=2_000_000, output_tokens=1000, id="again",
    )]  # fmt: skip
    made = build(Reading(trials=some, attempts=attempts, notes=[HOSTILE]), load_prices())
    return made.model_copy(update={"comparison": compare_sides(frame(some[:-2]), "gpt-6-sol", "claude-opus-5")})


def test_terminal_obeys_nothing_of_others(report):
    text = terminal(report)
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "\u202e" not in text
    assert "[x](http://e)" in text
    assert "Pass@1" in text
    assert text.count("# head") >= 2


@pytest.mark.parametrize("width", [80, 100])
def test_terminal_fits_its_width_and_splits_no_figure(report, width):
    text = terminal(report, table_names(), width=width)
    drawn = [line for line in text.splitlines() if line[:1] in "┏┃┡│└"]
    assert max(map(len, drawn)) <= width
    shown = {part.strip() for line in drawn for part in line.split("│")}
    for grid in grids(report, table_names()):
        figures = {row[place] for row in grid.rows for place in range(len(row)) if place not in grid.text_columns}
        assert figures <= shown, grid.title


def test_a_broken_table_names_its_rows_in_each_part(report):
    grid = next(one for one in grids(report, ["main"]))
    parts = fit(grid, 80)
    assert len(parts) > 1
    assert all(part.grid.columns[0] == "Model" for part in parts)
    assert [column for part in parts for column in part.grid.columns[1:]] == list(grid.columns[1:])
    assert all(sum(part.widths) + 3 * len(part.widths) + 1 <= 80 for part in parts)


def test_the_cost_of_each_effort_is_in_every_format(report):
    row = next(one for one in report.groups if one.dimension == "effort" and one.cost_mean is not None)
    cost = cell("cost_mean", row.cost_mean)
    grid = next(one for one in grids(report) if one.title == "By effort")
    line = next(one for one in grid.rows if one[:2] == (row.value, row.who))
    assert line[grid.columns.index("Cost $")] == cost
    assert f"| {cost} |" in markdown(report, ["groups"])
    assert f"│ {cost} │" in terminal(report, ["groups"], width=80)
    assert f",{row.cost_mean}," in csv_tables(report, ["groups"])["groups"]
    assert json.loads(json_document(report, ["groups"]))["groups"][-1].keys() >= {"cost_mean", "pooled"}


def test_markdown_has_no_markup_of_others(report):
    text = markdown(report)
    for bad in ("<script>", "**bold**", "[x](http", "\n# head"):
        assert bad not in text
    lines = text.splitlines()
    start = lines.index("## Models")
    head, rule, row = lines[start + 2 : start + 5]
    assert head.startswith("| Model |")
    assert set(rule) <= set("| -:")
    assert row.count("|") == head.count("|") == rule.count("|")


def test_every_markdown_row_has_as_many_cells_as_its_head(report):
    block: list[str] = []
    for line in [*markdown(report).splitlines(), ""]:
        if line.startswith("|"):
            block.append(line.replace("\\|", ""))
        elif block:
            assert len({one.count("|") for one in block}) == 1
            block = []


def test_csv_has_a_column_for_each_field_and_two_for_an_interval(report):
    tables = {name: list(csv.reader(io.StringIO(text))) for name, text in csv_tables(report).items()}
    assert tables["main"][0][4:7] == ["pass_at_1", "interval_low", "interval_high"]
    assert tables["main"][1][:5] == ["claude-opus-5", "20", "2", "10", "0.5"]
    assert {"notes", "comparison", "comparison_tasks"} < set(tables)
    for lines in tables.values():
        assert len({len(line) for line in lines}) == 1
    texts = [one for lines in tables.values() for line in lines[1:] for one in line]
    assert any(one.startswith("'=cmd") for one in texts)
    assert not any(one.startswith("=") for one in texts)


def test_one_table_alone(report):
    assert set(csv_tables(report, ["main"])) == {"main"}
    assert "Gates" not in markdown(report, ["main"])
    assert set(json.loads(json_document(report, ["main"]))) == {
        "version", "product", "simulated", "jobs", "notes", "main",
    }  # fmt: skip


def test_json_holds_to_its_schema_and_reads_back(report):
    text = json_document(report)
    schema = json.loads(schemas()["report.json"])
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(json.loads(text), schema)
    assert Report.model_validate_json(text) == report
    broken = json.loads(text)
    broken["main"][0]["pass_at_1"] = 1.5
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(broken, schema)


def test_wide_tables_are_turned(report):
    grid = {one.name: one for one in grids(report)}["task_models"]
    assert grid.columns == ("Task", "claude-opus-5", "gpt-6-sol")
    assert grid.rows == (("frappe/a", "0.50 n=10", "0.70 n=10"), ("frappe/b", "0.50 n=10", "0.20 n=10"))


def test_every_table_is_named_and_drawn(report):
    drawn = {one.name for one in grids(report)}
    assert drawn - {"comparison_tasks"} <= set(table_names())
    empty = {"no_fault", "judges", "agreement", "both_ways", "trials", "unusable"}
    assert drawn - {"comparison_tasks"} == set(table_names()) - empty


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [
        ("cost_mean", 3.276, "3.28"),
        ("input_tokens", 2_812_345.6, "2.81M"),
        ("output_tokens", 19_766.2, "19,766"),
        ("p_same", 0.0002, "<0.001"),
        ("p_same", 0.04, "0.040"),
        ("change", 0.0123, "+0.012"),
        ("pass_at_1", 0.59, "0.590"),
        ("trials", 2_936, "2,936"),
        ("holds", False, "no"),
        ("x", None, "-"),
        ("interval", Span(low=0.43, high=0.743), "[0.430, 0.743]"),
    ],
)
def test_cells(key, value, text):
    assert cell(key, value) == text


def test_clean_leaves_one_printable_line():
    assert (
        clean("a\n b\t\x00c\u202e\u200bé")
        == "a b \N{REPLACEMENT CHARACTER}c\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}é"
    )
