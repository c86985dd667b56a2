"""`arena node build|up|down|list|kubeconfig`."""

from typing import Annotated

import typer
from rich.table import Table

from incident_arena.cli.say import output, print_json, say
from incident_arena.errors import UserError
from incident_arena.images import build as image_build
from incident_arena.node import allocate, build, down
from incident_arena.node.spec import NodeSpec
from incident_arena.node.up import NodeImages, Up, require_root
from incident_arena.settings import Settings

app = typer.Typer(help="A Kubernetes node of one machine: build it, start it, stop it.", no_args_is_help=True)

Json = Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")]


def node_images(settings: Settings) -> NodeImages:
    """All images that are built, without agents' own; a node by itself needs two of them.

    Raises:
        UserError: one of the two is not built.
    """
    listed = image_build.list_images(settings, image_build.plain_names(settings))
    built = {planned.image.name: planned.image for planned in listed if planned.built}
    if missing := {"pause", "coredns"} - set(built):
        raise UserError("images", f"not built: {', '.join(sorted(missing))}", "arena images build")
    return NodeImages(
        archives={image.reference: image.archive for image in built.values()},
        pause=built["pause"].reference,
        coredns=built["coredns"].reference,
    )


@app.command("build")
def build_() -> None:
    """Compile the node's binaries; does nothing when they are there."""
    settings = Settings.from_environment()
    say(f"node binaries are in {build.build(settings, say)}")


@app.command()
def up(
    name: Annotated[str, typer.Option("--name", help="The node's name.")] = "arena",
    json: Json = False,  # noqa: FBT002  a flag
) -> None:
    """Start a node and wait until it is Ready, its DNS answers, and pods run."""
    settings = Settings.from_environment()
    require_root()
    down.clean(settings)
    start = Up(settings, name, node_images(settings), say)
    spec = start.start()
    if json:
        print_json({"name": name, "kubeconfig": str(spec.kubeconfig), "server": spec.server, "seconds": start.seconds})
    else:
        output.print(f"export KUBECONFIG={spec.kubeconfig}", soft_wrap=True)


@app.command("down")
def down_(name: Annotated[str, typer.Argument(help="The node's name.")]) -> None:
    """Stop a node and remove all of it."""
    settings = Settings.from_environment()
    require_root()
    down.stop(settings, _find(settings, name))
    say(f"node {name} is gone")


@app.command("list")
def list_(json: Json = False) -> None:  # noqa: FBT002  a flag
    """The nodes of this machine."""
    settings = Settings.from_environment()
    rows = [
        {
            "name": spec.name,
            "running": down.is_running(spec),
            "server": spec.server,
            "owner": spec.owner.pid if spec.owner else None,
            "memory_mb": down.memory_mb(spec)[0],
            "peak_memory_mb": down.memory_mb(spec)[1],
        }
        for spec in allocate.existing(settings)
    ]
    if json:
        print_json(rows)
        return
    table = Table("node", "running", "API server", "owner", "memory MB", "peak MB", box=None)
    for row in rows:
        table.add_row(*("" if value is None else str(value) for value in row.values()))
    output.print(table)


@app.command()
def kubeconfig(name: Annotated[str, typer.Argument(help="The node's name.")] = "arena") -> None:
    """Print the path of a node's kubeconfig."""
    output.print(str(_find(Settings.from_environment(), name).kubeconfig), soft_wrap=True)


def _find(settings: Settings, name: str) -> NodeSpec:
    nodes = {spec.name: spec for spec in allocate.existing(settings)}
    if name not in nodes:
        raise UserError(f"node {name!r}", f"does not exist; there are: {', '.join(nodes) or 'none'}", "arena node list")
    return nodes[name]
