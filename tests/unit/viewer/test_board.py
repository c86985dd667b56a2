import pytest

from incident_arena.analysis.report import Report
from incident_arena.viewer.board import tables
from incident_arena.viewer.model import Table


def table(report: Report, key: str) -> Table:
    return next(one for one in tables(report) if one.key == key)


def column(one: Table, name: str) -> int:
    return [column.name for column in one.columns].index(name)


def test_the_leaderboard_is_first(report: Report):
    keys = [one.key for one in tables(report)]

    assert keys[:4] == ["main", "pass_hat_k", "failures", "task_models"]
    assert [one.first for one in tables(report)] == [True] * 4 + [False] * (len(keys) - 4)


def test_figures_are_the_reports_own(report: Report):
    main = table(report, "main")
    rate = column(main, "Pass@1, 95 %")

    for line, row in zip(main.rows, report.main, strict=True):
        assert row.interval
        assert line[0].value == row.who
        assert (line[rate].value, line[rate].low, line[rate].high) == (
            row.pass_at_1,
            row.interval.low,
            row.interval.high,
        )


def test_every_table_with_rows_is_there(report: Report):
    lists = {name for name in Report.model_fields if isinstance(getattr(report, name), list) and getattr(report, name)}

    expected = (lists | {"efforts"}) - {"jobs", "notes", "statuses", "trials"}
    assert {one.key for one in tables(report)} == expected


def test_efforts_have_their_cost(report: Report):
    efforts = table(report, "efforts")
    cost = column(efforts, "Cost $")
    rows = [row for row in report.groups if row.dimension == "effort"]

    assert efforts.columns[cost].kind == "money"
    assert [line[cost].value for line in efforts.rows] == [row.cost_mean for row in rows]
    assert "effort" not in {line[0].value for line in table(report, "groups").rows}


def test_failures_have_a_line_for_each_model(report: Report):
    failures = table(report, "failures")
    cell = failures.rows[1][column(failures, "not durable")]
    row = next(
        one for one in report.failures if (one.who, one.failure_class) == (failures.rows[1][0].value, "not durable")
    )

    assert failures.rows[0][0].value == "all"
    assert (cell.value, cell.note) == (row.exclusive, f"/ {row.inclusive}")


def test_without_failures_there_is_no_table_of_them(report: Report):
    none = [row.model_copy(update={"exclusive": 0, "inclusive": 0}) for row in report.failures]

    assert "failures" not in {one.key for one in tables(report.model_copy(update={"failures": none}))}


def test_kinds_of_columns(report: Report):
    kinds = {one.name: one.kind for one in table(report, "configurations").columns}

    assert kinds["Pass@1"] == "share"
    assert kinds["Cost mean $"] == "money"
    assert kinds["Tokens in"] == "tokens"
    assert kinds["Agent s"] == "duration"
    assert kinds["Trials"] == "count"
    assert kinds["Harness"] == "text"


@pytest.mark.parametrize(("key", "place"), [("main", 1), ("ranking", 3), ("efforts", 3)])
def test_the_figure_with_an_interval_comes_right_after_what_names_the_row(report: Report, key: str, place: int):
    assert column(table(report, key), "Pass@1, 95 %") == place


def test_pass_hat_k_has_its_interval(report: Report):
    curve = table(report, "pass_hat_k")

    for row in report.pass_hat_k:
        line = next(one for one in curve.rows if one[0].value == row.who)
        cell = line[column(curve, str(row.k))]
        assert row.interval
        assert (cell.value, cell.low, cell.high) == (row.value, row.interval.low, row.interval.high)


def test_with_one_trial_a_task_there_is_no_pass_hat_k(report: Report):
    once = [row for row in report.pass_hat_k if row.k == 1]

    assert "pass_hat_k" not in {one.key for one in tables(report.model_copy(update={"pass_hat_k": once}))}
