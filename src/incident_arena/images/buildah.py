"""buildah, without a daemon, in a storage of our own under the data folder."""

import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from incident_arena import proc
from incident_arena.errors import UserError
from incident_arena.images import host

DEADLINE_S = 3600.0
SHORT_S = 120.0
PRIVATE = ("unshare", "--mount", "--propagation", "private")
"""A mount namespace for each command: what buildah mounts is gone with it, even when it is killed."""


@dataclass(frozen=True)
class Buildah:
    """A storage and the driver that works in it."""

    storage: Path
    driver: str

    @classmethod
    def open(cls, storage: Path) -> "Buildah":
        """Open the storage; the driver is found out once, by trying, and noted in it.

        Raises:
            UserError: not root.
            CommandError: buildah is missing, or works with no driver.
        """
        if os.geteuid() != 0:
            raise UserError("images", "building them needs root", "run it with sudo")
        storage.mkdir(parents=True, exist_ok=True)
        note = storage / "driver"
        if note.exists():
            return cls(storage, note.read_text().strip())
        driver = "overlay" if _mounts(cls(storage / "probe", "overlay")) else "vfs"
        note.write_text(f"{driver}\n")
        return cls(storage, driver)

    def has(self, reference: str) -> bool:
        """Whether the image is in the storage."""
        listed = json.loads(self.run("images", "--json").stdout or "[]")
        names = {name for image in listed or [] for name in image.get("names") or []}
        return reference in names

    def build(self, reference: str, context: Path, used: Mapping[str, str], log: Path) -> None:
        """Build the Dockerfile in `context`.

        Args:
            reference: what the image is called.
            context: its folder.
            used: name without a key to the reference that stands for it.
            log: output is appended there.
        """
        contexts = [f"--build-context={name}=container-image://{image}" for name, image in used.items()]
        with tempfile.TemporaryDirectory() as folder:
            secrets = _secrets(Path(folder))
            self.run(
                *("bud", "--isolation", "chroot", "--layers", "--format", "oci", "--tag", reference),
                *contexts, *secrets, str(context),
                deadline_s=DEADLINE_S, log=log,
            )  # fmt: skip

    def push(self, reference: str, archive: Path) -> None:
        """Write the image as an OCI archive."""
        self.run(
            *("push", "--quiet", "--format", "oci"),
            *(reference, f"oci-archive:{archive}:{reference}"),
            deadline_s=DEADLINE_S,
        )

    def pull(self, archive: Path) -> None:
        """Take an image from its archive into the storage."""
        self.run("pull", "--quiet", f"oci-archive:{archive}", deadline_s=DEADLINE_S)

    def run(
        self, *arguments: str, deadline_s: float = SHORT_S, check: bool = True, log: Path | None = None
    ) -> proc.Completed:
        """Run one of its commands in this storage."""
        folders = ["--root", str(self.storage / "root"), "--runroot", str(self.storage / "run")]
        argv = [*PRIVATE, "buildah", *folders, "--storage-driver", self.driver, *arguments]
        return proc.run(argv, deadline_s=deadline_s, check=check, log=log)


def _mounts(buildah: Buildah) -> bool:
    made = buildah.run("from", "--name", "probe", "scratch", check=False)
    mounted = made.exit == 0 and buildah.run("mount", "probe", check=False).exit == 0
    buildah.run("rm", "--all", check=False)
    return mounted


def _secrets(folder: Path) -> list[str]:
    environment = host.environment()
    pip, npm, bundle = folder / "pip.conf", folder / "npmrc", host.certificates(environment)
    pip.write_text(host.pip_configuration(environment, Path.home()))
    npm.write_text(host.npm_configuration(environment, Path.home()))
    secrets = [f"--secret=id=pip.conf,src={pip}", f"--secret=id=npmrc,src={npm}"]
    return secrets if bundle is None else [*secrets, f"--secret=id=ca.crt,src={bundle}"]
