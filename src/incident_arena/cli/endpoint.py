"""`arena endpoint`: a scripted model endpoint, so that agents can be tried without a key."""

import asyncio
import signal
from pathlib import Path
from typing import Annotated

import typer

from incident_arena.cli.say import output, say
from incident_arena.endpoint.script import Script, load_script
from incident_arena.endpoint.server import LOOPBACK, serving


def endpoint(
    script: Annotated[Path, typer.Argument(help="The steps to play, as docs/endpoint.md tells.", metavar="SCRIPT")],
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes a free one.")] = 0,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = LOOPBACK,
    log: Annotated[Path | None, typer.Option(help="Append a JSON line for each request to this file.")] = None,
) -> None:
    """Answer model calls from a script until Ctrl-C: Anthropic messages, OpenAI responses and chat, Gemini."""
    asyncio.run(_serve(load_script(script), host, port, log))


async def _serve(script: Script, host: str, port: int, log: Path | None) -> None:
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    async with serving(script, host=host, port=port, log=log) as running:
        output.print(running.url, soft_wrap=True, highlight=False, markup=False)
        say(f"{len(script.step)} steps; any key will do; Ctrl-C ends")
        await stopped.wait()
    say(f"{len(running.journal.entries)} requests")
