"""Base images, bootstrapped from Debian's packages."""

from pathlib import Path

from incident_arena import proc
from incident_arena.images import host
from incident_arena.images.recipes import Base

DEADLINE_S = 1200.0
DOCKERFILE = "FROM scratch\nADD rootfs.tar /\nCOPY apt.conf /etc/apt/apt.conf.d/90arena\n"
APT = """\
APT::Install-Recommends "false";
APT::Keep-Downloaded-Packages "false";
Binary::apt-get::APT::Keep-Downloaded-Packages "false";
DPkg::Post-Invoke { "rm -f /var/cache/apt/archives/*.deb"; };
Dir::Cache::pkgcache "";
Dir::Cache::srcpkgcache "";
"""
"""A layer holds what was installed, and nothing of how."""

KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")


def bootstrap(base: Base, context: Path, etc_apt: Path, log: Path) -> None:
    """Make a context whose image is a minimal Debian with the packages of the base.

    Args:
        base: suite and packages.
        context: an empty folder.
        etc_apt: apt's configuration of this machine, whose mirror is used.
        log: output is appended there.

    Raises:
        CommandError: mmdebstrap is missing or failed.
    """
    mirror, security = host.mirrors(etc_apt)
    signed = f"[signed-by={KEYRING}] " if KEYRING.exists() else ""
    proc.run(
        [
            *("mmdebstrap", "--variant=minbase", "--mode=root", f"--include={','.join(base.packages)}"),
            # Nothing that only a person at a terminal reads; copyright files stay, as licences ask.
            *("--dpkgopt=path-exclude=/usr/share/man/*", "--dpkgopt=path-exclude=/usr/share/locale/*"),
            *("--dpkgopt=path-exclude=/usr/share/doc/*", "--dpkgopt=path-include=/usr/share/doc/*/copyright"),
            base.suite,
            context / "rootfs.tar",
            f"deb {signed}{mirror} {base.suite} main",
            f"deb {signed}{mirror} {base.suite}-updates main",
            f"deb {signed}{security} {base.suite}-security main",
        ],
        deadline_s=DEADLINE_S,
        log=log,
    )
    (context / "apt.conf").write_text(APT)
    (context / "Dockerfile").write_text(DOCKERFILE)
