"""What is sent into a container to run a command there, and to end it.

`kubectl exec` knows neither environment, working directory nor a way to end what it started: a client that dies leaves
the remote process running. So the command goes in as a few lines of shell on standard input (environment values never
show up in an argument list), and carries a mark in its environment that all its children inherit. Ending it means
killing whatever carries the mark, and the descendants of that.
"""

import shlex
from collections.abc import Mapping, Sequence

MARK = "ARENA_EXEC"

_RUN = 'eval "$(head -c "$1")"'
# Children may drop the mark (env -i) and may have lost their parent (setsid, nohup): mark and ancestry together catch
# both. A process can fork while the list is made, so the lists are made until they stay empty.
_KILL = """
marked() { grep -lsaF "$1" /proc/[0-9]*/environ | cut -d/ -f3; }
children() { for p in $1; do grep -lsa "^PPid:[[:space:]]*$p\\$" /proc/[0-9]*/status | cut -d/ -f3; done; }
round=0
while [ $round -lt 20 ]; do
  all=$(marked "$1"); new=$all
  while [ -n "$new" ]; do new=$(children "$new"); all="$all $new"; done
  set -- "$1" $all
  [ $# -eq 1 ] && exit 0
  mark=$1; shift; kill -9 "$@" 2>/dev/null; set -- "$mark"
  round=$((round + 1))
done
exit 1
"""


def command(size: int) -> tuple[str, ...]:
    """The argument list that reads `size` bytes of prelude from standard input and becomes the command in it."""
    return ("sh", "-c", _RUN, "arena-exec", str(size))


def prelude(
    argv: Sequence[str], *, mark: str, env: Mapping[str, str] | None, cwd: str | None, has_stdin: bool
) -> bytes:
    """The shell lines that set up the environment and become `argv`.

    Without input of its own the command reads /dev/null, so that it can't eat what follows.
    """
    lines = [f"export {MARK}={shlex.quote(mark)}"]
    lines += [f"export {name}={shlex.quote(value)}" for name, value in (env or {}).items()]
    if cwd:
        lines.append(f"cd {shlex.quote(cwd)} || exit 126")
    lines.append(f"exec {shlex.join(argv)}" + ("" if has_stdin else " </dev/null"))
    return "\n".join(lines).encode()


def killer(mark: str) -> tuple[str, ...]:
    """The argument list that ends everything a marked command has left in its container; 0 when nothing is left."""
    return ("sh", "-c", _KILL, "arena-kill", f"{MARK}={mark}")
