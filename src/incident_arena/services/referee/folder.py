"""The evidence folder as the referee writes it. Its layout is in records.py.

Besides evidence proper the folder holds `state.json`, what one verb tells the next, and `live/`, to which the main
program goes on writing: its files are copied when the folder is closed, so that they do not change any more.
"""

import contextlib
import hashlib
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field

from incident_arena.errors import ArenaError, UserError
from incident_arena.formats.records import FileDigest, Record, Stage
from incident_arena.formats.task import TaskSpec

STATE = "state.json"
MANIFEST = "manifest.json"
LIVE = "live"
LABELS = ("A", "B", "C", "D")
"""Of snapshots: healthy, broken, when the agent is done, after the challenges."""


class State(Record):
    """What one verb tells the next. Seconds since the epoch."""

    agent_started: float | None = None
    agent_ended: float | None = None
    written_down: dict[str, dict[str, Any]] = Field(default_factory=dict)
    """How components were set before anything was broken, by name; for events that put them back."""
    seal: bool = False
    """End gathering where nothing later can make the trial pass."""


@dataclass
class Note:
    """What a stage says about itself while it runs."""

    ok: bool = True
    detail: str = ""


@dataclass(frozen=True)
class Evidence:
    """One evidence folder."""

    folder: Path

    @property
    def live(self) -> "Evidence":
        """The part to which the main program writes."""
        folder = self.folder / LIVE
        folder.mkdir(exist_ok=True)
        return Evidence(folder)

    def append(self, name: str, *records: BaseModel) -> None:
        """Add lines to a JSON lines file, in one write."""
        text = "".join(record.model_dump_json() + "\n" for record in records)
        with (self.folder / name).open("a") as file:
            file.write(text)

    def write(self, name: str, content: BaseModel | str | bytes) -> None:
        """Write a file, whole or not at all."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        text = content.model_dump_json(indent=1) + "\n" if isinstance(content, BaseModel) else content
        partial = path.with_name(f".{path.name}.partial")
        with partial.open("wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())
            file.flush()
            os.fsync(file.fileno())
        partial.rename(path)

    def read(self, name: str) -> bytes:
        """A file's content."""
        return (self.folder / name).read_bytes()

    def has(self, name: str) -> bool:
        """Whether a file is there."""
        return (self.folder / name).is_file()

    @property
    def state(self) -> State:
        """What the verbs before have told."""
        path = self.folder / STATE
        return State.model_validate_json(path.read_bytes()) if path.is_file() else State()

    def tell(self, **changes: Any) -> None:
        """Tell the verbs after something (fields of State)."""
        self.write(STATE, State.model_validate({**self.state.model_dump(), **changes}))

    @contextlib.contextmanager
    def stage(self, name: str, *, tolerant: bool = False) -> Iterator[Note]:
        """Record what runs inside as a stage.

        Args:
            name: the stage's name.
            tolerant: an ArenaError fails the stage and goes no further: that it failed is evidence.
        """
        note, started, clock = Note(), time.time(), time.monotonic()

        def record() -> None:
            seconds = time.monotonic() - clock
            self.append(
                "stages.jsonl", Stage(name=name, started=started, seconds=seconds, ok=note.ok, detail=note.detail)
            )

        try:
            yield note
        except ArenaError as error:
            note.ok, note.detail = False, f"{error.thing}: {error.reason}"
            record()
            if not tolerant:
                raise
        except BaseException as error:
            note.ok, note.detail = False, f"{type(error).__name__}: {error}"
            record()
            raise
        else:
            record()

    def digests(self) -> dict[str, FileDigest]:
        """Digests of the files that are evidence."""
        files = {}
        for path in sorted(self.folder.rglob("*")):
            name = path.relative_to(self.folder).as_posix()
            own = name in (MANIFEST, STATE) or name.startswith(f"{LIVE}/") or path.name.startswith(".")
            if path.is_file() and not own:
                content = path.read_bytes()
                files[name] = FileDigest(sha256=hashlib.sha256(content).hexdigest(), bytes=len(content))
        return files


def read_task(path: Path) -> TaskSpec:
    """Read the task that is played.

    Raises:
        UserError: it is missing or is none.
    """
    try:
        return TaskSpec.model_validate_json(path.read_bytes())
    except OSError as error:
        raise UserError(f"task '{path}'", f"cannot be read: {error.strerror}", "mount it into the pod") from error
    except ValueError as error:
        raise UserError(f"task '{path}'", str(error), "export the task again") from error
