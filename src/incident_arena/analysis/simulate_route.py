"""The simulator's records of the way to the model, and of attempts that were played again."""

import json
from pathlib import Path

from incident_arena.analysis.attempts import RECORDS_FILE, Attempt
from incident_arena.analysis.errored import CALLS_FILE, ROUTE_FILE
from incident_arena.analysis.simulate_verdict import Draw
from incident_arena.route import Call, fingerprint, summarise

DOWN = frozenset({"provider-down", "route-down", "declared-down"})
ERRORED = frozenset({"provider-down", "route-down", "never-reached"})
ROUTED = DOWN | ERRORED | {"refused-quietly", "printed-error"}
ANSWERED = 12
RETRIES = 11


def write_route(trial: Path, draw: Draw, odd: str) -> None:
    """route.jsonl and route.json of one trial, as the runner writes them."""
    calls = [] if odd == "never-reached" else _calls(draw, odd)
    (trial / CALLS_FILE).write_text("".join(f"{one.model_dump_json()}\n" for one in calls))
    route = summarise(calls, agent_started=draw.started, agent_ended=draw.ended)
    (trial / ROUTE_FILE).write_text(route.model_dump_json(indent=1))


def _calls(draw: Draw, odd: str) -> list[Call]:
    step = (draw.ended - draw.started) / (ANSWERED + RETRIES + 1)
    refusal = "refusal" if odd == "refused-quietly" else ""
    calls = [_call(draw, number * step, 200) for number in range(ANSWERED - 1)]
    calls.append(_call(draw, (ANSWERED - 1) * step, 200, refusal))
    failures = RETRIES if odd in DOWN else 0
    return calls + [_call(draw, (ANSWERED + number) * step, 429) for number in range(failures)]


def _call(draw: Draw, after: float, status: int, refusal: str = "") -> Call:
    return Call(
        at=draw.started + after, seconds=1.5, host="model.example", port=443, method="POST", status=status,
        bytes_in=2_000, bytes_out=40_000, allowed=True, model_call=True, whole=True, refusal=refusal,
        credential=fingerprint(b"simulated", "key"), asked=fingerprint(b"simulated", "/v1/messages"),
    )  # fmt: skip


def write_played_again(job: Path, name: str, draw: Draw, *, agent: str, model: str | None) -> Attempt:
    """The line of an attempt that was errored and whose folder Harbor has deleted."""
    attempt = Attempt(
        trial=name, task=draw.task, admissible=True, attempt=1, started=draw.started - 900, id=f"again-{draw.seed:08x}",
        errored=f"the way to the model was down: the last {RETRIES} calls failed, over 170 s: 429 {RETRIES} times",
        exception="ApiRateLimitError", agent=agent, model=model, agent_seconds=200.0, input_tokens=draw.tokens // 4,
        cached_tokens=draw.tokens // 5, output_tokens=draw.tokens // 400, turns=9,
    )  # fmt: skip
    with (job / RECORDS_FILE).open("a") as file:
        file.write(json.dumps(attempt.model_dump(mode="json", exclude={"job"})) + "\n")
    return attempt
