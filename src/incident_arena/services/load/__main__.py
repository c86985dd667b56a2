"""The program in the pod `load`.

    python -m incident_arena.services.load --task /task/task.json --target http://edge:8080
        --ledger /ledger/ledger.jsonl --port 8091

Environment: LOAD_TOKEN for its API; what else is in it is for the application's operations. It ends on SIGTERM, with
what is under way written down as indeterminate.
"""

import argparse
import asyncio
import os
import signal
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from aiohttp import web
from pydantic import ValidationError

from incident_arena import application
from incident_arena.errors import ArenaError, UserError
from incident_arena.formats.task import TaskSpec
from incident_arena.ledger import seeds
from incident_arena.ledger.writing import Ledger
from incident_arena.services.load.api import Api
from incident_arena.services.load.generator import Generator
from incident_arena.wait import until_async
from incident_arena.workload.operations import NotReadyError, Operations

READY_WITHIN = 900.0
"""Seconds that the application may take; after them the program ends, and its pod starts again."""
RETRY_EVERY = 0.5


@dataclass(frozen=True)
class Config:
    """What the command line and the environment say."""

    task: TaskSpec
    target: str
    ledger: Path
    port: int
    token: str
    environment: Mapping[str, str]

    @classmethod
    def of(cls, arguments: list[str], environment: Mapping[str, str]) -> "Config":
        """Read them.

        Raises:
            UserError: a variable is not set, or the task is none.
        """
        parser = argparse.ArgumentParser(prog="incident_arena.services.load", description="The load of an episode.")
        parser.add_argument("--task", type=Path, required=True, help="task.json (a TaskSpec)")
        parser.add_argument("--target", required=True, help="the application's address")
        parser.add_argument("--ledger", type=Path, required=True, help="the ledger, made or gone on with")
        parser.add_argument("--port", type=int, required=True, help="port of the API for the referee")
        given = parser.parse_args(arguments)
        if not environment.get("LOAD_TOKEN"):
            raise UserError("variable LOAD_TOKEN", "is not set", "set it from the episode's accounts")
        try:
            task = TaskSpec.model_validate_json(given.task.read_bytes())
        except (OSError, ValidationError) as error:
            raise UserError(f"task file {given.task}", f"can't be used: {error}") from error
        return cls(task, given.target, given.ledger, given.port, environment["LOAD_TOKEN"], environment)


async def serve(config: Config) -> None:
    """Run until SIGTERM or SIGINT.

    Raises:
        ArenaError: the load can't be as asked, or can't be written down.
    """
    spec = config.task.load
    operations = application.load(config.task.substrate).operations(spec, config.target, config.environment)
    ledger = Ledger(config.ledger)
    generator = Generator(spec, operations, ledger)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, generator.stop)
    runner = web.AppRunner(Api(generator, spec, config.target, config.token).application(), access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, port=config.port).start()
        await _prepare(config, operations, generator, ledger)
        await generator.run()
    finally:
        await runner.cleanup()
        await operations.close()
        ledger.close()


async def _prepare(config: Config, operations: Operations, generator: Generator, ledger: Ledger) -> None:
    async def ready() -> tuple[bool, str]:
        if generator.stopping:
            return True, "stopped"
        try:
            records = await operations.prepare(ledger.before)
        except NotReadyError as error:
            if str(error) != generator.waiting_for:
                generator.waiting_for = str(error)
                sys.stderr.write(f"waiting: {error}\n")
            return False, str(error)
        seeds.keep(config.ledger.parent, records)
        return True, ""

    await until_async("the application's readiness for the load", ready, deadline_s=READY_WITHIN, every_s=RETRY_EVERY)


def main() -> int:
    """Run; exit status as `errors` says."""
    try:
        asyncio.run(serve(Config.of(sys.argv[1:], os.environ)))
    except ArenaError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_status
    return 0


if __name__ == "__main__":
    sys.exit(main())
