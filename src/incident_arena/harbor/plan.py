"""What of an experiment is still to be played, by the identity of its trials: task, agent, model, effort, number.

A trial counts as played when the report counts it: it has a verdict and nothing else went wrong with it. One without
stays where it is and is played again in another job below the experiment's folder, so that nothing is overwritten.
"""

import itertools
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from incident_arena.analysis import job_files
from incident_arena.analysis.harbor_files import TrialConfig
from incident_arena.analysis.read import read_jobs
from incident_arena.errors import UserError
from incident_arena.harbor.contestants import EFFORT
from incident_arena.harbor.experiment import CONTROLS, AgentEntry, Experiment


@dataclass(frozen=True, order=True)
class Cell:
    """Trials that differ by their number alone."""

    task: str
    agent: str
    model: str = ""
    effort: str = ""

    def __str__(self) -> str:
        """What it is, for a line of progress."""
        return " ".join(part for part in (self.task, self.agent, self.model, self.effort) if part)


@dataclass(frozen=True)
class Row:
    """One cell of the plan: trials wanted, and those that are played already."""

    cell: Cell
    wanted: int
    played: int
    entry: AgentEntry
    used: tuple[int, ...] = ()
    """Seeds of those that are played, where they are known."""

    @property
    def seeds(self) -> tuple[int, ...]:
        """Of the trials still to be played."""
        free = (seed for seed in range(1, self.wanted + 1) if seed not in self.used)
        return tuple(itertools.islice(free, self.missing))

    @property
    def missing(self) -> int:
        """Trials still to be played."""
        return max(0, self.wanted - self.played)


@dataclass(frozen=True)
class Batch:
    """One Harbor job: every variant of an entry plays every task once with each of the seeds."""

    entry: AgentEntry
    variants: tuple[tuple[str | None, str | None], ...]
    tasks: tuple[str, ...]
    seeds: tuple[int, ...]

    @property
    def trials(self) -> int:
        """Of each variant on each task."""
        return len(self.seeds)


@dataclass(frozen=True)
class Played:
    """What an experiment's jobs hold: rewards and seeds by cell, and the exported folders of tasks that were played."""

    rewards: dict[Cell, list[float]] = field(default_factory=dict)
    exports: dict[str, set[str]] = field(default_factory=dict)
    seeds: dict[Cell, list[int]] = field(default_factory=dict)


def played(folder: Path) -> Played:
    """Read what has been played below an experiment's folder; nothing when it is not there yet.

    Raises:
        UserError: the folder is a job itself, not an experiment's.
    """
    if (folder / "config.json").exists():
        reason = "is the folder of a single job, not of an experiment"
        raise UserError(f"folder {str(folder)!r}", reason, "name another with --job")
    jobs = [path.parent for path in sorted(folder.glob("*/config.json"))]
    rewards: defaultdict[Cell, list[float]] = defaultdict(list)
    exports: defaultdict[str, set[str]] = defaultdict(set)
    seeds: defaultdict[Cell, list[int]] = defaultdict(list)
    for trial in read_jobs(jobs).judged:
        config, _ = job_files.document(trial.folder, "config.json", TrialConfig)
        if config is None:
            continue  # whose it is can't be told, so that it is played again
        agent = config.agent
        effort = agent.options.get(EFFORT)
        name = agent.import_path or agent.name or ""
        cell = Cell(trial.task, name, agent.model_name or "", "" if effort is None else str(effort))
        assert trial.reward is not None
        rewards[cell].append(trial.reward)
        seeds[cell].append(trial.seed)
        exports[trial.task].add(config.task.path or "")
    return Played(dict(rewards), dict(exports), dict(seeds))


def rows(experiment: Experiment, done: Played, *, controls: bool = True) -> list[Row]:
    """The plan: the controls first, since a task that fails them is not worth an agent's time.

    Args:
        experiment: what is wanted.
        done: what is played already.
        controls: whether nop and oracle belong to it.
    """
    entries = [(AgentEntry.model_construct(agent=agent), 1) for agent in CONTROLS] if controls else []
    entries += [(entry, experiment.trials) for entry in experiment.agents]
    found = []
    for entry, wanted in entries:
        for model, effort in entry.variants:
            for task in experiment.tasks:
                cell = Cell(task, entry.agent, model or "", effort or "")
                known = len(done.rewards.get(cell, ())), entry, tuple(done.seeds.get(cell, ()))
                found.append(Row(cell, wanted, *known))
    return found


def batches(plan: Sequence[Row]) -> list[Batch]:
    """The fewest jobs that play what is missing, no more and no less."""
    found: list[Batch] = []
    entries = list({id(row.entry): row.entry for row in plan}.values())
    for entry in entries:
        mine = [row for row in plan if row.entry is entry and row.missing]
        for seeds in sorted({row.seeds for row in mine}, key=lambda each: (-len(each), each)):
            by_tasks: defaultdict[tuple[str, ...], list[tuple[str | None, str | None]]] = defaultdict(list)
            for model, effort in entry.variants:
                wanted = tuple(
                    row.cell.task
                    for row in mine
                    if row.seeds == seeds and (row.cell.model, row.cell.effort) == (model or "", effort or "")
                )
                if wanted:
                    by_tasks[wanted].append((model, effort))
            found += [Batch(entry, tuple(variants), tasks, seeds) for tasks, variants in by_tasks.items()]
    return found


def failed_controls(tasks: Iterable[str], done: Played) -> list[str]:
    """One sentence for each control that did not come out as it must; empty when all tasks are proven."""
    told = []
    for task in tasks:
        for agent, wanted in zip(CONTROLS, (1.0, 0.0), strict=True):
            rewards = done.rewards.get(Cell(task, agent), [])
            if not rewards:
                told.append(f"{task}: {agent} has no verdict; it must score {wanted:g}")
            elif any(reward != wanted for reward in rewards):
                scored = ", ".join(f"{one:g}" for one in rewards)
                told.append(f"{task}: {agent} scored {scored}; it must score {wanted:g}")
    return told


def summary(plan: Sequence[Row]) -> tuple[int, int]:
    """Trials that are wanted and not played yet, and all that are wanted."""
    return sum(row.missing for row in plan), sum(row.wanted for row in plan)
