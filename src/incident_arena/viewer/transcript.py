"""What the agent said and did (Harbor's ATIF trajectory.json), and the text files that it and the judge left."""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict
from pydantic_core import from_json

from incident_arena.analysis import job_files
from incident_arena.analysis.harbor_files import TRAJECTORY
from incident_arena.plain import plain
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


def transcript(folder: Path) -> Transcript | None:
    """A trial folder's transcript; None when it holds neither a trajectory nor a log.

    A trajectory that can't be read is said in `note`, a malformed step in its place; all else is shown all the same.
    """
    steps: list[Any] = []
    note = ""
    try:
        steps = _steps(job_files.read(folder, TRAJECTORY, job_files.TRANSCRIPT_BYTES))
    except FileNotFoundError:
        note = ""
    except (OSError, ValueError, RecursionError) as error:
        note = f"trajectory.json could not be read: {job_files.reason(error)}"
    logs = list(_logs(folder))
    if not steps and not logs and not note:
        return None
    return Transcript(
        steps=[_shown(step, number) for number, step in enumerate(steps[:STEPS], start=1)],
        steps_left_out=max(0, len(steps) - STEPS),
        logs=logs,
        note=note,
    )


def _steps(data: bytes) -> list[Any]:
    """The steps, not yet looked into; half of a surrogate pair, which agents do print, costs that character alone."""
    try:
        document = from_json(data, allow_inf_nan=True)
    except ValueError:
        document = json.loads(data.decode(errors="replace"))
        document = from_json(json.dumps(document, ensure_ascii=False).encode("utf-8", "replace"))
    steps = document.get("steps") if isinstance(document, dict) else None
    if not isinstance(steps, list):
        raise ValueError("it has no list of steps")  # noqa: TRY004  a damaged file, not a wrong call
    return steps


def _shown(step: Any, number: int) -> Step:
    try:
        return _step(_Step.model_validate(step))
    except (ValueError, RecursionError) as error:
        text = f"[this step is malformed and not shown: {job_files.reason(error)}]"
        return Step(number=number, source="malformed", at="", model="", text=text, reasoning="", calls=[], results=[])


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
    """Text files of the trial, of each folder the largest first: that is where the work is told."""
    found = 0
    for part in FOLDERS:
        for size, name in sorted(job_files.texts(folder, part, SUFFIXES), key=lambda one: -one[0]):
            if found == LOGS:
                return
            if size:
                found += 1
                yield _log(folder, name)


def _log(folder: Path, name: str) -> Log:
    half = LOG // 2
    shown = plain(name)
    try:
        with job_files.open_file(folder, name, limit=sys.maxsize) as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(0)
            if size <= LOG:
                return Log(name=shown, text=file.read(LOG).decode(errors="replace"))
            head = file.read(half).decode(errors="replace")
            file.seek(size - half)
            tail = file.read(half).decode(errors="replace")
    except OSError as error:
        return Log(name=shown, text=f"[could not be read: {job_files.reason(error)}]")
    return Log(name=shown, text=f"{head}\n[… {size - 2 * half} bytes left out …]\n{tail}", left_out=size - 2 * half)
