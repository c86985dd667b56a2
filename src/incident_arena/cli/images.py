"""`arena images build|list`."""

from typing import Annotated

import typer
from rich.table import Table

from incident_arena.cli.say import output, print_json, say, working
from incident_arena.images.build import build_images, list_images, plain_names
from incident_arena.settings import Settings

app = typer.Typer(help="The images of application and harness: build them, list them.", no_args_is_help=True)

Json = Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")]


@app.command("build")
def build_() -> None:
    """Build what is not built yet, or changed since; agents' images are built by `arena agents build`."""
    settings = Settings.from_environment()
    with working("building") as show:
        built = build_images(settings, plain_names(settings), show)
    say(f"{len(built)} images are in {settings.images}")


@app.command("list")
def list_(json: Json = False) -> None:  # noqa: FBT002  a flag
    """The images, and whether they are built."""
    settings = Settings.from_environment()
    rows = [
        {
            "name": one.image.name,
            "reference": one.image.reference,
            "built": one.built,
            "mb": round(one.image.archive.stat().st_size / 1e6, 1) if one.built else None,
        }
        for one in list_images(settings, plain_names(settings))
    ]
    if json:
        print_json(rows)
        return
    table = Table("image", "reference", "built", "MB", box=None)
    for row in rows:
        table.add_row(*("" if value is None else str(value) for value in row.values()))
    output.print(table)
