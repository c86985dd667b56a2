"""The one door through which processes start: an argument list, a deadline, and an error that tells all."""

import asyncio
import contextlib
import os
import shlex
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from incident_arena.errors import InfrastructureError

TAIL_LINES = 15
CHUNK = 1 << 16

type Stream = Literal["stdout", "stderr"]
type Sink = Callable[[Stream, bytes], None]
"""Gets a process's output as it comes; an exception of its own kills the process."""


@dataclass(frozen=True)
class Completed:
    """A process that ended."""

    argv: tuple[str, ...]
    exit: int
    stdout: str
    stderr: str
    seconds: float


class CommandError(InfrastructureError):
    """A process exited with an error, or overran its deadline (then `completed.exit` is -9)."""

    def __init__(self, completed: Completed, reason: str = "") -> None:
        self.completed = completed
        tail = "\n".join(f"    {line}" for line in completed.stderr.strip().splitlines()[-TAIL_LINES:])
        super().__init__(
            f"command `{shlex.join(completed.argv)}`",
            (reason or f"exited with {completed.exit}") + (f":\n{tail}" if tail else ""),
        )


def run(
    argv: Sequence[str | Path],
    *,
    deadline_s: float,
    stdin: str | bytes | None = None,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    log: Path | None = None,
    check: bool = True,
) -> Completed:
    """Run a process to its end; past the deadline its whole process group is killed.

    Args:
        argv: program and arguments; no shell.
        deadline_s: seconds it may take.
        stdin: what it reads; nothing when None.
        env: variables added to this process's own.
        cwd: working directory.
        log: append output there instead of keeping it (the error then shows the log's tail).
        check: raise when the exit status is not 0.

    Raises:
        CommandError: the program is missing, exited with an error, or overran its deadline.
    """
    arguments = tuple(str(part) for part in argv)
    started = time.monotonic()
    data = stdin.encode() if isinstance(stdin, str) else stdin
    with contextlib.ExitStack() as stack:
        output = stack.enter_context(log.open("ab")) if log else subprocess.PIPE
        try:
            process = subprocess.Popen(
                arguments,
                stdin=subprocess.PIPE if data is not None else subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT if log else output,
                env={**os.environ, **env} if env else None,
                cwd=cwd,
                start_new_session=True,
            )
        except OSError as error:
            raise CommandError(Completed(arguments, 127, "", str(error), 0.0), "could not be started") from error
        try:
            out, err = process.communicate(data, timeout=deadline_s)
        except subprocess.TimeoutExpired:
            _kill_group(process.pid)
            out, err = process.communicate()
            ended = _completed(arguments, -signal.SIGKILL, out, err, started, log)
            raise CommandError(ended, f"overran its deadline of {deadline_s:g} s") from None
        except BaseException:
            _kill_group(process.pid)
            process.wait()
            raise
    completed = _completed(arguments, process.returncode, out, err, started, log)
    if check and completed.exit != 0:
        raise CommandError(completed)
    return completed


async def run_async(
    argv: Sequence[str | Path],
    *,
    deadline_s: float | None,
    stdin: bytes | None = None,
    env: Mapping[str, str] | None = None,
    sink: Sink | None = None,
    check: bool = True,
) -> Completed:
    """As `run`, without blocking the event loop; a cancelled call kills the process group too.

    `deadline_s` may be None where an outer deadline holds (Harbor's own). With a `sink` the output goes there, as
    bytes, and is not kept.
    """
    arguments = tuple(str(part) for part in argv)
    started = time.monotonic()
    try:
        process = await asyncio.create_subprocess_exec(
            *arguments,
            stdin=asyncio.subprocess.PIPE if stdin is not None else asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={**os.environ, **env} if env else None,
            start_new_session=True,
        )
    except OSError as error:
        raise CommandError(Completed(arguments, 127, "", str(error), 0.0), "could not be started") from error
    try:
        talk = process.communicate(stdin) if sink is None else _pour(process, stdin, sink)
        out, err = await asyncio.wait_for(talk, deadline_s)
    except TimeoutError:
        _kill_group(process.pid)
        await process.wait()
        ended = _completed(arguments, -signal.SIGKILL, b"", b"", started, None)
        raise CommandError(ended, f"overran its deadline of {deadline_s:g} s") from None
    except BaseException:
        _kill_group(process.pid)
        await process.wait()
        raise
    completed = _completed(arguments, process.returncode or 0, out, err, started, None)
    if check and completed.exit != 0:
        raise CommandError(completed)
    return completed


def spawn(
    argv: Sequence[str | Path], *, log: Path, env: Mapping[str, str] | None = None, cwd: Path | None = None
) -> subprocess.Popen[bytes]:
    """Start a process that outlives the call, in a session of its own, its output appended to `log`.

    Raises:
        CommandError: the program is missing.
    """
    arguments = tuple(str(part) for part in argv)
    with log.open("ab") as output:
        try:
            return subprocess.Popen(
                arguments,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, **env} if env else None,
                cwd=cwd,
                start_new_session=True,
            )
        except OSError as error:
            raise CommandError(Completed(arguments, 127, "", str(error), 0.0), "could not be started") from error


async def _pour(process: asyncio.subprocess.Process, stdin: bytes | None, sink: Sink) -> tuple[bytes, bytes]:
    async def feed() -> None:
        if process.stdin is None:
            return
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # it need not read all that it is given
            process.stdin.write(stdin or b"")
            await process.stdin.drain()
        process.stdin.close()

    async def drain(reader: asyncio.StreamReader | None, stream: Stream) -> None:
        while reader is not None and (data := await reader.read(CHUNK)):
            sink(stream, data)

    await asyncio.gather(feed(), drain(process.stdout, "stdout"), drain(process.stderr, "stderr"))
    await process.wait()
    return b"", b""


def _completed(
    argv: tuple[str, ...], status: int, out: bytes | None, err: bytes | None, started: float, log: Path | None
) -> Completed:
    stderr = log.read_text(errors="replace") if log and status != 0 else (err or b"").decode(errors="replace")
    return Completed(argv, status, (out or b"").decode(errors="replace"), stderr, time.monotonic() - started)


def _kill_group(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
