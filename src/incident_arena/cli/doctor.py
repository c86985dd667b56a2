"""`arena doctor`: what this machine has, what it lacks, and the remedy."""

from collections.abc import Collection
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from incident_arena.cli.say import output, print_json
from incident_arena.images import build as image_build
from incident_arena.machine.checks import Finding, all_findings
from incident_arena.node import build
from incident_arena.settings import Settings

LACKING = 2


def doctor(
    json: Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")] = False,  # noqa: FBT002
) -> None:
    """Show what this machine has and lacks for an episode; exit status 2 when it lacks something."""
    settings = Settings.from_environment()
    findings = [*all_findings(settings), _binaries(settings), _images(settings)]
    if json:
        print_json([vars(finding) for finding in findings])
    else:
        table = Table("", "what", "seen", "remedy", box=None)
        for finding in findings:
            mark = Text("✓", "green") if finding.ok else Text("✗", "red")
            table.add_row(mark, finding.name, finding.seen, "" if finding.ok else finding.remedy)
        output.print(table)
    if not all(finding.ok for finding in findings):
        raise typer.Exit(LACKING)


def _binaries(settings: Settings) -> Finding:
    ok = build.is_built(settings)
    return Finding("node binaries", ok, str(settings.bin) if ok else "not built", "arena setup --yes")


def _images(settings: Settings) -> Finding:
    missing = missing_images(settings, image_build.plain_names(settings))
    seen = f"not built: {', '.join(missing)}" if missing else "all built"
    return Finding("images", not missing, seen, "arena setup --yes")


def missing_images(settings: Settings, names: Collection[str]) -> list[str]:
    """Those of these images that are not built for these sources; all of them while the binaries are not."""
    if not build.is_built(settings):
        return ["all, since the node's binaries go in"]
    return [planned.image.name for planned in image_build.list_images(settings, names) if not planned.built]
