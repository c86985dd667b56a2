"""What an episode needs of a machine, one check each."""

import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from incident_arena import proc
from incident_arena.errors import ArenaError
from incident_arena.node import build, cgroups
from incident_arena.settings import Settings

GIB = 1024**3
DISK_GIB = 15
MEMORY_GIB = 6

PROGRAMS = {
    # program: Debian package
    "ip": "iproute2",
    "nft": "nftables",
    "iptables": "iptables",
    "ipset": "ipset",
    "conntrack": "conntrack",
    "unshare": "util-linux",
    "setpriv": "util-linux",
    "buildah": "buildah",
    "mmdebstrap": "mmdebstrap",
    "gcc": "gcc",
    "pkg-config": "pkg-config",
}
HEADERS = {"libseccomp": "libseccomp-dev"}


@dataclass(frozen=True)
class Finding:
    """One check's result. `package` is set where a Debian package is the remedy."""

    name: str
    ok: bool
    seen: str
    remedy: str = ""
    package: str = ""


def all_findings(settings: Settings) -> list[Finding]:
    """Every check, in the order in which they matter."""
    checks: list[Callable[[], Finding]] = [
        _python,
        _root,
        _control_groups,
        _namespaces,
        lambda: _overlay(settings),
        _memory,
        lambda: _disk(settings),
    ]
    findings = [check() for check in checks]
    findings += [_program(name, package) for name, package in PROGRAMS.items()]
    findings += [_headers(name, package) for name, package in HEADERS.items()]
    findings += [_libc(), _go()]
    return findings


def _python() -> Finding:
    version = ".".join(map(str, sys.version_info[:3]))
    return Finding("python", sys.version_info >= (3, 12), version, "install Python 3.12 or newer")


def _root() -> Finding:
    ok = os.geteuid() == 0
    return Finding("root", ok, "yes" if ok else f"user {os.geteuid()}", "run with sudo")


def _control_groups() -> Finding:
    found = cgroups.hierarchies()
    if cgroups.is_unified():
        available = (cgroups.ROOT / "cgroup.controllers").read_text().split()
        lacking = {"cpu", "memory", "pids"} - set(available)
        return Finding(
            "control groups", not lacking, f"version 2: {' '.join(available)}", "boot with these controllers"
        )
    names = {path.name for path in found}
    ok = "memory" in names and "pids" in names
    return Finding("control groups", ok, f"version 1: {' '.join(sorted(names)) or 'none'}", "mount the controllers")


def _namespaces() -> Finding:
    if shutil.which("unshare") is None:
        return Finding("namespaces", ok=False, seen="no unshare", remedy="see unshare")
    argv = ["unshare", "--pid", "--fork", "--mount", "--mount-proc", "--net", "--uts", "--ipc", "true"]
    done = proc.run(argv, deadline_s=20, check=False)
    return Finding("namespaces", done.exit == 0, done.stderr.strip() or "all kinds", "run as root, outside a container")


def _overlay(settings: Settings) -> Finding:
    """An overlay can be mounted on the data folder's file system."""
    base = settings.home if settings.home.is_dir() else Path(tempfile.gettempdir())
    if os.geteuid() != 0:
        return Finding("overlay file system", ok=False, seen="can't be tried without root", remedy="run with sudo")
    if shutil.which("unshare") is None:
        return Finding("overlay file system", ok=False, seen="can't be tried without unshare", remedy="see unshare")
    with tempfile.TemporaryDirectory(dir=base, prefix="doctor-") as folder:
        for part in ("lower", "upper", "work", "all"):
            (Path(folder) / part).mkdir()
        options = f"lowerdir={folder}/lower,upperdir={folder}/upper,workdir={folder}/work"
        mount = ["unshare", "--mount", "mount", "-t", "overlay", "overlay", "-o", options, f"{folder}/all"]
        done = proc.run(mount, deadline_s=20, check=False)
    remedy = "set ARENA_HOME to a folder on ext4, xfs or btrfs"
    return Finding("overlay file system", done.exit == 0, done.stderr.strip() or "works", remedy)


def _memory() -> Finding:
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    remedy = f"an episode needs {MEMORY_GIB} GiB"
    return Finding("memory", total > MEMORY_GIB * GIB * 0.9, f"{total / GIB:.1f} GiB", remedy)


def _disk(settings: Settings) -> Finding:
    folder = next(path for path in (settings.home, *settings.home.parents) if path.exists())
    free = shutil.disk_usage(folder).free
    remedy = f"free {DISK_GIB} GiB, or set ARENA_HOME to a larger disk"
    return Finding("disk", free > DISK_GIB * GIB, f"{free / GIB:.0f} GiB free for {settings.home}", remedy)


def _program(name: str, package: str) -> Finding:
    path = shutil.which(name)
    return Finding(name, path is not None, path or "missing", f"apt-get install {package}", "" if path else package)


def _headers(name: str, package: str) -> Finding:
    found = shutil.which("pkg-config") is not None
    found = found and proc.run(["pkg-config", "--exists", name], deadline_s=20, check=False).exit == 0
    seen = "found" if found else "missing"
    return Finding(f"{name} headers", found, seen, f"apt-get install {package}", "" if found else package)


def _libc() -> Finding:
    found = any(Path("/usr/lib").glob("*/libc.a"))
    seen, package = ("found", "") if found else ("missing", "libc6-dev")
    return Finding("static C library", found, seen, "apt-get install libc6-dev", package)


def _go() -> Finding:
    try:
        return Finding("go", ok=True, seen=build.find_go())
    except ArenaError as error:
        return Finding("go", ok=False, seen=error.reason, remedy="arena setup --yes")
