import json
from pathlib import Path

import pytest

from incident_arena.harbor.cast import LINE_MOST, Plain, Recorder


@pytest.mark.parametrize(
    ("shown", "read"),
    [
        ("ls\r\na  b\r\n", "ls\na  b\n"),
        ("\x1b[1;36mon-call\x1b[0m ~ $ ls\r\n", "on-call ~ $ ls\n"),
        ("sl\b\x1b[K\b\x1b[Kls\r\n", "ls\n"),
        ("10 %\r50 %\r100 %\r\n", "100 %\n"),
        ("axc\b\b\x1b[Pd\r\n", "ad\n"),
        ("ac\b\x1b[@b\r\n", "abc\n"),
        ("long line\r\x1b[Kshort\r\n", "short\n"),
        ("\x1b]0;a title\x07text\r\n", "text\n"),
        ("a\tb\r\n", "a       b\n"),
        ("\x1b[?1049hmenu\r\nmore\x1b[?1049lback\r\n", "[a program that takes the whole screen]\nback\n"),
        ("\x07\x00bell\r\n", "bell\n"),
    ],
)
def test_what_was_shown_reads_as_text(shown: str, read: str) -> None:
    assert Plain().feed(shown) == read


def test_output_may_come_in_any_pieces() -> None:
    shown = "\x1b[1;36mon-call\x1b[0m é\b\x1b[Ke\r\n\x1b]0;title\x1b\\x\r\n"
    plain = Plain()
    assert "".join(plain.feed(one) for one in shown) == Plain().feed(shown) == "on-call e\nx\n"


def test_a_line_without_end_is_bounded() -> None:
    plain = Plain()
    plain.feed("x" * (LINE_MOST + 5))
    plain.feed("y")
    plain.feed("\x1b[99999999C")
    assert len(plain.end()) == LINE_MOST + 1


def test_a_recording_plays_again_and_reads(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path, (80, 24), "xterm")
    recorder.said("a shell begins")
    recorder.moved("i", b"ls\r")
    recorder.moved("o", "é".encode()[:1])
    recorder.moved("o", "é".encode()[1:] + b"\r\nprompt")
    recorder.resized((100, 30))
    recorder.close()
    header, *events = map(json.loads, (tmp_path / "session.cast").read_text().splitlines())
    assert (header["version"], header["width"], header["height"], header["env"]) == (2, 80, 24, {"TERM": "xterm"})
    assert [(kind, text) for _, kind, text in events] == [
        ("i", "ls\r"), ("o", ""), ("o", "é\r\nprompt"), ("r", "100x30"),
    ]  # fmt: skip
    times = [at for at, _, _ in events]
    assert times == sorted(times)
    assert (tmp_path / "session.txt").read_text() == "── a shell begins\né\nprompt\n"
