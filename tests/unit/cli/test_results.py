"""What `arena report`, `view` and `judge` refuse, and what they leave behind."""

import io
import json
import os
from pathlib import Path

import pytest
from rich.table import Table
from typer.testing import CliRunner

from incident_arena.analysis.simulate import FRAPPE, Plan, SimModel, simulate
from incident_arena.cli import main, say
from incident_arena.errors import ArenaError, InfrastructureError, UserError


@pytest.fixture
def jobs(tmp_path: Path) -> Path:
    simulate(tmp_path / "jobs", Plan(tasks=FRAPPE[:1], models=(SimModel("m", efforts=("low",)),), repeats=2, odd=0.0))
    return tmp_path / "jobs"


def _arena(*arguments: object) -> str:
    texts = [str(one) for one in arguments]
    result = CliRunner().invoke(main.command_line(texts), texts)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.stdout


@pytest.mark.parametrize("verb", ["report", "view", "judge"])
def test_no_trials_are_exit_status_3(tmp_path, verb):
    (tmp_path / "job").mkdir()
    (tmp_path / "job" / "config.json").write_text("{}")
    (tmp_path / "job" / "result.json").write_text('{"n_total_trials": 4}')
    more = ["--model", "m", "--endpoint", "http://127.0.0.1:9"] if verb == "judge" else []
    with pytest.raises(InfrastructureError, match="it holds no trials") as failed:
        _arena(verb, tmp_path / "job", *more)
    assert failed.value.exit_status == 3


def test_out_onto_a_file_is_one_message(jobs, tmp_path):
    (tmp_path / "file").write_text("mine")
    for form in ("json", "csv", "markdown", "terminal"):
        with pytest.raises(UserError, match="it is a file"):
            _arena("report", jobs, "--format", form, "--out", tmp_path / "file")
    with pytest.raises(UserError, match="--out"):
        _arena("report", jobs, "--out", tmp_path / "file" / "below")
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize("verb", ["report", "view"])
@pytest.mark.parametrize(("name", "why"), [("nowhere", "no such folder"), ("jobs", "no tasks in it")])
def test_tasks_that_are_none_are_one_message(jobs, tmp_path, verb, name, why):
    with pytest.raises(UserError, match=why):
        _arena(verb, jobs, "--tasks", tmp_path / name)


@pytest.mark.parametrize("form", ["svg", "markdown"])
def test_a_used_folder_keeps_no_picture_of_an_earlier_report(jobs, tmp_path, form):
    out = tmp_path / "out"
    out.mkdir()
    for name in ("main.svg", "mine.svg"):
        (out / name).write_text("old")
    _arena("report", jobs, "--format", form, "--out", out)
    assert not (out / "main.svg").exists()
    assert (out / "mine.svg").read_text() == "old"


def test_a_used_folder_keeps_no_table_of_an_earlier_report(jobs, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    for name in ("judges.csv", "comparison_tasks.csv", "unusable.csv"):
        (out / name).write_text("old")
    (out / "mine.csv").write_text("the user's own")
    _arena("report", jobs, "--format", "csv", "--out", out)
    names = {path.name for path in out.iterdir()}
    assert {"main.csv", "trials.csv", "notes.csv", "mine.csv"} <= names
    assert not names & {"judges.csv", "comparison_tasks.csv", "unusable.csv"}
    _arena("report", jobs, "--format", "csv", "--table", "gates", "--out", out)
    assert {path.name for path in out.iterdir()} == {"gates.csv", "mine.csv"}


@pytest.mark.parametrize("form", ["terminal", "markdown", "csv", "json", "svg"])
def test_no_file_is_written_through_a_link(jobs, tmp_path, form):
    """`--out` may name a folder that came from elsewhere: the job's own."""
    out = tmp_path / "out"
    _arena("report", jobs, "--format", form, "--out", out)
    names = {path.name for path in out.iterdir()}
    (tmp_path / "mine").write_text("precious")
    for number, name in enumerate(sorted(names)):
        (out / name).unlink()
        if number % 2:
            os.mkfifo(out / name)
        else:
            (out / name).symlink_to(tmp_path / "mine")
    _arena("report", jobs, "--format", form, "--out", out)
    assert (tmp_path / "mine").read_text() == "precious"
    assert {path.name for path in out.iterdir() if path.is_file() and not path.is_symlink()} == names


def test_every_trial_is_in_csv_and_json(jobs):
    text = _arena("report", jobs, "--format", "csv", "--table", "trials")
    head, *lines = text.splitlines()
    assert {"status", "reason", "failure_class", "cost", "folder", "checks"} <= set(head.split(","))
    assert len(lines) == 2
    document = json.loads(_arena("report", jobs, "--format", "json"))
    folders = {str(path.parent) for path in jobs.glob("*/*/result.json")}
    assert {row["folder"] for row in document["trials"]} == folders
    assert "Trials" not in {line.strip() for line in _arena("report", jobs).splitlines()}


HOSTILE = "a[/b] [bold]x[/] \x1b[31m\x9b2J\u202e\x07\r:smile:"
SHOWN = "a[/b] [bold]x[/] \N{REPLACEMENT CHARACTER}[31m"


@pytest.mark.parametrize("terminal", [True, False])
def test_text_of_others_is_text(monkeypatch, terminal):
    console = say.PlainConsole()
    console.file = text = io.StringIO()
    monkeypatch.setattr(console, "_force_terminal", terminal)
    monkeypatch.setattr(console, "_color_system", None)
    monkeypatch.setattr(say, "console", console)
    say.say(HOSTILE)
    console.print(HOSTILE, soft_wrap=True)
    table = Table(HOSTILE, width=200)
    table.add_row(HOSTILE)
    console.print(table, width=200)
    said = text.getvalue()
    assert said.count(SHOWN) == 4
    for mark in ("\x1b", "\x9b", "\u202e", "\x07", "\r"):
        assert mark not in said
    assert ":smile:" in said


def test_an_error_about_a_hostile_name_is_one_message(monkeypatch, capsys):
    def fail(_arguments: list[str]) -> object:
        raise ArenaError(f"job '{HOSTILE}'", HOSTILE, HOSTILE)

    monkeypatch.setattr(main, "command_line", fail)
    with pytest.raises(SystemExit):
        main.main()
    said = capsys.readouterr().err
    assert said.count("a[/b] [bold]x[/]") == 3
    assert "\x1b" not in said
    assert "\u202e" not in said


def test_json_on_a_terminal_moves_nothing(jobs):
    trial = next(path.parent for path in jobs.glob("*/*/result.json"))
    document = json.loads((trial / "result.json").read_text())
    document["agent_info"]["version"] = "\x9b2J\u202e\x7f é"
    (trial / "result.json").write_text(json.dumps(document))
    text = _arena("report", jobs, "--format", "json")
    assert not {"\x9b", "\u202e", "\x7f"} & set(text)
    versions = {row["agent_version"] for row in json.loads(text)["trials"]}
    assert "\x9b2J\u202e\x7f é" in versions
