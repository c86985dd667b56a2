"""`arena agents list|build`."""

from typing import Annotated, Any

import typer
from rich.table import Table

from incident_arena.cli.say import output, print_json, say, working
from incident_arena.errors import UserError
from incident_arena.folders import PACKAGE
from incident_arena.images import agents
from incident_arena.images.build import build_images, list_images
from incident_arena.settings import Settings

app = typer.Typer(help="The agents' images: which there are, and build one.", no_args_is_help=True)


@app.command("list")
def list_(
    json: Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")] = False,  # noqa: FBT002
) -> None:
    """Harbor's agents: which run here, at which version, and whether their images are built."""
    rows = listed(Settings.from_environment())
    if json:
        print_json(rows)
        return
    table = Table("agent", "kind", "version", "built", "MB", box=None)
    for row in rows:
        table.add_row(*("" if value is None else str(value) for value in row.values()))
    output.print(table)


@app.command("build")
def build_(agent: Annotated[str, typer.Argument(metavar="NAME[@VERSION]", help="See `arena agents list`.")]) -> None:
    """Build an agent's image, and what it is built on, when it is not built yet."""
    settings = Settings.from_environment()
    image = asked(agent)
    with working("building") as show:
        built = build_images(settings, [image], show)[image]
    say(f"{built.reference}: {built.archive} ({built.archive.stat().st_size / 1e6:.0f} MB)")


def asked(agent: str) -> str:
    """The image of an agent that is built by name.

    Raises:
        UserError: no such agent, or one that has no image of its own.
    """
    from incident_arena.harbor.agent_images import image_name  # noqa: PLC0415  Harbor takes a second to import

    image = image_name(agent)
    if image == agents.PLAIN:
        raise UserError(f"agent {agent!r}", "has no image of its own", "build the image `agent`: arena images build")
    return image


def listed(settings: Settings) -> list[dict[str, Any]]:
    """Harbor's agents, those that run here first. Keys: agent, kind, version, built (None: nothing to build), mb."""
    from incident_arena.harbor.agent_images import Kind, kinds  # noqa: PLC0415

    recipes = agents.recipes(PACKAGE)
    images = {one.image.name: one for one in list_images(settings, [agents.image_for(name) for name in recipes])}
    order = list(Kind)
    rows: list[dict[str, Any]] = []
    for name, kind in sorted(kinds().items(), key=lambda item: (order.index(item[1]), item[0])):
        row: dict[str, Any] = {"agent": name, "kind": str(kind), "version": None, "built": None, "mb": None}
        if kind is Kind.INSTALLED:
            planned = images[agents.image_for(name)]
            row |= {"version": recipes[name].version, "built": planned.built}
            row["mb"] = round(planned.image.archive.stat().st_size / 1e6, 1) if planned.built else None
        rows.append(row)
    return rows
