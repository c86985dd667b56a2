"""What is sent into a container to run a command there, to know how it ended, and to end it.

`kubectl exec` knows neither environment, working directory nor a way to end what it started: a client that dies leaves
the remote process running. So the command goes in as a few lines of shell on standard input (environment values never
show up in an argument list), and carries a mark in its environment that all its children inherit. Ending it means
killing whatever carries the mark, and the descendants of that.

Nor does it prove how a command ended: it writes its own word about the exit status behind whatever the command wrote
on standard error, and a stream that is cut may end with 0. So the shell stays, waits, and closes both streams with a
seal: a word that the command is never shown, and its status. A stream without its seal was cut.
"""

import secrets
import shlex
from collections.abc import Mapping, Sequence

from incident_arena.proc import Sink, Stream

MARK = "ARENA_EXEC"
STATUS_DIGITS = 3

_RUN = 'eval "$(head -c "$1")"'
# In one group, so that a prelude that was cut is a syntax error and runs nothing. The shell that waits is deaf to what
# a command sends to its own process group, and what it has to say itself ("Killed") goes nowhere.
_FRAME = """\
{{
trap : HUP INT QUIT TERM PIPE ALRM USR1 USR2
exec 3>&2 2>/dev/null
ulimit -w {limit} || ulimit -x {limit}
(
exec 2>&3 3>&-
{lines}
)
set -- $?
printf '%s%03d' {word} $1
printf '%s%03d' {word} $1 >&3
}}
"""
# Children may drop the mark (env -i) and may have lost their parent (setsid, nohup), or both (a daemon). What they
# can't drop is a limit that they inherited: the one on file locks, which Linux keeps but no longer looks at, bears a
# number of the mark's. A process can fork while the list is made, so the lists are made until they stay empty.
_KILL = """
marked() { {
  grep -lsaF "$1" /proc/[0-9]*/environ; grep -lsE "^Max file locks +$2 " /proc/[0-9]*/limits
} | cut -d/ -f3; }
children() { for p in $1; do grep -lsa "^PPid:[[:space:]]*$p\\$" /proc/[0-9]*/status | cut -d/ -f3; done; }
round=0
while [ $round -lt 20 ]; do
  all=$(marked "$1" "$2"); new=$all
  while [ -n "$new" ]; do new=$(children "$new"); all="$all $new"; done
  set -- "$1" "$2" $all
  [ $# -eq 2 ] && exit 0
  mark=$1; limit=$2; shift 2; kill -9 "$@" 2>/dev/null; set -- "$mark" "$limit"
  round=$((round + 1))
done
exit 1
"""


class Seal:
    """Takes the seals off both streams on their way to a sink.

    Args:
        sink: gets everything but the seals.
    """

    def __init__(self, sink: Sink) -> None:
        self.word = secrets.token_hex(16)
        self._sink = sink
        self._held: dict[Stream, bytes] = {"stdout": b"", "stderr": b""}
        self._found: dict[Stream, int] = {}

    @property
    def status(self) -> int | None:
        """The command's exit status as a shell has it (128 and the number of a signal); None while it isn't proven."""
        return self._found["stdout"] if len(self._found) == len(self._held) else None

    def __call__(self, stream: Stream, data: bytes) -> None:
        """Take what came: what may be the beginning of the seal is held back until more comes."""
        if stream in self._found:  # of a child that the command has left behind
            self._sink(stream, data)
            return
        word = self.word.encode()
        data = self._held[stream] + data
        at = data.find(word)
        if at >= 0:
            after = at + len(word)
            status = data[after : after + STATUS_DIGITS]
            if len(status) < STATUS_DIGITS:
                self._held[stream], data = data[at:], data[:at]
            else:
                self._held[stream] = b""
                if status.isdigit():
                    self._found[stream] = int(status)
                    data = data[:at] + data[after + STATUS_DIGITS :]
        else:
            length = _overlap(data, word)
            self._held[stream], data = data[len(data) - length :], data[: len(data) - length]
        if data:
            self._sink(stream, data)

    def flush(self) -> None:
        """There comes no more: hand on what was held back."""
        for stream, held in self._held.items():
            if held:
                self._sink(stream, held)
        self._held = {"stdout": b"", "stderr": b""}


def _overlap(data: bytes, word: bytes) -> int:
    """How many bytes at the end of `data` are a beginning of `word`."""
    for length in range(min(len(data), len(word) - 1), 0, -1):
        if data.endswith(word[:length]):
            return length
    return 0


def command(size: int) -> tuple[str, ...]:
    """The argument list that reads `size` bytes of prelude from standard input and runs it."""
    return ("sh", "-c", _RUN, "arena-exec", str(size))


def prelude(
    argv: Sequence[str], *, mark: str, word: str, env: Mapping[str, str] | None, cwd: str | None, has_stdin: bool
) -> bytes:
    """The shell lines that set up the environment, run `argv`, and seal both streams with `word`.

    Without input of its own the command reads /dev/null, so that it can't eat what follows.
    """
    lines = [f"export {MARK}={mark}"]
    lines += [f"export {name}={shlex.quote(value)}" for name, value in (env or {}).items()]
    if cwd:
        lines.append(f"cd {shlex.quote(cwd)} || exit 126")
    lines.append(f"exec {shlex.join(argv)}" + ("" if has_stdin else " </dev/null"))
    return _FRAME.format(limit=_limit(mark), lines="\n".join(lines), word=word).encode()


def killer(mark: str) -> tuple[str, ...]:
    """The argument list that ends everything a marked command has left in its container; 0 when nothing is left."""
    return ("sh", "-c", _KILL, "arena-kill", f"{MARK}={mark}", _limit(mark))


def _limit(mark: str) -> str:
    """A number of the mark's own, far from any limit that someone would set: 2⁶¹ to 2⁶²."""
    return str(1 << 61 | int(mark[:15], 16))
