"""A rootless sandbox with this interpreter and its packages."""

import asyncio
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from incident_arena.errors import InfrastructureError, UserError
from incident_arena.proc import OverrunError, run_async
from incident_arena.sandbox import confine

TIMED_OUT = 124
"""Exit status of a command that overran its deadline, as coreutils' timeout has it."""

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/lib32", "/libx32", "/etc/ld.so.cache", "/etc/localtime")
PUBLISHED = "/logs/artifacts"
FOLDERS = ("logs/verifier", "logs/artifacts", "tests", "evidence")
RESERVED = frozenset({"usr", "bin", "sbin", "lib", "lib64", "lib32", "libx32", "etc", "dev", "proc", "tmp"})
REMEDY = (
    "allow unprivileged user namespaces: sysctl kernel.unprivileged_userns_clone=1 (older Debian), "
    "sysctl kernel.apparmor_restrict_unprivileged_userns=0 (Ubuntu), or a seccomp profile that permits unshare "
    "when this runs in a container"
)


@dataclass(frozen=True)
class Ended:
    """A command that ended."""

    exit: int
    stdout: str
    stderr: str


class Sandbox:
    """A rootless sandbox with this interpreter and its packages, read-only.

    Files go into a scratch folder, whose folders appear at the root inside (`/tests`, `/evidence`, `/logs`).
    """

    def __init__(self) -> None:
        """Make nothing yet."""
        self._scratch: tempfile.TemporaryDirectory[str] | None = None

    @property
    def _files(self) -> Path:
        if self._scratch is None:
            raise InfrastructureError("the judge's sandbox", "was not started")
        return Path(self._scratch.name) / "files"

    async def start(self) -> None:
        """Make the scratch folder, and try the namespaces once.

        Raises:
            UserError: the kernel refuses them.
        """
        self._scratch = tempfile.TemporaryDirectory(prefix="arena-judge-", ignore_cleanup_errors=True)
        for folder in FOLDERS:
            (self._files / folder).mkdir(parents=True)
        (Path(self._scratch.name) / "root").mkdir()
        await self.exec("true", deadline_s=30)

    async def stop(self) -> None:
        """Remove the scratch folder; it holds nothing that is not in the trial's own."""
        if self._scratch is not None:
            await asyncio.to_thread(self._scratch.cleanup)
            self._scratch = None

    async def exec(
        self,
        command: str,
        *,
        deadline_s: float | None,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
    ) -> Ended:
        """Run a shell command inside; past its deadline everything inside is killed.

        Raises:
            UserError: the kernel refuses user namespaces.
        """
        files = self._files
        plan = {
            "root": str(files.parent / "root"),
            "cwd": cwd or "/",
            "writable": [[str(path), f"/{path.name}"] for path in sorted(files.iterdir())],
            **layout(),
        }
        argv = (sys.executable, "-I", confine.__file__, json.dumps(plan), "--")
        inside = [f"{name}={value}" for name, value in (surroundings() | dict(env or {})).items()]
        try:
            ended = await run_async(
                (*argv, "env", "-i", *inside, "sh", "-c", command), deadline_s=deadline_s, check=False
            )
        except OverrunError as error:
            printed = error.completed
            return Ended(TIMED_OUT, printed.stdout, f"{printed.stderr}\ntimed out: {error.summary}\n")
        if ended.exit == confine.REFUSED and ended.stderr.startswith("confine: "):
            raise UserError("the judge's sandbox", ended.stderr.removeprefix("confine: ").strip(), REMEDY)
        return Ended(ended.exit, ended.stdout, ended.stderr)

    async def upload(self, source: Path, target: str) -> None:
        """Copy in; what the agent published stays outside, since nothing of it is judged."""
        if target == PUBLISHED:
            return
        await asyncio.to_thread(_copy, source, self._inside(target))

    async def download(self, source: str, target: Path) -> None:
        """Copy out; links are copied as links."""
        await asyncio.to_thread(_copy, self._inside(source), target)

    def _inside(self, path: str) -> Path:
        parts = [part for part in Path(path).parts if part != "/"]
        if not parts or ".." in parts or parts[0] in RESERVED:
            raise InfrastructureError(f"path {path!r}", "is not one that files may be copied to in the judge's sandbox")
        return self._files.joinpath(*parts)


def layout() -> dict[str, list[list[str]]]:
    """What is visible inside, read-only: the system's programs, this interpreter, its packages, this product."""
    read_only, links = [], []
    for path in SYSTEM:
        if Path(path).is_symlink() and Path(path).is_dir():
            links.append([path, str(Path(path).readlink())])
        elif Path(path).exists():
            read_only.append(path)
    package = Path(__file__).resolve().parents[2]
    python = [sys.prefix, sys.base_prefix, str(Path(sys.base_prefix).resolve()), *sys.path, str(package)]
    for path in sorted({path for path in python if path and Path(path).is_dir()}):
        if not any(Path(path).is_relative_to(seen) for seen in read_only):
            read_only.append(path)
    return {"read_only": [[path, path] for path in read_only], "links": links}


def surroundings() -> dict[str, str]:
    """The environment inside; an interpreter that finds its libraries by a variable keeps that one."""
    kept = {name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ}
    return kept | {
        "PATH": f"{sys.prefix}/bin:/usr/local/bin:/usr/bin:/bin",
        "HOME": "/tmp",  # noqa: S108 - inside the sandbox
        "LANG": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def _copy(source: Path, target: Path) -> None:
    if source.is_dir() and not source.is_symlink():
        shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True)
        return
    if not source.exists() and not source.is_symlink():
        raise InfrastructureError(f"copy of {str(source)!r}", "no such file or folder")
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(source, target, follow_symlinks=False)
