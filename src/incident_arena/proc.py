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
KEEP_BYTES = 16 << 20
"""Most bytes of each stream that `run_async` keeps in memory."""
END_S = 10.0
"""How long a process's own end is waited for once it was killed, or said all that it had to say."""
LATE_S = 1.0
"""How long a killed process's output is waited for: whoever left its group may hold the pipes for ever."""

type Stream = Literal["stdout", "stderr"]
type Sink = Callable[[Stream, bytes], None]
"""Gets a process's output as it comes; an exception of its own kills the process."""
type Variables = Mapping[str, str | None]
"""Variables added to this process's own; None takes one away."""

DIRECT: Variables = dict.fromkeys(
    name for word in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "FTP_PROXY") for name in (word, word.lower())
)
"""For a client of a cluster: its address is on this machine, where the host's proxy knows no way to."""


@dataclass(frozen=True)
class Completed:
    """A process that ended."""

    argv: tuple[str, ...]
    exit: int
    stdout: str
    stderr: str
    seconds: float


class CommandError(InfrastructureError):
    """A process exited with an error, or overran its deadline (OverrunError)."""

    def __init__(self, completed: Completed, reason: str = "") -> None:
        self.completed = completed
        tail = "\n".join(f"    {line}" for line in completed.stderr.strip().splitlines()[-TAIL_LINES:])
        super().__init__(
            f"command `{shlex.join(completed.argv)}`",
            (reason or f"exited with {completed.exit}") + (f":\n{tail}" if tail else ""),
        )


class OverrunError(CommandError):
    """A process overran its deadline and was killed; `completed` has what it had printed, `exit` is -9."""

    def __init__(self, completed: Completed, deadline_s: float | None, more: str = "") -> None:
        self.summary = f"overran its deadline of {deadline_s or 0:g} s" + (f"; {more}" if more else "")
        super().__init__(completed, self.summary)


class Kept:
    """A sink that keeps the beginning of each stream, and counts what it drops.

    Args:
        limit: most bytes of each stream.
    """

    def __init__(self, limit: int = KEEP_BYTES) -> None:
        self._limit = limit
        self._kept: dict[Stream, bytearray] = {"stdout": bytearray(), "stderr": bytearray()}
        self._dropped: dict[Stream, int] = {"stdout": 0, "stderr": 0}

    def __call__(self, stream: Stream, data: bytes) -> None:
        """Take what came."""
        room = self._limit - len(self._kept[stream])
        self._kept[stream] += data[:room]
        self._dropped[stream] += max(0, len(data) - room)

    def text(self, stream: Stream) -> str:
        """What was kept, and a line that says how many bytes were not."""
        dropped = self._dropped[stream]
        tail = f"\n[{dropped} more bytes were dropped]\n" if dropped else ""
        return self._kept[stream].decode(errors="replace") + tail


