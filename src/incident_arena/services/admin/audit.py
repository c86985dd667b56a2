"""The audit: what was asked of the admin interface, on a volume that only it writes.

An act leaves two traces. `attempts.jsonl` gets its line, on disk, before the act takes effect; `actions.jsonl`
(records.Action, what the referee reads) gets its line with the result. An attempt without a result, because the
program died in between, is closed at the next start as an act that took effect: it may have.
"""

import json
import os
import time
from pathlib import Path
from typing import Any

from incident_arena.formats.records import Action, Declaration
from incident_arena.verbs.acts import Kind

ACTOR = "agent"
INTERRUPTED = "(interrupted: it may have taken effect)"


class Audit:
    """Appends to the audit, and reads it back."""

    def __init__(self, folder: Path) -> None:
        """Open the audit in `folder`, and close what an earlier run left open."""
        folder.mkdir(parents=True, exist_ok=True)
        self._actions = folder / "actions.jsonl"
        self._attempts = folder / "attempts.jsonl"
        self._declaration = folder / "declaration.json"
        for path in (self._actions, self._attempts):
            _drop_cut_line(path)
        self._close_open_attempts()
        self._next = len(_lines(self._attempts)) + 1

    def attempt(self, kind: Kind, what: str, detail: str) -> int:
        """Write down, on disk, that an act is about to take effect. Returns its number."""
        number = self._next
        self._next += 1
        line = {"number": number, "at": time.time(), "kind": kind, "what": what, "detail": detail}
        _append(self._attempts, json.dumps(line), sync=True)
        return number

    def result(self, number: int, kind: Kind, what: str, detail: str, *, at: float, ok: bool) -> None:
        """Write down how the act that `attempt` announced ended."""
        self._write(Action(at=at, source="admin", actor=ACTOR, kind=kind, what=what, detail=detail, ok=ok), sync=True)
        _append(self._attempts, json.dumps({"ended": number}), sync=False)

    def note(self, kind: Kind, what: str, detail: str, *, ok: bool) -> None:
        """Write down a read, or a refusal: neither changes anything, so one line is enough."""
        action = Action(at=time.time(), source="admin", actor=ACTOR, kind=kind, what=what, detail=detail, ok=ok)
        self._write(action, sync=False)

    def history(self, most: int) -> list[dict[str, Any]]:
        """The last `most` actions, oldest first."""
        return [json.loads(line) for line in _lines(self._actions)[-most:]]

    def declaration(self) -> Declaration | None:
        """The declaration, once there is one."""
        if not self._declaration.exists():
            return None
        return Declaration.model_validate_json(self._declaration.read_text())

    def declare(self, declaration: Declaration) -> None:
        """Write the declaration, whole or not at all."""
        temporary = self._declaration.with_suffix(".tmp")
        with temporary.open("w") as file:
            file.write(declaration.model_dump_json())
            file.flush()
            os.fsync(file.fileno())
        temporary.rename(self._declaration)

    def _write(self, action: Action, *, sync: bool) -> None:
        _append(self._actions, action.model_dump_json(), sync=sync)

    def _close_open_attempts(self) -> None:
        begun: dict[int, dict[str, Any]] = {}
        for text in _lines(self._attempts):
            line = json.loads(text)
            if "ended" in line:
                begun.pop(line["ended"], None)
            else:
                begun[line["number"]] = line
        for number, line in begun.items():
            detail = f"{line['detail']} {INTERRUPTED}"
            self.result(number, line["kind"], line["what"], detail, at=line["at"], ok=True)


def _append(path: Path, line: str, *, sync: bool) -> None:
    with path.open("a") as file:
        file.write(line + "\n")
        file.flush()
        if sync:
            os.fsync(file.fileno())


def _drop_cut_line(path: Path) -> None:
    """Drop a last line that a crash cut off: what it was to announce has not begun."""
    if path.exists():
        data = path.read_bytes()
        os.truncate(path, data.rfind(b"\n") + 1)


def _lines(path: Path) -> list[str]:
    """As they were written: other separators of Unicode than the line feed are text."""
    return path.read_text().split("\n")[:-1] if path.exists() else []
