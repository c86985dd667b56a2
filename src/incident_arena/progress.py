"""Long steps: one line when each begins and one when it has ended, on a terminal or not."""

import contextlib
import time
from collections.abc import Callable, Iterator

type Say = Callable[[str], None]


@contextlib.contextmanager
def step(say: Say, doing: str, done: str) -> Iterator[None]:
    """Say what is being done; when it has been, how many seconds it took. One that fails says no more.

    Args:
        say: gets each line.
        doing: "compiling etcd".
        done: "compiled etcd".
    """
    say(doing)
    started = time.monotonic()
    yield
    say(f"{done} in {time.monotonic() - started:.0f} s")
