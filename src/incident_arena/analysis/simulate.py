"""A simulator of Harbor job folders, for tests and benchmarks of everything that reads them. Nothing in it is measured.

`simulate(folder, Plan(...))` writes one job for each model and returns the Truth, which a report must find again.
A trial's reward is a coin with P = logistic(ability + effort - difficulty); a failure draws one class. Some trials are
not judged, each in one of the ways that happen: see ODDITIES. Every draw comes from the plan's seed. Every trial says
in its agent's settings that it is simulated, which tables and pages repeat.
"""

import json
import math
import random
import uuid
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from incident_arena.analysis.cost import Price, Tokens, cost_of
from incident_arena.analysis.read_trial import SIMULATED
from incident_arena.analysis.simulate_evidence import write_evidence, write_transcript
from incident_arena.analysis.simulate_route import ERRORED, ROUTED, write_played_again, write_route
from incident_arena.analysis.simulate_spoiled import KINDS, label, spoil
from incident_arena.analysis.simulate_verdict import Draw, verdict_of
from incident_arena.formats.verdict import CLASSES, FailureClass

EFFORTS = ("low", "medium", "high", "xhigh", "max")
WRITES_CACHE = "simulated-two"
"""The provider whose agents tell of cache writes."""
EPOCH = datetime(2026, 10, 1, tzinfo=UTC)
ODDITIES = (
    "start-failed", "ruled-out", "unknown", "crashed", "cut-off", "foreign", "damaged", "refused", "refused-quietly",
    "provider-down", "route-down", "never-reached", "declared-down", "printed-error", "played-again",
)  # fmt: skip
"""start-failed: the environment raised; ruled-out: inadmissible by the verdict; unknown: a check raised;
crashed: Harbor's own error after the agent; cut-off: no result.json; foreign: another benchmark's task;
damaged: verdict.json cut in half; refused: the provider declined, and the trial failed; refused-quietly: the same, and
the agent's program ended well; provider-down: Harbor and the gateway say so; route-down: the gateway alone does;
never-reached: no call was made; declared-down: the agent had declared before; printed-error: the agent's program said
so, but the gateway saw all calls answered; played-again: judged at the second attempt, the first was errored."""


@dataclass(frozen=True)
class SimTask:
    """A task. `difficulty` is on the logistic scale."""

    name: str
    difficulty: float = 0.0
    faults: tuple[str, ...] = ("mariadb.grants", "redis-queue.config")
    onset: str = "at start"
    layer: str = "runtime"
    surface: str = "confined"


@dataclass(frozen=True)
class SimModel:
    """A model behind an agent. `ability` is on the logistic scale; no efforts: the agent has no such setting."""

    name: str | None
    agent: str = "simulated-cli"
    version: str = "0.153"
    provider: str | None = "simulated-one"
    ability: float = 0.0
    efforts: tuple[str, ...] = EFFORTS


