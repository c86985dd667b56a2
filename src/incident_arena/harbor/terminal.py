"""The user's terminal, and programs that run on a pseudo-terminal of their own with everything passed through."""

import asyncio
import contextlib
import fcntl
import os
import signal
import struct
import subprocess
import termios
import tty
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.theme import Theme

from incident_arena.errors import UserError

CHUNK = 1 << 16
BACKLOG = 1 << 20
"""Bytes that wait for a reader who is slow; then its source waits too."""
GONE_S = 5.0
TTY = Path("/dev/tty")
WIDTH = 100
"""Columns of text; longer lines are hard to read."""
THEME = Theme(
    {
        "markdown.code": "cyan",
        "markdown.code_block": "bold",
        "markdown.block_quote": "",
        "markdown.h2": "bold cyan",
        "markdown.item.bullet": "dim",
    }
)
"""Prose with few colours."""

type Size = tuple[int, int]
"""Columns and rows."""


def size_of(descriptor: int) -> Size:
    """A terminal's size; 80 by 24 when it has none."""
    rows, columns, _, _ = struct.unpack("HHHH", fcntl.ioctl(descriptor, termios.TIOCGWINSZ, bytes(8)))
    return columns or 80, rows or 24


def resize(descriptor: int, size: Size) -> None:
    """Give a terminal a size; whoever runs on it is told."""
    fcntl.ioctl(descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))


class Pipe:
    """Passes bytes from one descriptor to another without ever blocking the event loop. Both must be non-blocking.

    Args:
        source: read until it ends.
        target: written to.
        seen: told of what passes.
    """

    def __init__(self, source: int, target: int, seen: Callable[[bytes], None]) -> None:
        """See the class."""
        self._loop = asyncio.get_running_loop()
        self._source, self._target, self._seen = source, target, seen
        self._backlog = bytearray()
        self.ended = asyncio.Event()
        self._loop.add_reader(source, self._read)

    def _read(self) -> None:
        try:
            data = os.read(self._source, CHUNK)
        except BlockingIOError:
            return
        except OSError:  # a pseudo-terminal that nobody has open any more, or one that hung up
            data = b""
        if not data:
            self._loop.remove_reader(self._source)
            self.ended.set()
            return
        self._seen(data)
        self._backlog += data
        self._write()

    def _write(self) -> None:
        with contextlib.suppress(BlockingIOError):
            try:
                del self._backlog[: os.write(self._target, self._backlog)]
            except BlockingIOError:
                raise
            except OSError:
                self._backlog.clear()  # nobody is there to read
        if self._backlog:
            self._loop.add_writer(self._target, self._write)
        else:
            self._loop.remove_writer(self._target)
        if self.ended.is_set():
            return
        if len(self._backlog) > BACKLOG:
            self._loop.remove_reader(self._source)
        else:
            self._loop.add_reader(self._source, self._read)

    def close(self) -> None:
        """Pass nothing any more, except what is read already and can be written at once."""
        self._loop.remove_reader(self._source)
        self._loop.remove_writer(self._target)
        with contextlib.suppress(OSError):
            os.write(self._target, self._backlog)
        self._backlog.clear()
        self.ended.set()


class OnTerminal:
    """A program on a pseudo-terminal of its own. It ends with this process, however that ends: its terminal hangs up.

    Args:
        argv: the program.
        size: of its terminal.
    """

    def __init__(self, argv: Sequence[str], size: Size) -> None:
        """Start it."""
        self.master, slave = os.openpty()
        try:
            resize(slave, size)
            # setsid makes the pseudo-terminal the program's controlling one, so that it is told of Ctrl-C and sizes.
            self._process = subprocess.Popen(["setsid", "--ctty", *argv], stdin=slave, stdout=slave, stderr=slave)
        except BaseException:
            os.close(self.master)
            raise
        finally:
            os.close(slave)
        os.set_blocking(self.master, False)

    @property
    def ended(self) -> bool:
        """Whether it has."""
        return self._process.poll() is not None

    def hang_up(self) -> None:
        """Tell it that its terminal is gone."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGHUP)

    async def close(self) -> int:
        """End it; what doesn't hear is killed. Its exit status."""
        if self.master >= 0:
            os.close(self.master)
            self.master = -1
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGHUP)
        try:
            return await asyncio.to_thread(self._process.wait, GONE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return await asyncio.to_thread(self._process.wait)


class Terminal:
    """The terminal that this process was started on, whatever its standard streams are.

    Raises:
        UserError: there is none.
    """

    def __init__(self, path: Path = TTY) -> None:
        """See the class."""
        try:
            # Descriptors of our own, so that nobody else's become non-blocking.
            self._in = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
            self.out = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)
        except OSError as error:
            raise no_terminal() from error
        self._spoken = path.open("w", encoding="utf-8")
        self.console = Console(
            file=self._spoken, force_terminal=True, width=min(WIDTH, self.size[0]), highlight=False, theme=THEME
        )

    def __enter__(self) -> Self:
        """The terminal."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Let go of it."""
        os.close(self._in)
        os.close(self.out)
        with contextlib.suppress(OSError):
            self._spoken.close()

    @property
    def size(self) -> Size:
        """Its size."""
        return size_of(self.out)

    @contextlib.contextmanager
    def raw(self) -> Generator[None]:
        """Every key passes as it is, Ctrl-C too."""
        before = termios.tcgetattr(self._in)
        tty.setraw(self._in, termios.TCSANOW)
        try:
            yield
        finally:
            with contextlib.suppress(termios.error):  # it may be gone
                termios.tcsetattr(self._in, termios.TCSADRAIN, before)

    async def lend(self, program: OnTerminal, typed: Callable[[bytes], None], shown: Callable[[bytes], None]) -> None:
        """Connect a program with the user until its output ends.

        Args:
            program: on a terminal of its own.
            typed: told of what the user types.
            shown: told of what the program shows.
        """
        loop = asyncio.get_running_loop()
        with self.raw():
            loop.add_signal_handler(signal.SIGWINCH, lambda: resize(program.master, self.size))
            keys = Pipe(self._in, program.master, typed)
            # A duplicate: a descriptor can be watched by one reader and one writer, and keys writes to it.
            source = os.dup(program.master)
            screen = Pipe(source, self.out, shown)
            try:
                await screen.ended.wait()
            finally:
                loop.remove_signal_handler(signal.SIGWINCH)
                keys.close()
                screen.close()
                os.close(source)

    async def ask(self, question: str) -> str | None:
        """Ask for a line; None when there is none to come (Ctrl-D)."""
        with contextlib.suppress(termios.error):
            termios.tcflush(self._in, termios.TCIFLUSH)  # what was typed for the shell is no answer
        self.console.print(question, end="")
        loop = asyncio.get_running_loop()
        line: asyncio.Future[str | None] = loop.create_future()

        def read() -> None:
            try:
                data = os.read(self._in, CHUNK)
            except BlockingIOError:
                return
            except OSError:
                data = b""
            if not line.done():
                line.set_result(data.decode(errors="replace").strip() if data else None)
            loop.remove_reader(self._in)

        loop.add_reader(self._in, read)
        try:
            return await line
        finally:
            loop.remove_reader(self._in)


def no_terminal() -> UserError:
    """The error where nobody can type."""
    return UserError("terminal", "there is none", "start it in a terminal: a person types there")
