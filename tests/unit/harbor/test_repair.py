"""Files that an agent left, made safe to read."""

import json
import time
from pathlib import Path

import pytest
from harbor.utils.trajectory_utils import load_model_usage_from_trajectory

from incident_arena.harbor import repair as repairing
from incident_arena.harbor.repair import document, lines, repair

DEEP = "[" * 10_000 + "]" * 10_000
HOSTILE = {
    "no UTF-8": b"\xff",
    "no JSON": b"{",
    "nothing": b"",
    "deep": DEEP.encode(),
    "deeper than any stack": b'{"a":' * 2_000_000,
    "no number": b'{"steps": NaN, "a": [Infinity, -Infinity]}',
    "too large a number": b'{"steps": ' + b"9" * 5000 + b', "b": 1e999}',
    "half a character": b'{"schema_version": "\\ud800", "\\udc00": 1}',
    "a mark in front": b"\xef\xbb\xbf{}",
    "a zero": b"\0{}",
    "no object": b"[1, 2]",
}


@pytest.mark.parametrize("what", HOSTILE)
def test_harbor_reads_any_trajectory_once_it_is_repaired(tmp_path: Path, what: str) -> None:
    path = tmp_path / "trajectory.json"
    path.write_bytes(HOSTILE[what])
    repair(tmp_path)
    assert load_model_usage_from_trajectory(path) is None
    if path.exists():
        json.dumps(json.loads(path.read_text()), ensure_ascii=False).encode()


def test_a_right_document_stays_as_it_is(tmp_path: Path) -> None:
    text = json.dumps({"steps": [{"n": 10**17, "f": 1.5e300, "text": "ä \ud83d\ude00 NaN"}]}, indent=2)
    (tmp_path / "trajectory.json").write_text(text)
    (tmp_path / "session.jsonl").write_text('{"a": "\\ud83d\\ude00"}\n{"cut": ')
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\xff")
    (tmp_path / "log.txt").write_text("[notice] all\n{well}\n")
    assert repair(tmp_path) == []
    assert (tmp_path / "trajectory.json").read_text() == text
    assert (tmp_path / "picture.png").read_bytes() == b"\x89PNG\xff"


ALL = (
    "bytes that are no UTF-8 were replaced",
    "numbers that are none, or too large, are null",
    "halves of characters were replaced",
)


def test_each_repair_is_told_and_leaves_the_rest(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "a.json").write_bytes(b'{"ok": 1, "n": NaN, "s": "\\ud800x", "b": "\xff"}')
    (tmp_path / "b.txt").write_bytes(b"fine\n\xff\n")
    (tmp_path / "c.json").write_text(DEEP)
    assert repair(tmp_path) == [
        "b.txt: bytes that are no UTF-8 were replaced",
        "c.json: is no JSON document: nested too deeply",
        f"deep/a.json: {'; '.join(ALL)}",
    ]
    assert json.loads((tmp_path / "deep" / "a.json").read_text()) == {"ok": 1, "n": None, "s": "?x", "b": "\ufffd"}
    assert (tmp_path / "b.txt").read_text() == "fine\n\ufffd\n"
    assert not (tmp_path / "c.json").exists()
    assert (tmp_path / "c.json.unreadable").read_text() == DEEP


def test_of_lines_only_those_go_that_can_not_be_read_safely() -> None:
    text = f'{{"a": 1}}\n{DEEP}\nplain\n{{"n": {"1" * 40}}}\n[cut'
    assert lines(text) == (
        '{"a": 1}\nplain\n{"n": null}\n[cut',
        ["nested too deeply, and was left out (1 lines)", "numbers that are none, or too large, are null (1 lines)"],
    )


def test_documents_that_take_too_much_to_read_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repairing, "DOCUMENT_BYTES", 1 << 20)
    monkeypatch.setattr(repairing, "LINE_BYTES", 1 << 20)
    large = json.dumps(["x" * (1 << 20)])
    with pytest.raises(ValueError, match="over 1 MiB"):
        document(large)
    assert lines(f"{large}\nrest")[0] == "rest"


def test_as_deep_as_is_allowed_and_one_deeper() -> None:
    assert document("[" * 100 + "]" * 100)[1] == []
    with pytest.raises(ValueError, match="deeply"):
        document("[" * 101 + "]" * 101)


def test_a_hostile_document_takes_no_time() -> None:
    began = time.monotonic()
    with pytest.raises(ValueError, match="Unterminated"):
        document('"' + '\\"' * (4 << 20))
    assert lines("[" * (4 << 20))[1] == ["nested too deeply, and was left out (1 lines)"]
    assert time.monotonic() - began < 10