FRAPPE = (
    SimTask("frappe/deletes-and-jobs-fail", 0.0),
    SimTask("frappe/desk-and-queue-oom", 0.9, ("mariadb.max-user-connections", "redis-queue.config"), "under load"),
    SimTask("frappe/desk-and-queue-outage", -0.2, ("mariadb.max-user-connections", "redis-queue.config"), "under load"),
    SimTask("frappe/new-records-and-jobs-fail", 0.7),
    SimTask("frappe/new-records-and-queue-oom", 0.1),
    SimTask("frappe/writes-and-queue-oom", 1.7, ("mariadb.read-only", "redis-queue.config")),
)
NO_FAULT = SimTask("frappe/backlog-alert-during-import", -0.5, ())
CATALOGUE = (
    *FRAPPE,
    SimTask("saleor/intermittent-checkout-timeouts", 0.5, ("postgres.statement-timeout",), "under load"),
    *(
        SimTask(f"slack/simulated-{number:02}", (number - 7) / 4, ("store.setting",), "at start", layer, surface)
        for number, (layer, surface) in enumerate(
            (("image", "build-capable"), ("image", "shell-visible"), *[("configuration", "confined")] * 11), start=1
        )
    ),
)
MODELS = (
    SimModel("simulated-amber", ability=0.9),
    SimModel("simulated-birch", ability=-0.1),
    SimModel("simulated-cedar", ability=-0.2),
    SimModel("simulated-dune", ability=-0.7),
    SimModel("simulated-ember", "simulated-code", "2.1", WRITES_CACHE, 0.6),
    SimModel("simulated-fern", "simulated-code", "2.1", WRITES_CACHE, 0.1),
    SimModel("simulated-garnet", "simulated-code", "2.1", WRITES_CACHE, -0.1),
    SimModel("simulated-heath", "simulated-shell", "1.0", "simulated-three", -0.4),
    SimModel("simulated-iris", "simulated-shell", "1.0", "simulated-four", -0.3),
    SimModel("simulated-unpriced", "simulated-shell", "1.0", None, -0.5),
)
"""Made up, and named so that no table can be taken for one of real models."""
PRICE = Price(
    name="simulated", provider=WRITES_CACHE, input=4.0, cached=0.4, output=20.0, source="made up by the simulator"
)


@dataclass(frozen=True)
class Plan:
    """What to simulate.

    Attributes:
        repeats: trials of each task at each effort.
        odd: share of trials that get one of the oddities.
        limit: stop after this many trials in all; None: no limit.
        evidence: write evidence folders (large: some 50 KB a trial).
        steps: steps of each transcript; 0: none.
        hostile: put markup, script and control characters wherever a trial can put text.
        running: leave the last job without an end.
        spoiled: oddities are also those of simulate_spoiled.py: damaged, contradictory and hostile folders.
    """

    tasks: tuple[SimTask, ...] = CATALOGUE
    models: tuple[SimModel, ...] = MODELS
    repeats: int = 3
    seed: int = 1
    odd: float = 0.03
    limit: int | None = None
    evidence: bool = False
    steps: int = 2
    hostile: bool = False
    running: bool = False
    spoiled: bool = False


@dataclass
class Truth:
    """What was written, by the same words that the reader uses."""

    statuses: Counter[str] = field(default_factory=Counter)
    passes: Counter[tuple[str, str]] = field(default_factory=Counter)
    """By (model, task)."""
    trials: Counter[tuple[str, str]] = field(default_factory=Counter)
    exclusive: Counter[FailureClass] = field(default_factory=Counter)
    """Failures; those of refusals too."""
    inclusive: Counter[FailureClass] = field(default_factory=Counter)
    refused: int = 0
    again: int = 0
    """Attempts that were errored and played again."""
    again_tokens: int = 0
    """Input of theirs."""

    @property
    def total(self) -> int:
        """Trial folders."""
        return sum(self.statuses.values())


def simulate(folder: Path, plan: Plan) -> Truth:
    """Write the job folders into `folder`, which is made; returns what a reader must find."""
    chance = random.Random(plan.seed)  # noqa: S311 - a seeded draw, no secret
    truth = Truth()
    for number, model in enumerate(plan.models):
        running = plan.running and number == len(plan.models) - 1
        job = folder / f"{number:02}-{model.name or model.agent}"
        count = _write_job(job, model, plan, chance, truth, running=running)
        if not count:
            break
    return truth


def _write_job(job: Path, model: SimModel, plan: Plan, chance: random.Random, truth: Truth, *, running: bool) -> int:
    written = 0
    for task in plan.tasks:
        for effort in model.efforts or (None,):
            for _ in range(plan.repeats):
                if plan.limit is not None and truth.total >= plan.limit:
                    break
                _write_trial(job, model, task, effort, plan=plan, chance=chance, truth=truth, running=running)
                written += 1
    if not written:
        return 0
    _dump(job / "config.json", {"job_name": job.name, "n_concurrent_trials": 2})
    end = None if running else (EPOCH + timedelta(days=2)).isoformat()
    _dump(
        job / "result.json",
        {
            "id": _uuid(chance),
            "started_at": EPOCH.isoformat(),
            "finished_at": end,
            "n_total_trials": written,
            "stats": {},
        },
    )
    return written