def run(
    argv: Sequence[str | Path],
    *,
    deadline_s: float,
    stdin: str | bytes | None = None,
    env: Variables | None = None,
    cwd: Path | None = None,
    log: Path | None = None,
    check: bool = True,
) -> Completed:
    """Run a process to its end; past the deadline its whole process group is killed.

    Args:
        argv: program and arguments; no shell.
        deadline_s: seconds it may take.
        stdin: what it reads; nothing when None.
        env: variables added to this process's own, or taken from them (None).
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
                env=_environment(env),
                cwd=cwd,
                start_new_session=True,
            )
        except OSError as error:
            raise CommandError(Completed(arguments, 127, "", str(error), 0.0), "could not be started") from error
        out: bytes | None
        err: bytes | None
        try:
            out, err = process.communicate(data, timeout=deadline_s)
        except subprocess.TimeoutExpired:
            _kill_group(process.pid)
            out, err = _rest(process)
            raise OverrunError(_completed(arguments, -signal.SIGKILL, out, err, started, log), deadline_s) from None
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
    env: Variables | None = None,
    sink: Sink | None = None,
    check: bool = True,
) -> Completed:
    """As `run`, without blocking the event loop; a cancelled call kills the process group too.

    `deadline_s` may be None where an outer deadline holds (Harbor's own). With a `sink` the output goes there, as
    bytes, and is not kept; otherwise at most 16 MiB of each stream are.
    """
    arguments = tuple(str(part) for part in argv)
    started = time.monotonic()
    kept = Kept()
    try:
        transport, talk = await asyncio.get_running_loop().subprocess_exec(
            lambda: _Talk(sink or kept),
            *arguments,
            stdin=subprocess.PIPE if stdin is not None else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=_environment(env),
            start_new_session=True,
        )
    except OSError as error:
        raise CommandError(Completed(arguments, 127, "", str(error), 0.0), "could not be started") from error
    late = False
    try:
        _feed(transport, stdin)
        await asyncio.wait_for(talk.over, deadline_s)
    except BaseException as error:
        _kill_group(transport.get_pid())
        late = isinstance(error, TimeoutError) and talk.over.cancelled()  # else it is the sink's own
        if not late:
            raise
    finally:
        try:
            # Bounded: a killed process that hangs in the kernel never ends. Nothing waits for the pipes here, which a
            # process that left the group may hold.
            await asyncio.wait({talk.ended}, timeout=END_S)
        finally:
            transport.close()
    status = -signal.SIGKILL if late else transport.get_returncode() or 0
    seconds = time.monotonic() - started
    completed = Completed(arguments, status, kept.text("stdout"), kept.text("stderr"), seconds)
    if late:
        raise OverrunError(completed, deadline_s)
    if check and completed.exit != 0:
        raise CommandError(completed)
    return completed


def spawn(
    argv: Sequence[str | Path], *, log: Path, env: Variables | None = None, cwd: Path | None = None
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
                env=_environment(env),
                cwd=cwd,
                start_new_session=True,
            )
        except OSError as error:
            raise CommandError(Completed(arguments, 127, "", str(error), 0.0), "could not be started") from error


class _Talk(asyncio.SubprocessProtocol):
    """Hands a process's output to a sink. `ended`: the process is gone; `over`: so is all that it could still print.

    A sink's exception ends `over` with it. Nothing is read by a task of its own that could be left waiting.
    """

    def __init__(self, sink: Sink) -> None:
        loop = asyncio.get_running_loop()
        self._sink = sink
        self.ended: asyncio.Future[None] = loop.create_future()
        self.over: asyncio.Future[None] = loop.create_future()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if self.over.done():
            return
        try:
            self._sink("stdout" if fd == 1 else "stderr", data)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is the caller's
            self.over.set_exception(error)

    def process_exited(self) -> None:
        if not self.ended.done():
            self.ended.set_result(None)

    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        if not self.over.done():
            self.over.set_result(None)


def _feed(transport: asyncio.SubprocessTransport, stdin: bytes | None) -> None:
    pipe = transport.get_pipe_transport(0)
    if stdin is not None and isinstance(pipe, asyncio.WriteTransport):
        pipe.write(stdin)  # it need not read all that it is given: a broken pipe is no error
        pipe.write_eof()


def _environment(variables: Variables | None) -> dict[str, str] | None:
    if not variables:
        return None
    return {name: value for name, value in {**os.environ, **variables}.items() if value is not None}


def _rest(process: subprocess.Popen[bytes]) -> tuple[bytes | None, bytes | None]:
    """What a killed process had printed."""
    try:
        return process.communicate(timeout=LATE_S)
    except subprocess.TimeoutExpired as late:
        return late.output, late.stderr


def _completed(
    argv: tuple[str, ...], status: int, out: bytes | None, err: bytes | None, started: float, log: Path | None
) -> Completed:
    stderr = log.read_text(errors="replace") if log and status != 0 else (err or b"").decode(errors="replace")
    return Completed(argv, status, (out or b"").decode(errors="replace"), stderr, time.monotonic() - started)


def _kill_group(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
