"""The referee's command line, in its pod.

    python -m incident_arena.services.referee [watch]      the pod's main program
    … healthy | baseline | plant | symptom                 a stage; ends when it is over
    … snapshot A|B|C|D
    … stage                                                records stages of the runner: JSON on standard input,
                                                           one, a list, or one a line
    … agent-started [--stages JSON] [--seal]               the agent may begin
    … collect                                              once the agent is gone

Each verb but `watch` ends with one line of JSON (records.Closing), which is its caller's proof that it came to its end,
and exits 0; or says what failed on standard error and exits 2 (asked for wrongly) or 3 (it failed). What `collect` did
is proven by the manifest, which it writes last.
"""

import argparse
import asyncio
import sys
import time
from collections.abc import Sequence

from pydantic import TypeAdapter, ValidationError

from incident_arena.errors import ArenaError, UserError
from incident_arena.formats.records import Closing, Stage
from incident_arena.services.referee.config import Config
from incident_arena.services.referee.folder import LABELS, Evidence


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(prog="referee", description="Plants, watches, challenges and gathers the evidence.")
    verbs = made.add_subparsers(dest="verb")
    for name in ("watch", "healthy", "baseline", "plant", "symptom", "stage", "collect"):
        verbs.add_parser(name)
    verbs.add_parser("snapshot").add_argument("label", choices=LABELS)
    started = verbs.add_parser("agent-started")
    started.add_argument("--stages", default="", help="stages of the runner, as JSON")
    started.add_argument("--seal", action="store_true", help="gather no more than what decides (seal.py)")
    made.set_defaults(verb="watch")
    return made


def read_stages(text: str) -> list[Stage]:
    """Stages given as one JSON object, a list of them, or one a line.

    Raises:
        UserError: they are none.
    """
    given = text.strip()
    try:
        if given.startswith("["):
            return TypeAdapter(list[Stage]).validate_json(given)
        try:
            return [Stage.model_validate_json(given)] if given else []
        except ValidationError:
            return [Stage.model_validate_json(line) for line in given.splitlines()]
    except ValidationError as error:
        raise UserError("the stages", str(error), "give records.Stage as JSON") from error


async def run(arguments: argparse.Namespace, config: Config) -> str:
    """Carry out one verb; what it says about itself."""
    evidence = Evidence(config.evidence)
    match arguments.verb:
        case "agent-started":
            evidence.append("stages.jsonl", *read_stages(arguments.stages))
            evidence.tell(agent_started=time.time(), seal=arguments.seal)
            return "the agent may begin"
        case "stage":
            stages = read_stages(await asyncio.to_thread(sys.stdin.read))
            evidence.append("stages.jsonl", *stages)
            return f"{len(stages)} recorded"
    from incident_arena.services.referee import verbs  # noqa: PLC0415 - takes a second, which the verbs above don't need

    return await verbs.run(arguments.verb, getattr(arguments, "label", ""), config)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb; returns the exit status."""
    arguments = parser().parse_args(argv)
    started = time.monotonic()
    try:
        detail = asyncio.run(run(arguments, Config.from_environment()))
    except ArenaError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_status
    except KeyboardInterrupt:
        return 130
    seconds = round(time.monotonic() - started, 3)
    sys.stdout.write(Closing(verb=arguments.verb, seconds=seconds, detail=detail).model_dump_json() + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
