"""The simulator's spoiled trials: folders that something went wrong with, or that someone made to harm their reader.

Each is written as a sound trial first, and then one thing in it is changed.
"""

import json
import os
from collections.abc import Callable
from pathlib import Path

from incident_arena.analysis.trial import NAMELESS_MODEL

RESULT, VERDICT, TRAJECTORY = "result.json", "verifier/verdict.json", "agent/trajectory.json"
DEPTH = 20_000
OUTSIDE = "/etc/hostname"
"""What links lead to: a file of the reader's machine, which no reader may open."""


def spoil(trial: Path, kind: str) -> None:
    """Change one thing in a trial's folder; `kind` is a key of KINDS."""
    KINDS[kind][1](trial)


def label(kind: str, who: str) -> str:
    """What tables call the model of such a trial."""
    return NAMELESS_MODEL if kind == "nameless" else who


def _change(path: Path, **changes: object) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def _usage(trial: Path, **changes: object) -> None:
    usage = json.loads((trial / RESULT).read_text())["agent_result"]
    _change(trial / RESULT, agent_result={**usage, **changes})


def _agent(trial: Path, **changes: object) -> None:
    info = json.loads((trial / RESULT).read_text())["agent_info"]
    _change(trial / RESULT, agent_info={**info, **changes})


def _contradicts(trial: Path) -> None:
    _change(trial / VERDICT, reward=1 - json.loads((trial / VERDICT).read_text())["reward"])


def _other_provider(trial: Path) -> None:
    info = json.loads((trial / RESULT).read_text())["agent_info"]["model_info"]
    _agent(trial, model_info={**info, "provider": "simulated-another"} if info else None)


def _nameless(trial: Path) -> None:
    _agent(trial, model_info={"name": "", "provider": None})


def _replace(path: Path, make: Callable[[Path], None]) -> None:
    path.unlink(missing_ok=True)
    path.parent.mkdir(exist_ok=True)
    make(path)


KINDS: dict[str, tuple[str, Callable[[Path], None]]] = {
    "contradicts": ("inconsistent", _contradicts),
    "another-task": ("inconsistent", lambda trial: _change(trial / VERDICT, task="simulated/another")),
    "naive-time": ("unreadable", lambda trial: _change(trial / RESULT, started_at="2026-10-01T09:40:48")),
    "huge-number": ("unreadable", lambda trial: _usage(trial, n_input_tokens=10**30)),
    "deep": ("unreadable", lambda trial: _replace(trial / RESULT, lambda path: _write(path, "[" * DEPTH))),
    "fifo": ("unreadable", lambda trial: _replace(trial / RESULT, os.mkfifo)),
    "self-link": ("unreadable", lambda trial: _replace(trial / RESULT, lambda path: path.symlink_to(path.name))),
    "verdict-link": ("unreadable", lambda trial: _replace(trial / VERDICT, lambda path: path.symlink_to(OUTSIDE))),
    "transcript-link": ("judged", lambda trial: _replace(trial / TRAJECTORY, lambda path: path.symlink_to(OUTSIDE))),
    "malformed-step": (
        "judged", lambda trial: _replace(trial / TRAJECTORY, lambda path: _write(path, '{"steps": [7, null]}')),
    ),
    "untracked": ("judged", lambda trial: _change(trial / VERDICT, tracked=[])),
    "negative-tokens": ("judged", lambda trial: _usage(trial, n_output_tokens=-1_000_000_000)),
    "nan-cost": ("judged", lambda trial: _usage(trial, cost_usd=float("nan"))),
    "other-task-version": ("judged", lambda trial: _change(trial / RESULT, task_checksum="ffff0000ffff0000")),
    "other-agent-version": ("judged", lambda trial: _agent(trial, version="0.0.1-simulated")),
    "other-product": ("judged", lambda trial: _change(trial / VERDICT, product="0.0.1-simulated")),
    "other-provider": ("judged", _other_provider),
    "nameless": ("judged", _nameless),
}  # fmt: skip
"""Each kind with the status that a reader must find. A judged one counts, with a note or without its transcript."""


def _write(path: Path, text: str) -> None:
    path.write_text(text)