def _write_trial(
    job: Path,
    model: SimModel,
    task: SimTask,
    effort: str | None,
    *,
    plan: Plan,
    chance: random.Random,
    truth: Truth,
    running: bool,
) -> None:
    odd = chance.choice((*ODDITIES, *KINDS) if plan.spoiled else ODDITIES) if chance.random() < plan.odd else ""
    name = f"{task.name.rpartition('/')[2][:32]}__{chance.getrandbits(40):010x}"
    trial = job / name
    trial.mkdir(parents=True)
    config = _config(model, task, effort, name, foreign=odd == "foreign")
    if odd in {"cut-off", "foreign"}:
        _dump(trial / "config.json", config)
    if odd == "cut-off":
        truth.statuses["running" if running else "crashed"] += 1
        return
    draw = _draw(model, task, effort, odd, chance)
    if odd not in {"start-failed", "crashed", "foreign"}:
        text = verdict_of(draw, hostile=plan.hostile).model_dump_json()
        (trial / "verifier").mkdir()
        (trial / "verifier" / "verdict.json").write_text(text[: len(text) // 2] if odd == "damaged" else text)
    if odd in ROUTED:
        write_route(trial, draw, odd)
    if odd == "played-again":
        attempt = write_played_again(job, name, draw, agent=model.agent, model=model.name)
        truth.again += 1
        truth.again_tokens += attempt.input_tokens or 0
    cache_writes = draw.tokens // 25 if model.provider == WRITES_CACHE else None
    if plan.steps and odd != "start-failed":
        write_transcript(trial / "agent", draw, plan.steps, cache_writes, hostile=plan.hostile)
    if plan.evidence and odd not in {"start-failed", "foreign"}:
        write_evidence(trial / "artifacts" / "evidence", draw, hostile=plan.hostile)
    _dump(trial / "result.json", _result(model, task, draw, config, odd=odd, chance=chance))
    if odd in KINDS:
        spoil(trial, odd)
    _record(truth, model, task, draw, odd)


def _draw(model: SimModel, task: SimTask, effort: str | None, odd: str, chance: random.Random) -> Draw:
    lift = 0.05 * EFFORTS.index(effort) if effort in EFFORTS else 0.0
    undone = odd in ERRORED | {"refused", "refused-quietly", "printed-error"}
    chances = 1 / (1 + math.exp(task.difficulty - model.ability - lift))
    passed = odd in {"declared-down", "unknown"} or (not undone and chance.random() < chances)
    weights = (317, 427, 170, 517, 466, 51) if task.faults else (40, 50, 0, 0, 0, 10)
    failure: FailureClass | None = None if passed else chance.choices(CLASSES, weights)[0]
    if undone:
        failure = "never declared"
    started = EPOCH.timestamp() + chance.randrange(86400)
    length = chance.uniform(200, 1500)
    tokens = int(chance.lognormvariate(14.6, 0.6))
    return Draw(
        task=task.name, faults=task.faults, layer=task.layer, surface=task.surface, onset=task.onset, failure=failure,
        admissible=odd != "ruled-out", unknown=odd == "unknown", started=started, ended=started + length,
        also=tuple(chance.sample(CLASSES[2:5], k=chance.randrange(3))) if failure and task.faults else (),
        tokens=tokens, seed=chance.getrandbits(32),
    )  # fmt: skip


def _config(model: SimModel, task: SimTask, effort: str | None, name: str, *, foreign: bool) -> dict[str, Any]:
    return {
        "task": {"path": f"tasks/{task.name}"},
        "trial_name": name,
        "agent": {
            "name": model.agent,
            "model_name": f"{model.provider}/{model.name}" if model.provider else model.name,
            "kwargs": {SIMULATED: True} | ({"reasoning_effort": effort} if effort else {}),
        },
        "environment": {"type": "docker"} if foreign else {"import_path": "incident_arena.harbor:ArenaEnvironment"},
    }


def _result(
    model: SimModel, task: SimTask, draw: Draw, config: dict[str, Any], *, odd: str, chance: random.Random
) -> dict[str, Any]:
    judged = odd not in {"start-failed", "ruled-out", "unknown", "crashed", "damaged"}
    errors = {
        "provider-down": ("ApiRateLimitError", "429: too many requests"),
        "route-down": ("NonZeroAgentExitCodeError", "the program ended with status 1"),
        "printed-error": ("ApiRateLimitError", "429: too many requests"),
        "start-failed": ("DeadlineError", "symptom did not come true within 120 s"),
        "crashed": ("VerifierTimeoutError", "Verifier execution timed out"),
        "refused": ("AgentSafetyRefusalError", "the provider declined"),
    }
    error = errors.get(odd)
    span = {"started_at": _iso(draw.started), "finished_at": _iso(draw.ended)}
    return {
        "id": _uuid(chance),
        "task_name": task.name,
        "trial_name": config["trial_name"],
        "trial_uri": "",
        "task_id": {"path": f"tasks/{task.name}"},
        "task_checksum": f"{hash_of(task.name):016x}",
        "config": config,
        "agent_info": {
            "name": model.agent,
            "version": model.version,
            "model_info": {"name": model.name, "provider": model.provider} if model.name else None,
        },
        "agent_result": {
            "n_input_tokens": draw.tokens,
            "n_cache_tokens": draw.tokens * 9 // 10,
            "n_output_tokens": draw.tokens // 120,
            "cost_usd": None if model.name == "simulated-unpriced" else _cost(draw),
        }
        if odd != "never-reached"
        else None,
        "verifier_result": {"rewards": {"reward": 0 if draw.failure else 1}} if judged else None,
        "exception_info": {
            "exception_type": error[0],
            "exception_message": error[1],
            "exception_traceback": "",
            "occurred_at": _iso(draw.ended),
        }
        if error
        else None,
        "started_at": _iso(draw.started - 60),
        "finished_at": _iso(draw.ended + 240),
        "agent_execution": None if odd == "start-failed" else span,
    }


def _cost(draw: Draw) -> float:
    """What the agent says that it cost. No price list has these models."""
    tokens = Tokens(input=draw.tokens, cached=draw.tokens * 9 // 10, cache_writes=0, output=draw.tokens // 120)
    return round(cost_of(tokens, PRICE, 1.0), 6)


def _record(truth: Truth, model: SimModel, task: SimTask, draw: Draw, odd: str) -> None:
    status = {
        "start-failed": "inadmissible", "ruled-out": "inadmissible", "unknown": "unknown", "crashed": "crashed",
        "foreign": "foreign", "damaged": "unreadable", **dict.fromkeys(ERRORED, "errored"),
        **{kind: found for kind, (found, _) in KINDS.items()},
    }.get(odd, "judged")  # fmt: skip
    truth.statuses[status] += 1
    if status != "judged":
        return
    key = (label(odd, model.name or model.agent), task.name)
    truth.trials[key] += 1
    truth.passes[key] += draw.failure is None
    truth.refused += odd in {"refused", "refused-quietly"}
    if draw.failure:
        truth.exclusive[draw.failure] += 1
        truth.inclusive.update(draw.inclusive)


def hash_of(text: str) -> int:
    """A stable 64-bit number for a text."""
    return uuid.uuid5(uuid.NAMESPACE_URL, text).int & 0xFFFF_FFFF_FFFF_FFFF


def _uuid(chance: random.Random) -> str:
    return str(uuid.UUID(int=chance.getrandbits(128), version=4))


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()


def _dump(path: Path, document: object) -> None:
    path.write_text(json.dumps(document))
