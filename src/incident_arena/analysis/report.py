"""The report: every table of results, as one document with a version. `build` makes it from what was read."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import polars as pl
from pydantic import BaseModel, ConfigDict, Field

from incident_arena import __version__
from incident_arena.analysis.compare import Compared
from incident_arena.analysis.cost import PriceList, price_notes, with_cost
from incident_arena.analysis.efforts import pooling_note
from incident_arena.analysis.facts import task_facts
from incident_arena.analysis.judgements import Judgement, agreement_rows, judge_rows, read_judgements
from incident_arena.analysis.proofs import both_ways_rows
from incident_arena.analysis.read import Reading
from incident_arena.analysis.rows import (
    AdmissionRow,
    AfterFixRow,
    AgreementRow,
    BestTaskRow,
    BothWaysRow,
    ConfigurationRow,
    ErroredRow,
    FailureRow,
    GateRow,
    GroupRow,
    JudgeRow,
    LeftOutRow,
    MainRow,
    NamingRow,
    OverallRow,
    PassHatKRow,
    RankingRow,
    ReplayedRow,
    SeparationRow,
    StatusRow,
    TaskModelRow,
    TaskRow,
)
from incident_arena.analysis.rows_trials import TrialRow, UnusableRow
from incident_arena.analysis.tables_behaviour import (
    admission_rows,
    after_fix_rows,
    configuration_rows,
    failure_rows,
    naming_rows,
    status_rows,
)
from incident_arena.analysis.tables_best import best_task_rows, overall_rows, ranking_rows
from incident_arena.analysis.tables_errored import errored_rows, replayed_rows
from incident_arena.analysis.tables_rates import (
    gate_rows,
    group_rows,
    left_out_rows,
    main_rows,
    pass_hat_k_rows,
    separation_rows,
    task_model_rows,
    task_rows,
)
from incident_arena.analysis.tables_trials import trial_rows, unusable_rows
from incident_arena.analysis.trial import Trial, frame


class Report(BaseModel):
    """All tables. Rates are over judged trials of tasks in which something is broken, unless a table says otherwise."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: Literal[1] = 1
    product: str = Field(description="Version of the product that made the report.")
    simulated: int = Field(default=0, description="Trials that the simulator made up; 0 in a report of real ones.")
    jobs: list[str] = Field(description="The job folders' names.")
    notes: list[str] = Field(description="What a reader must know; nothing that was read is left out without one.")
    statuses: list[StatusRow] = Field(title="What was read")
    unusable: list[UnusableRow] = Field(title="Trials that can't be used")
    overall: list[OverallRow] = Field(title="All trials")
    ranking: list[RankingRow] = Field(title="Models at their best effort")
    main: list[MainRow] = Field(title="Models")
    errored: list[ErroredRow] = Field(title="Errored: the model could not be reached")
    replayed: list[ReplayedRow] = Field(title="Spent on attempts that were played again")
    configurations: list[ConfigurationRow] = Field(title="Configurations and cost of a trial")
    pass_hat_k: list[PassHatKRow] = Field(title="Pass^k")
    groups: list[GroupRow] = Field(title="By substrate, layer, surface, onset and effort")
    tasks: list[TaskRow] = Field(title="Tasks")
    task_models: list[TaskModelRow] = Field(title="Tasks by models")
    best_tasks: list[BestTaskRow] = Field(title="Passing trials at the best effort")
    gates: list[GateRow] = Field(title="Gates: outcome/safety")
    failures: list[FailureRow] = Field(title="Failure classes")
    after_fix: list[AfterFixRow] = Field(title="After the fix")
    naming: list[NamingRow] = Field(title="Naming the causes")
    no_fault: list[MainRow] = Field(title="Tasks in which nothing is broken")
    separation: list[SeparationRow] = Field(title="How far tasks separate models")
    left_out: list[LeftOutRow] = Field(title="Without one task")
    judges: list[JudgeRow] = Field(title="Judges of trajectories (never in the reward)")
    agreement: list[AgreementRow] = Field(title="Agreement of judges")
    both_ways: list[BothWaysRow] = Field(title="Both ways: proof runs")
    admission: list[AdmissionRow] = Field(title="Inadmissible episodes")
    trials: list[TrialRow] = Field(title="Trials")
    comparison: Compared | None = Field(default=None, title="Comparison")


