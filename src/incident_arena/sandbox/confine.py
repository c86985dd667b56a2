"""Run a command in namespaces of its own: no network, no other processes, and only the folders it is given.

A program of its own, of the standard library alone, so that it starts fast and may be run with `python -I`:

    python -I confine.py '{"root": …, "read_only": [[source, target], …], "writable": [[source, target], …],
                           "links": [[target, text], …], "cwd": …}' -- COMMAND …

It needs no privilege beyond user namespaces. Whoever starts it is an ordinary user inside; a root user too, so that the
command has no capability. Exit status 125 and one line when the kernel refuses.
"""

import contextlib
import ctypes
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

REFUSED = 125
INSIDE = 1000
MS_BIND, MS_REC, MS_PRIVATE, MS_NOSUID, MS_NODEV = 0x1000, 0x4000, 0x40000, 0x2, 0x4
MNT_DETACH = 2
SYS_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
SYS_MOUNT_SETATTR = 442
AT_FDCWD, AT_RECURSIVE = -100, 0x8000
ATTR_RDONLY, ATTR_NOSUID, ATTR_NODEV = 0x1, 0x2, 0x4
PR_SET_PDEATHSIG, PR_SET_NO_NEW_PRIVS = 1, 38
DEVICES = ("null", "zero", "urandom", "random", "full")

libc = ctypes.CDLL(None, use_errno=True)


class Attributes(ctypes.Structure):
    """struct mount_attr of mount_setattr(2)."""

    _fields_ = [(name, ctypes.c_uint64) for name in ("set", "clear", "propagation", "userns")]


def check(result: int, what: str) -> None:
    """Turn a C error into an OSError that says what was done."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def mount(source: str, target: Path, kind: str, flags: int, data: str = "") -> None:
    """The system call, with its error."""
    result = libc.mount(source.encode(), bytes(target), kind.encode(), ctypes.c_ulong(flags), data.encode())
    check(result, f"mount {target}")


def bind(source: str, target: Path, *, read_only: bool) -> None:
    """Show a file or folder, with all that is mounted below it, elsewhere."""
    if Path(source).is_dir():
        target.mkdir(parents=True, exist_ok=True)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.touch()
    mount(source, target, "", MS_BIND | MS_REC)
    device = source.startswith("/dev/")
    attributes = Attributes(set=ATTR_NOSUID | (0 if device else ATTR_NODEV) | (ATTR_RDONLY if read_only else 0))
    arguments = (AT_FDCWD, bytes(target), AT_RECURSIVE, ctypes.byref(attributes), ctypes.sizeof(attributes))
    check(libc.syscall(SYS_MOUNT_SETATTR, *arguments), f"attributes of {target}")


def build(plan: dict[str, Any]) -> None:
    """Put the new root together and enter it."""
    root = Path(plan["root"])
    mount("none", Path("/"), "", MS_REC | MS_PRIVATE)
    mount("tmpfs", root, "tmpfs", MS_NOSUID | MS_NODEV, "size=512m,mode=755")
    for source, target in plan["read_only"]:
        bind(source, root / target.lstrip("/"), read_only=True)
    for name in DEVICES:
        bind(f"/dev/{name}", root / "dev" / name, read_only=False)
    for target, text in plan["links"]:
        (root / target.lstrip("/")).symlink_to(text)
    (root / "tmp").mkdir(exist_ok=True)
    (root / "proc").mkdir(exist_ok=True)
    # Refused inside a container whose own /proc is masked; nothing here needs it.
    with contextlib.suppress(PermissionError):
        mount("proc", root / "proc", "proc", MS_NOSUID | MS_NODEV)
    for source, target in plan["writable"]:
        bind(source, root / target.lstrip("/"), read_only=False)
    os.chdir(root)
    check(libc.syscall(SYS_PIVOT_ROOT[os.uname().machine], b".", b"."), "pivot_root")
    check(libc.umount2(b".", MNT_DETACH), "umount of the old root")
    os.chdir(plan["cwd"])


def enter() -> None:
    """Make the namespaces; whoever calls this is user 1000 inside."""
    user, group = os.getuid(), os.getgid()
    os.unshare(
        os.CLONE_NEWUSER | os.CLONE_NEWNS | os.CLONE_NEWPID | os.CLONE_NEWNET | os.CLONE_NEWIPC | os.CLONE_NEWUTS
    )
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{INSIDE} {user} 1")
    Path("/proc/self/gid_map").write_text(f"{INSIDE} {group} 1")


def main(arguments: list[str]) -> int:
    """Run the command; returns its exit status."""
    plan, command = json.loads(arguments[0]), arguments[2:]
    try:
        enter()
    except OSError as error:
        sys.stderr.write(f"confine: user namespaces are refused: {error}\n")
        return REFUSED
    child = os.fork()
    if child == 0:
        # The first process of the new PID namespace: everything in there ends with it.
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        try:
            build(plan)
            check(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
            os.execvp(command[0], command)  # noqa: S606 - there is no shell in between
        except OSError as error:
            sys.stderr.write(f"confine: {error}\n")
        os._exit(REFUSED)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status) % 256


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
