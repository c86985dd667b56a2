"""Puts right, in files that an agent left, what a reader of text or of JSON would stumble over.

Harbor reads such files right after the agent, as trusted: a byte that is no UTF-8, or brackets ten thousand deep, end
its job. Nothing that is judged is read from them.
"""

import json
import math
import re
from collections import Counter
from pathlib import Path
from typing import Any

TEXT = frozenset({".json", ".jsonl", ".ndjson", ".txt", ".log", ".cast", ".md"})
DOCUMENT = ".json"
DOCUMENT_BYTES = 32 << 20
LINE_BYTES = 16 << 20
"""Of a document, or of a line that is one: in memory it may be twenty times as large."""
DEPTH = 100
DIGITS = 18
UNREADABLE = ".unreadable"
"""Ending that a document gets which is none, so that nobody reads it as one."""

_LONE = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F]"
)
"""Half of a pair that stands for one character: such a string can't be written down."""


def repair(folder: Path) -> list[str]:
    """Repair all text files in a folder; the others are left as they are.

    Args:
        folder: holds nothing but files and folders.

    Returns:
        One line for each file that was changed: its path in the folder, and why.
    """
    files = [path for path in sorted(folder.rglob("*")) if path.suffix in TEXT and path.is_file()]
    return [f"{path.relative_to(folder)}: {'; '.join(reasons)}" for path in files if (reasons := _repair(path))]


def _repair(path: Path) -> list[str]:
    reasons = []
    data = path.read_bytes()
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = data.decode(errors="replace")
        reasons.append("bytes that are no UTF-8 were replaced")
    if path.suffix == DOCUMENT:
        try:
            text, changed = document(text)
        except ValueError as error:
            path.rename(path.with_name(path.name + UNREADABLE))
            return [f"is no JSON document: {error}"]
        reasons += changed
    else:
        text, changed = lines(text)
        reasons += changed
    if reasons:
        path.write_bytes(text.encode(errors="replace"))
    return reasons


def document(text: str) -> tuple[str, list[str]]:
    """A JSON document with all in it that is no JSON replaced, and what that was.

    Raises:
        ValueError: it is none, too large, or nested too deeply.
    """
    if len(text) > DOCUMENT_BYTES:
        raise ValueError(f"it has over {DOCUMENT_BYTES >> 20} MiB")
    return _clean(text, indent=2)


def lines(text: str) -> tuple[str, list[str]]:
    """Text of which lines may be JSON documents, those repaired; what can't be read as one safely is left out."""
    reasons: Counter[str] = Counter()
    kept = []
    for line in text.split("\n"):
        try:
            cleaned, changed = _clean_line(line) if line.startswith(("{", "[")) else (line, [])
        except TooDeepError as error:
            reasons[f"{error}, and was left out"] += 1
        else:
            kept.append(cleaned)
            reasons.update(changed)
    return "\n".join(kept), [f"{reason} ({count} lines)" for reason, count in reasons.items()]


def _clean_line(line: str) -> tuple[str, list[str]]:
    if len(line) > LINE_BYTES:
        raise TooDeepError(f"over {LINE_BYTES >> 20} MiB")
    try:
        return _clean(line)
    except json.JSONDecodeError:
        return line, []  # it only looks like one, or was cut


class TooDeepError(ValueError):
    """A document that would take too much to read."""


class _Numbers:
    """Reads numbers; what is none, or too large for one, becomes null."""

    def __init__(self) -> None:
        self.odd = False

    def constant(self, name: str) -> None:
        del name
        self.odd = True

    def integer(self, digits: str) -> int | None:
        if len(digits) <= DIGITS:
            return int(digits)
        self.odd = True
        return None

    def real(self, digits: str) -> float | None:
        value = float(digits)
        if math.isfinite(value):
            return value
        self.odd = True
        return None


def _clean(text: str, indent: int | None = None) -> tuple[str, list[str]]:
    numbers = _Numbers()
    try:
        value = json.loads(text, parse_constant=numbers.constant, parse_int=numbers.integer, parse_float=numbers.real)
    except RecursionError:
        raise TooDeepError("nested too deeply") from None
    if _is_deep(value):
        raise TooDeepError("nested too deeply")
    reasons = ["numbers that are none, or too large, are null"] if numbers.odd else []
    if _LONE.search(text):
        reasons.append("halves of characters were replaced")
    if not reasons:
        return text, []
    return json.dumps(value, indent=indent, ensure_ascii=False).encode(errors="replace").decode(), reasons


def _is_deep(value: Any) -> bool:
    level = [value]
    for _ in range(DEPTH):
        level = [
            child
            for one in level
            if isinstance(one, dict | list)
            for child in (one.values() if isinstance(one, dict) else one)
            if isinstance(child, dict | list)
        ]
        if not level:
            return False
    return True
