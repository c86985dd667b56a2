"""How long an experiment takes and what its models cost, before it is played."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from incident_arena.analysis.cost import PriceList, Tokens, cost_of
from incident_arena.analysis.read import read_jobs
from incident_arena.catalogue import proven
from incident_arena.catalogue.finding import Catalogue
from incident_arena.formats.task import TaskSpec
from incident_arena.harbor.experiment import CONTROLS
from incident_arena.harbor.plan import Row
from incident_arena.settings import Settings

HOUR_S = 3600
PAPER_TOKENS = 2_810_000
"""Mean tokens of a trial, as the paper tells."""
ASSUMED = Tokens(
    input=PAPER_TOKENS * 99 // 100,
    cached=PAPER_TOKENS * 97 // 100,
    cache_writes=PAPER_TOKENS * 2 // 100,
    output=PAPER_TOKENS // 100,
)
"""Where nothing is measured. The shares are ours, chosen so that the paper's five configurations (its table 2) cost
together what it says, within 5 %; a single one can differ by half."""


@dataclass(frozen=True)
class Times:
    """Seconds of one trial of a task. None: never measured.

    Attributes:
        agent: the agent's deadline.
        around: all else in a trial, at most.
        nop: a trial in which nothing is done, as measured.
        solve: a trial with the right fix, as measured.
    """

    agent: float
    around: float
    nop: float | None
    solve: float | None

    @property
    def at_most(self) -> float:
        """A trial whose agent takes all its time; what is around it as measured, where it is."""
        return self.agent + (self.nop or self.around)


@dataclass(frozen=True)
class Estimate:
    """What is to be expected of the trials that are not played yet.

    Attributes:
        hours_at_most: every agent takes all its time.
        hours_at_least: every agent is as quick as the right fix; None where that was not measured.
        dollars: of the models; by row, None where the model has no price or there is no model.
        notes: what the figures rest on.
    """

    hours_at_most: float
    hours_at_least: float | None
    dollars: tuple[float | None, ...]
    notes: tuple[str, ...]

    @property
    def total(self) -> float:
        """US dollars of all rows that have a price."""
        return sum(one or 0.0 for one in self.dollars)


def times(catalogue: Catalogue, task: str) -> Times:
    """A task's times, from its deadlines and from what was measured when it was proven.

    Args:
        catalogue: where the task is.
        task: its name, or the folder of an exported one, of which nothing is measured.

    Raises:
        UserError: no such task, or its proof can't be read.
    """
    exported = Path(task) / "environment" / "task.json"
    if exported.is_file():
        limits, proof = TaskSpec.model_validate_json(exported.read_text()).deadlines, None
    else:
        limits = catalogue.load(task).deadlines
        proof = proven.find(Settings.from_environment(), catalogue, task)

    def measured(run: str) -> float | None:
        known = proof.run(run) if proof else None
        return fmean(result.seconds for result in known.results) if known and known.results else None

    everything = sum(limits.model_dump(mode="python").values())
    return Times(limits.agent, everything - limits.agent, measured("nop"), measured("solve"))


def measured_tokens(jobs: Iterable[Path]) -> dict[str, Tokens]:
    """Mean tokens of a judged trial in earlier jobs, by the model's name without its provider.

    Raises:
        UserError: a folder holds no jobs.
    """
    found: defaultdict[str, list[Tokens]] = defaultdict(list)
    for trial in read_jobs(jobs).judged:
        if trial.model and trial.input_tokens:
            parts = (trial.input_tokens, trial.cached_tokens or 0, trial.cache_write_tokens or 0)
            found[_plain(trial.model)].append(Tokens(*parts, trial.output_tokens or 0))
    return {
        model: Tokens(
            *(
                round(fmean(getattr(one, name) for one in all_))
                for name in ("input", "cached", "cache_writes", "output")
            )
        )
        for model, all_ in found.items()
    }


def estimate(
    plan: Sequence[Row], parallel: int, known: Mapping[str, Times], prices: PriceList, tokens: Mapping[str, Tokens]
) -> Estimate:
    """What the trials that are missing will take.

    Args:
        plan: the rows.
        parallel: trials at once.
        known: times by task.
        prices: the list.
        tokens: measured ones by model, as `measured_tokens`; `ASSUMED` stands for the rest.
    """
    most, least = 0.0, 0.0
    unmeasured = sorted({row.cell.task for row in plan if known[row.cell.task].solve is None and row.missing})
    for row in plan:
        task = known[row.cell.task]
        quick = (task.nop if row.cell.agent == "nop" else task.solve) or 0.0
        slow = quick if row.cell.agent in CONTROLS and quick else task.at_most
        most += row.missing * slow / parallel / HOUR_S
        least += row.missing * quick / parallel / HOUR_S
    notes = [f"task {task} was never measured: its stages' deadlines count" for task in unmeasured]
    models = [model for model in dict.fromkeys(row.cell.model for row in plan if row.missing) if model]
    guessed = [model for model in models if _plain(model) not in tokens]
    if guessed:
        notes.append(
            f"assumed for {', '.join(guessed)}: {PAPER_TOKENS / 1e6:g} million tokens a trial (the paper's mean), "
            "97 % read from a cache, 2 % written to it, 1 % output; --like JOB takes them from earlier trials"
        )
    notes += [f"model {model} is not in the price list: no cost" for model in models if prices.of(model) is None]
    return Estimate(
        most, None if unmeasured else least, tuple(_cost(row, prices, tokens) for row in plan), tuple(notes)
    )


def _cost(row: Row, prices: PriceList, tokens: Mapping[str, Tokens]) -> float | None:
    price = prices.of(row.cell.model) if row.cell.model else None
    if price is None:
        return None
    return row.missing * cost_of(tokens.get(_plain(row.cell.model), ASSUMED), price, prices.write_factor(price))


def _plain(model: str) -> str:
    return model.rpartition("/")[2].lower()
