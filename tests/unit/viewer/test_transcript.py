import json
from pathlib import Path

from incident_arena.viewer.transcript import LOG, STEPS, TEXT, transcript


def write(folder: Path, steps: list[dict[str, object]]) -> None:
    (folder / "agent").mkdir(exist_ok=True)
    (folder / "agent" / "trajectory.json").write_text(json.dumps({"schema_version": "ATIF-v1.8", "steps": steps}))


def test_nothing_is_no_transcript(tmp_path: Path):
    assert transcript(tmp_path) is None


def test_steps_calls_and_results(tmp_path: Path):
    call = {"tool_call_id": "c", "function_name": "bash", "arguments": {"command": "ls\n-l"}}
    several = {"tool_call_id": "d", "function_name": "edit", "arguments": {"path": "/x", "lines": [1, 2]}}
    step = {
        "step_id": 1,
        "source": "agent",
        "message": [{"type": "text", "text": "look"}, {"type": "image", "source": {"path": "x.png"}}],
        "reasoning_content": "because",
        "tool_calls": [call, several],
        "observation": {"results": [{"source_call_id": "c", "content": "a\nb"}, {"content": None}]},
    }
    write(tmp_path, [step])

    made = transcript(tmp_path)

    assert made
    [shown] = made.steps
    assert shown.text == "look\n[image]"
    assert shown.reasoning == "because"
    assert [(one.name, one.arguments) for one in shown.calls] == [
        ("bash", "ls\n-l"),
        ("edit", "path: /x\nlines: [1, 2]"),
    ]
    assert shown.results == ["a\nb", ""]


def test_long_transcripts_say_what_they_leave_out(tmp_path: Path):
    write(
        tmp_path,
        [
            {"step_id": n + 1, "source": "agent", "message": "x" * (TEXT + 10 if n == 0 else 1)}
            for n in range(STEPS + 3)
        ],
    )

    made = transcript(tmp_path)

    assert made
    assert (len(made.steps), made.steps_left_out) == (STEPS, 3)
    assert "10 characters left out" in made.steps[0].text
    assert len(made.steps[0].text) < TEXT + 60


def test_half_a_surrogate_pair_does_not_hide_the_transcript(tmp_path: Path):
    write(tmp_path, [{"step_id": 1, "source": "agent", "message": "before \ud800 after"}])

    made = transcript(tmp_path)

    assert made
    assert made.steps[0].text == "before ? after"
    assert made.model_dump_json()


def test_another_format_is_said(tmp_path: Path):
    (tmp_path / "agent").mkdir()
    (tmp_path / "agent" / "trajectory.json").write_text('{"steps": 3}')

    made = transcript(tmp_path)

    assert made
    assert "steps" in made.note


def test_what_is_no_json_is_said(tmp_path: Path):
    (tmp_path / "agent").mkdir()
    (tmp_path / "agent" / "trajectory.json").write_text('{"steps": [')

    made = transcript(tmp_path)

    assert made
    assert "could not be read" in made.note


def test_logs_of_scripts(tmp_path: Path):
    for name in ("agent/oracle.txt", "verifier/test-stdout.txt", "trial.log", "agent/empty.txt", "agent/data.json"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("" if "empty" in name else f"in {name}")

    made = transcript(tmp_path)

    assert made
    assert [log.name for log in made.logs] == ["agent/oracle.txt", "verifier/test-stdout.txt", "trial.log"]


def test_a_link_shows_no_file_of_the_reader(tmp_path: Path):
    secret = tmp_path / "secret"
    secret.write_text("secret")
    trial = tmp_path / "trial"
    (trial / "agent").mkdir(parents=True)
    (trial / "agent" / "oracle.txt").symlink_to(secret)

    assert transcript(trial) is None


def test_a_long_log_keeps_both_ends(tmp_path: Path):
    (tmp_path / "trial.log").write_text("first" + "x" * (2 * LOG) + "last")

    made = transcript(tmp_path)

    assert made
    [log] = made.logs
    assert log.text.startswith("first")
    assert log.text.endswith("last")
    assert log.left_out == LOG + 9
