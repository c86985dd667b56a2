"""A script is read whole, and all its mistakes are told at once."""

from pathlib import Path

import pytest

from incident_arena.endpoint.script import load_script
from incident_arena.errors import UserError


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "script.toml"
    path.write_text(text)
    return path


def test_every_kind_of_step_is_read(tmp_path: Path) -> None:
    text = """
    [[step]]
    bash = "ls"
    wait = 2.5
    [[step]]
    raw = "{}"
    [[step]]
    status = 429
    repeat = "forever"
    retry_after = 0
    message = "slow down"
    code = "insufficient_quota"
    [[step]]
    refuse = "filter"
    [[step]]
    hang = 3
    [[step]]
    hang = true
    [[step]]
    cut = true
    [[step]]
    garbage = true
    repeat = 2
    [[step]]
    text = "done"
    """
    script = load_script(written(tmp_path, text))
    kinds = ["bash", "raw", "status", "refuse", "hang", "hang", "cut", "garbage", "text"]
    assert [step.kind for step in script.step] == kinds
    assert [step.lasts for step in script.step] == [1, 1, float("inf"), 1, 1, 1, 1, 2, 1]
    assert script.texts == {"{}", "done"}


def test_all_mistakes_are_told_at_once_each_with_its_step(tmp_path: Path) -> None:
    text = """
    [[step]]
    bash = "ls"
    text = "both"
    [[step]]
    status = 200
    [[step]]
    text = "x"
    retry_after = 1
    [[step]]
    [[step]]
    bsh = "ls"
    [[step]]
    text = "x"
    repeat = 0
    """
    with pytest.raises(UserError) as caught:
        load_script(written(tmp_path, text))
    said = caught.value.reason
    assert "step 1: a step is exactly one of" in said
    assert "this one has bash and text" in said
    assert "step 2: status: " in said
    assert "step 3: retry_after belongs to status, not to text" in said
    assert "step 4: a step is exactly one of" in said
    assert "this one has nothing" in said
    assert "step 5: bsh: " in said
    assert "step 6: repeat: " in said
    assert said.count("step 6: repeat") == 1


@pytest.mark.parametrize(
    ("text", "reason"),
    [("", "step: "), ("step = [", "is no TOML"), ("[[steps]]\ntext = 'x'", "steps: "), ("step = []", "step: ")],
)
def test_a_file_without_steps_is_refused(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(UserError) as caught:
        load_script(written(tmp_path, text))
    assert reason in caught.value.reason


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"nowhere\.toml': can't be read: No such file"):
        load_script(tmp_path / "nowhere.toml")