def build(reading: Reading, prices: PriceList, *, tasks: Mapping[str, Path] | None = None) -> Report:
    """Make every table but the comparison.

    Args:
        reading: what was read.
        prices: the price list.
        tasks: folders of tasks by name, for facts and proofs that the evidence does not have; None: evidence alone.
    """
    notes = list(reading.notes)
    folders = with_cost(labelled(reading.trials, notes), prices)
    everyone = folders.filter(pl.col("status") == "judged")
    counted = everyone.filter(~pl.col("no_fault"))
    calm = everyone.filter(pl.col("no_fault"))
    facts = task_facts(reading.trials, tasks or {})
    notes += price_notes(everyone, prices)
    refused = counted["refused"].sum()
    if refused:
        notes.append(f"{refused} of {counted.height} judged trials were refused: a mark beside their verdict and class")
    again = sum(bool(one.errored) for one in reading.attempts)
    if again:
        blind = sum(bool(one.errored) and one.input_tokens is None for one in reading.attempts)
        less = f", without the tokens of {blind} that are not known" if blind else ""
        notes.append(f"{again} attempts were errored and played again; what they spent is in a table of its own{less}")
    judgements = read_judgements(sorted({trial.folder.parent for trial in reading.trials}), notes)
    notes += _not_asked(reading.trials, judgements)
    pooled = without_references(counted, notes)
    notes += pooling_note(pooled)
    return Report(
        product=__version__,
        simulated=sum(trial.simulated for trial in reading.trials),
        jobs=sorted({trial.job for trial in reading.trials}),
        notes=notes,
        statuses=status_rows(reading.trials),
        unusable=unusable_rows(reading.trials),
        overall=overall_rows(pooled),
        ranking=ranking_rows(pooled),
        main=main_rows(counted),
        errored=errored_rows(reading.trials, reading.attempts),
        replayed=replayed_rows(reading.attempts, prices),
        configurations=configuration_rows(counted, prices),
        pass_hat_k=pass_hat_k_rows(counted),
        groups=group_rows(pooled, facts),
        tasks=task_rows(without_references(everyone, []), facts),
        task_models=task_model_rows(everyone),
        best_tasks=best_task_rows(pooled),
        gates=gate_rows(pooled),
        failures=failure_rows(pooled),
        after_fix=after_fix_rows(pooled),
        naming=naming_rows(without_references(everyone, [])),
        no_fault=main_rows(calm),
        separation=separation_rows(pooled),
        left_out=left_out_rows(counted),
        judges=judge_rows(reading.trials, judgements),
        agreement=agreement_rows(reading.trials, judgements),
        both_ways=both_ways_rows(tasks, notes) if tasks else [],
        admission=admission_rows(reading.trials, reading.attempts),
        trials=trial_rows(folders),
    )


def _not_asked(trials: Sequence[Trial], judgements: Sequence[Judgement]) -> list[str]:
    """Judged trials that a judge of trajectories has not met: they are in none of its shares."""
    judged = {trial.id for trial in trials if trial.status == "judged"}
    asked: dict[str, set[str]] = {}
    for one in judgements:
        asked.setdefault(one.judge, set()).add(one.trial)
    return [
        f"judge {judge} was not asked about {len(judged - some)} of {len(judged)} judged trials"
        for judge, some in sorted(asked.items())
        if judged - some
    ]


def labelled(trials: Sequence[Trial], notes: list[str]) -> pl.DataFrame:
    """The frame, with the agent added to `who` where several agents ran the same model."""
    agents: dict[str, set[str]] = {}
    for trial in trials:
        if trial.status == "judged" and trial.model:
            agents.setdefault(trial.who, set()).add(trial.agent)
    several = {who for who, some in agents.items() if len(some) > 1}
    notes += [f"model {who} ran under several agents, which are kept apart" for who in sorted(several)]
    return frame(
        [replace(one, who=f"{one.who} ({one.agent})") if one.who in several and one.model else one for one in trials]
    )


def without_references(trials: pl.DataFrame, notes: list[str]) -> pl.DataFrame:
    """Agents without a model (oracle, nop, scripts) count where models are pooled only if there is nothing else."""
    models = trials.filter(pl.col("model").is_not_null())
    left = trials.height - models.height
    if models.height and left:
        notes.append(f"{left} trials of agents without a model are in tables by model, not in pooled ones")
    return models if models.height else trials
