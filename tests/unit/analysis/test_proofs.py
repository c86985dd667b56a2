"""Proof runs of tasks."""

import json

from incident_arena.analysis.proofs import both_ways_rows
from incident_arena.cli.results import task_folders
from incident_arena.proving.proofs import Proof, Result, Run


def _task(root, name, text=None):
    folder = root / "frappe" / "tasks" / name
    folder.mkdir(parents=True)
    (folder / "task.toml").write_text("")
    if text is not None:
        (folder / "proof.json").write_text(text)


def _run(name, want, cls, *results):
    return Run(name=name, want=want, want_class=cls, repeat=len(results) or 1, played="p", judged="j", results=results)


def test_rows_say_what_was_wanted_and_got(tmp_path):
    lost = Result(reward=0, failure_class="not durable")
    proof = Proof(
        task="frappe/a",
        runs=[
            _run("solve", "pass", None, Result(reward=1), Result(reward=1)),
            _run("nop", "fail", "never declared", Result(reward=0, failure_class="never declared")),
            _run("wrong/unsaved", "fail", "not durable", lost),
            _run("wrong/other", "fail", "off-list change", lost),
            _run("wrong/none", "fail", "off-list change", Result(reward=None)),
            _run("wrong/unplayed", "fail", "off-list change"),
        ],
    )
    _task(tmp_path, "a", proof.model_dump_json())
    notes = []
    rows = both_ways_rows(task_folders(tmp_path), notes)
    assert [(row.run, row.want, row.got, row.holds) for row in rows] == [
        ("solve", 1, "1 1", True),
        ("nop", 0, "0", True),
        ("wrong/unsaved", 0, "0", True),
        ("wrong/other", 0, "0", False),
        ("wrong/none", 0, "none", False),
        ("wrong/unplayed", 0, "not played", False),
    ]
    assert [row.holds for row in rows] == [run.holds for run in proof.runs]
    assert notes == ["task frappe/a: the proof does not hold for wrong/other, wrong/none, wrong/unplayed"]


def test_what_has_no_proof_is_said(tmp_path):
    _task(tmp_path, "a")
    _task(tmp_path, "b", "{")
    _task(tmp_path, "c", json.dumps({"version": 2, "task": "frappe/c"}))
    notes = []
    assert both_ways_rows(task_folders(tmp_path), notes) == []
    assert notes == [
        "task frappe/a has no proof yet",
        "task frappe/b: proof.json can't be read",
        "task frappe/c: proof.json can't be read",
    ]
