"""What the agent said and did (Harbor's ATIF trajectory.json), and the text files that it and the judge left."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from incident_arena.viewer.model import Call, Log, Step, Transcript

STEPS = 600
TEXT = 24_000
"""Characters of one message, argument or result."""
LOG = 120_000
"""Characters of one log."""
LOGS = 12
SUFFIXES = frozenset({".txt", ".log"})
FOLDERS = ("agent", "verifier", "")
"""Of a trial folder, in the order in which their logs are shown; the last is the folder itself."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, protected_namespaces=())


class _Content(_Part):
    type: str = "text"
    text: str | None = None


type _Text = str | list[_Content] | None


class _ToolCall(_Part):
    function_name: str = ""
    arguments: Any = None


class _Result(_Part):
    content: _Text = None


class _Seen(_Part):
    results: list[_Result] = []


class _Step(_Part):
    step_id: int
    source: str = ""
    timestamp: str | None = None
    model_name: str | None = None
    message: _Text = None
    reasoning_content: str | None = None
    tool_calls: list[_ToolCall] | None = None
    observation: _Seen | None = None


class _Trajectory(_Part):
    steps: list[_Step]


def transcript(folder: Path) -> Transcript | None:
    """A trial folder's transcript; None when it holds neither a trajectory nor a log.

    A trajectory of a version that can't be read is said in `note`; the logs are shown all the same.
    """
    steps: list[_Step] = []
    note = ""
    path = folder / "agent" / "trajectory.json"
    try:
        steps = _trajectory(path.read_bytes()).steps
    except FileNotFoundError:
        note = ""
    except OSError as error:
        note = f"trajectory.json could not be read: {error.strerror}"
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        note = f"trajectory.json could not be read: {'.'.join(map(str, first['loc']))}: {first['msg']}"
    logs = list(_logs(folder))
    if not steps and not logs and not note:
        return None
    return Transcript(
        steps=[_step(step) for step in steps[:STEPS]],
        steps_left_out=max(0, len(steps) - STEPS),
        logs=logs,
        note=note,
    )


def _trajectory(data: bytes) -> _Trajectory:
    """The document; half of a surrogate pair, which agents do print, costs that character and not the transcript."""
    try:
        return _Trajectory.model_validate_json(data)
    except ValidationError:
        mended = _mended(data)
        if mended is None:
            raise
        return _Trajectory.model_validate_json(mended)


def _mended(data: bytes) -> bytes | None:
    """The same JSON without halves of surrogate pairs; None when it is no JSON."""
    try:
        document = json.loads(data.decode(errors="replace"))
        return json.dumps(document, ensure_ascii=False).encode("utf-8", "replace")
    except (ValueError, RecursionError):
        return None


def _step(step: _Step) -> Step:
    return Step(
        number=step.step_id,
        source=step.source,
        at=step.timestamp or "",
        model=step.model_name or "",
        text=_cut(_plain(step.message)),
        reasoning=_cut(step.reasoning_content or ""),
        calls=[
            Call(name=call.function_name, arguments=_cut(_arguments(call.arguments))) for call in step.tool_calls or []
        ],
        results=[_cut(_plain(result.content)) for result in (step.observation.results if step.observation else [])],
    )


def _plain(content: _Text) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    return "\n".join(part.text if part.text is not None else f"[{part.type}]" for part in content)


def _arguments(arguments: Any) -> str:
    """One argument that is text reads best as that text; more of them as `name: value` lines."""
    if not isinstance(arguments, dict):
        return "" if arguments is None else json.dumps(arguments, ensure_ascii=False)
    values = [
        value if isinstance(value, str) else json.dumps(value, ensure_ascii=False) for value in arguments.values()
    ]
    if len(values) == 1:
        return values[0]
    return "\n".join(f"{name}: {value}" for name, value in zip(arguments, values, strict=True))


def _cut(text: str) -> str:
    if len(text) <= TEXT:
        return text
    half = TEXT // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half} characters left out …]\n{text[-half:]}"


def _logs(folder: Path) -> Iterator[Log]:
    """Text files of the trial; links are not followed, so that a trial can't show a file of the reader's machine."""
    found = 0
    for part in FOLDERS:
        for path in _by_size(folder / part):
            if found == LOGS:
                return
            found += 1
            yield _log(path, str(path.relative_to(folder)))


def _by_size(folder: Path) -> list[Path]:
    """A folder's text files that hold something, the largest first: that is where the work is told."""
    files = [
        (path.stat().st_size, path)
        for path in sorted(folder.glob("*"))
        if path.suffix in SUFFIXES and not path.is_symlink() and path.is_file()
    ]
    return [path for size, path in sorted(files, key=lambda one: -one[0]) if size]


def _log(path: Path, name: str) -> Log:
    half = LOG // 2
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(0)
        if size <= LOG:
            return Log(name=name, text=file.read().decode(errors="replace"))
        head = file.read(half).decode(errors="replace")
        file.seek(size - half)
        tail = file.read().decode(errors="replace")
    return Log(name=name, text=f"{head}\n[… {size - 2 * half} bytes left out …]\n{tail}", left_out=size - 2 * half)
