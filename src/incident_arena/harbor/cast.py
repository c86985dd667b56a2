"""The recording of a terminal: an asciinema cast (version 2) to play again, and the same as text to read."""

import codecs
import json
import re
import time
from pathlib import Path
from typing import Any, Literal

CAST = "session.cast"
TEXT = "session.txt"
LINE_MOST = 10_000
"""Characters of one line; a program that never ends its line must not fill the memory."""

type Direction = Literal["i", "o"]

_TOKEN = re.compile(
    r"\x1b\[(?P<parameters>[0-9;?<=>]*)[ -/]*(?P<final>[@-~])"
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[PX^_][^\x1b]*\x1b\\|\x1b[()*+][ -~]|\x1b[ -~]"
    r"|(?P<control>[\x00-\x1f\x7f])|(?P<text>[^\x00-\x1f\x7f]+)"
)
_OPEN = re.compile(r"\x1b(?:\[[0-9;?<=>]*[ -/]*|\][^\x07\x1b]{0,500}\x1b?|[()*+])?\Z")
"""A sequence that the next piece of output goes on with."""
_ALTERNATE = frozenset({"?1049", "?1047", "?47"})


class Plain:
    """Makes text of what a terminal was sent: one line at a time, as line editing leaves it.

    A program that takes the whole screen (an editor) is one line that says so: its moves make no text.
    """

    def __init__(self) -> None:
        """Begin with an empty line."""
        self._line: list[str] = []
        self._column = 0
        self._rest = ""
        self._screen = False

    def feed(self, text: str) -> str:
        """Take output; returns the lines that it ended."""
        text = self._rest + text
        cut = _OPEN.search(text)
        self._rest = text[cut.start() :] if cut else ""
        ended: list[str] = []
        for token in _TOKEN.finditer(text[: cut.start()] if cut else text):
            if token["final"]:
                ended += self._sequence(token["parameters"], token["final"])
            elif not self._screen and token["text"]:
                self._write(token["text"])
            elif not self._screen and token["control"]:
                ended += self._control(token["control"])
        return "".join(ended)

    def end(self) -> str:
        """The line that was never ended."""
        left = "".join(self._line).rstrip()
        self._line, self._column = [], 0
        return f"{left}\n" if left else ""

    def _write(self, text: str) -> None:
        room = max(0, LINE_MOST - self._column)
        self._line += [" "] * (self._column - len(self._line))
        self._line[self._column : self._column + len(text)] = text[:room]
        self._column += len(text[:room])

    def _control(self, control: str) -> list[str]:
        if control == "\n":
            line = "".join(self._line).rstrip()
            self._line, self._column = [], 0
            return [f"{line}\n"]
        if control == "\r":
            self._column = 0
        elif control == "\b":
            self._column = max(0, self._column - 1)
        elif control == "\t":
            self._write(" " * (8 - self._column % 8))
        return []

    def _sequence(self, parameters: str, final: str) -> list[str]:
        if final in "hl" and parameters in _ALTERNATE:
            entered, self._screen = final == "h" and not self._screen, final == "h"
            return ["[a program that takes the whole screen]\n"] if entered else []
        if self._screen:
            return []
        first = parameters.partition(";")[0]
        count = min(int(first), LINE_MOST) if first.isdecimal() else 0
        some = max(1, count)
        if final == "K":
            self._line = self._line[: self._column] if count == 0 else []
        elif final == "P":
            del self._line[self._column : self._column + some]
        elif final == "@":
            self._line[self._column : self._column] = [" "] * some
        elif final == "C":
            self._column = min(LINE_MOST, self._column + some)
        elif final == "D":
            self._column = max(0, self._column - some)
        elif final == "G":
            self._column = some - 1
        elif final == "J" and count in {2, 3}:
            self._line, self._column = [], 0
        return []


class Recorder:
    """Writes `session.cast` and `session.txt` as the session goes on, so that a lost one is there up to its end.

    Args:
        folder: where; several shells of one session go on in the same files.
        size: columns and rows at the start.
        term: the terminal's name.
    """

    def __init__(self, folder: Path, size: tuple[int, int], term: str) -> None:
        """See the class."""
        folder.mkdir(parents=True, exist_ok=True)
        self._began = time.monotonic()
        self._cast = (folder / CAST).open("w", encoding="utf-8")
        self._text = (folder / TEXT).open("w", encoding="utf-8")
        self._plain = Plain()
        # An UTF-8 character may come in two pieces.
        self._decoders = {way: codecs.getincrementaldecoder("utf-8")("replace") for way in ("i", "o")}
        header: dict[str, Any] = {"version": 2, "width": size[0], "height": size[1], "timestamp": int(time.time())}
        self._json({**header, "env": {"TERM": term}})

    def moved(self, way: Direction, data: bytes) -> None:
        """Something was typed (`i`) or shown (`o`)."""
        text = self._decoders[way].decode(data)
        self._event(way, text)
        if way == "o":
            self._text.write(self._plain.feed(text))
            self._text.flush()

    def resized(self, size: tuple[int, int]) -> None:
        """The window has columns and rows anew."""
        self._event("r", f"{size[0]}x{size[1]}")

    def said(self, text: str) -> None:
        """What is not the shell's own: that it began or ended, an answer to a question."""
        self._text.write(f"{self._plain.end()}── {text}\n")
        self._text.flush()

    def close(self) -> None:
        """End the files."""
        self._text.write(self._plain.end())
        self._text.close()
        self._cast.close()

    def _event(self, kind: str, text: str) -> None:
        self._json([round(time.monotonic() - self._began, 6), kind, text])

    def _json(self, document: object) -> None:
        self._cast.write(json.dumps(document, ensure_ascii=False) + "\n")
        self._cast.flush()
