"""Someone at a terminal: types into a program and reads what it shows."""

import os
import select
import time
from collections.abc import Sequence

from incident_arena.harbor.terminal import OnTerminal, Size


class Typist:
    """A program on a terminal of its own."""

    def __init__(self, argv: Sequence[str], size: Size = (110, 40)) -> None:
        self.program = OnTerminal(argv, size)
        self.seen = ""

    def read(self, seconds: float) -> None:
        if not select.select([self.program.master], [], [], seconds)[0]:
            return
        try:
            self.seen += os.read(self.program.master, 1 << 16).decode(errors="replace")
        except OSError:  # the program has ended
            time.sleep(seconds)

    def until(self, text: str, deadline_s: float = 60) -> None:
        """Read until a text is shown; what is shown up to it is taken off `seen`."""
        ends = time.monotonic() + deadline_s
        while text not in self.seen:
            assert time.monotonic() < ends, f"{text!r} never came; shown: {self.seen[-3000:]}"
            self.read(0.1)
        self.seen = self.seen.partition(text)[2]

    def type(self, text: str) -> None:
        os.write(self.program.master, text.encode())

    def ended(self, deadline_s: float = 60) -> int:
        """Read until the program has ended; its exit status."""
        ends = time.monotonic() + deadline_s
        while not self.program.ended:
            assert time.monotonic() < ends, f"still there; shown: {self.seen[-3000:]}"
            self.read(0.1)
        self.read(0.1)
        return int(self.program._process.wait())
