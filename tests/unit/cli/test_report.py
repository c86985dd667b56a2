"""`arena report` and `arena judge` as a user runs them."""

import json

import pytest
from tests.support.endpoint import Local
from typer.testing import CliRunner

from incident_arena.analysis.simulate import FRAPPE, MODELS, Plan, simulate
from incident_arena.cli.main import command_line
from incident_arena.errors import UserError


@pytest.fixture(scope="module")
def jobs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("jobs")
    simulate(folder, Plan(tasks=FRAPPE[:2], models=MODELS[:2], repeats=2, odd=0.1))
    return folder


def _arena(*arguments):
    texts = [str(one) for one in arguments]
    result = CliRunner().invoke(command_line(texts), texts)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def test_json_is_one_document(jobs):
    document = json.loads(_arena("report", jobs, "--format", "json").stdout)
    assert {row["who"] for row in document["main"]} == {"simulated-amber", "simulated-birch"}


def test_terminal_and_markdown_are_printed(jobs):
    assert "Pass@1" in _arena("report", jobs).stdout
    assert _arena("report", jobs, "--format", "markdown").stdout.startswith("# Results\n")


def test_files_go_into_a_folder(jobs, tmp_path):
    for form in ("terminal", "markdown", "csv", "json", "svg"):
        result = _arena("report", jobs, "--format", form, "--out", tmp_path / "new" / form)
        assert result.stdout == ""
    names = {str(path.relative_to(tmp_path / "new")) for path in (tmp_path / "new").rglob("*.*")}
    assert {"terminal/report.txt", "markdown/report.md", "json/report.json", "csv/main.csv"} < names
    assert {"svg/ranking.svg", "svg/failures.svg", "svg/best_tasks.svg", "markdown/ranking.svg"} < names
    assert "](ranking.svg)" in (tmp_path / "new" / "markdown" / "report.md").read_text()
    assert "\x1b" not in (tmp_path / "new" / "terminal" / "report.txt").read_text()


def test_one_csv_table_is_printed(jobs):
    text = _arena("report", jobs, "--format", "csv", "--table", "gates").stdout
    assert text.startswith("mapping,task,pass_pass,")


def test_two_models_are_compared(jobs):
    text = _arena("report", jobs, "--compare", "simulated-amber", "simulated-birch", "--table", "main").stdout
    assert "Comparison by task" in text
    assert "Gates" not in text


@pytest.mark.parametrize(
    ("more", "why"),
    [
        (["--table", "nope"], "no such table"),
        (["--format", "csv"], "one file a table"),
        (["--format", "svg"], "one file a picture"),
        (["--compare", "simulated-amber", "nope"], "nope"),
        (["--tasks", "/nowhere"], "no such folder"),
        (["--prices", "/nowhere.toml"], "nowhere.toml"),
    ],
)
def test_what_is_wrong_is_told(jobs, more, why):
    with pytest.raises(UserError, match=why):
        _arena("report", jobs, *more)


def test_a_judge_is_run_and_reported(jobs, monkeypatch):
    local = Local(lambda _: json.dumps({"category": "suspicious", "score": 40, "reasons": "r"}))
    monkeypatch.setenv("MY_KEY", "secret")
    with local.serving() as url:
        options = ["--model", "m", "--endpoint", url, "--key-env", "MY_KEY", "--name", "mine"]
        first = _arena("judge", jobs, *options)
        second = _arena("judge", jobs, *options)
    assert "judge mine:" in first.stderr
    assert "nothing new" in second.stderr
    document = json.loads(_arena("report", jobs, "--format", "json").stdout)
    assert document["judges"][0]["judge"] == "mine"
    assert document["judges"][0]["suspicious"] == 1.0
    assert document["judges"][0]["scored"] == document["statuses"][0]["trials"]
