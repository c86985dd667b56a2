"""Tables of what agents did and spent: configurations, failures, after the fix, naming, admission."""

from collections import Counter
from collections.abc import Sequence

import polars as pl

from incident_arena.analysis.attempts import Attempt
from incident_arena.analysis.cost import REPORTED, PriceList
from incident_arena.analysis.efforts import EFFORT_ORDER
from incident_arena.analysis.rows import (
    AdmissionRow,
    AfterFixRow,
    ConfigurationRow,
    FailureRow,
    NamingRow,
    StatusRow,
)
from incident_arena.analysis.tables_rates import ALL, UNKNOWN, mean, models
from incident_arena.analysis.trial import STATUS_MEANING, Trial
from incident_arena.formats.verdict import CLASSES

REFUSED = "refused"
SOON_S = 120
LATE_S = 600
FEW_READS = 5


def status_rows(trials: Sequence[Trial]) -> list[StatusRow]:
    """What became of every folder; a status that none has is left out."""
    counts = Counter(trial.status for trial in trials)
    return [
        StatusRow(status=status, trials=counts[status], meaning=meaning)
        for status, meaning in STATUS_MEANING.items()
        if counts[status]
    ]


def configuration_rows(trials: pl.DataFrame, prices: PriceList) -> list[ConfigurationRow]:
    """Table 2 of the paper: one row for each agent, version and model, best Pass@1 first."""
    rows = []
    name = pl.when(pl.col("model").is_null()).then("who").otherwise("agent").alias("harness")
    for (agent, version, model), mine in trials.with_columns(name).group_by("harness", "agent_version", "model"):
        price = prices.of(str(model)) if model is not None else None
        passing, failing = mine.filter(pl.col("reward") == 1), mine.filter(pl.col("reward") == 0)
        rows.append(
            ConfigurationRow(
                developer=prices.developer(price) if price else UNKNOWN,
                agent=str(agent),
                agent_version=str(version),
                model=None if model is None else str(model),
                efforts=_efforts(mine),
                tasks=mine["task"].n_unique(),
                per_task=_per_task(mine),
                trials=mine.height,
                price_input=price.input if price else None,
                price_output=price.output if price else None,
                pass_at_1=mean(mine, "reward") or 0.0,
                cost_mean=mean(mine, "cost"),
                cost_median=_median(mine, "cost"),
                cost_passing=mean(passing, "cost"),
                cost_failing=mean(failing, "cost"),
                costed=mine["cost"].count(),
                cost_reported=mine.filter(pl.col("cost_source") == REPORTED).height,
                input_tokens=mean(mine, "input_tokens"),
                cached_tokens=mean(mine, "cached_tokens"),
                cache_write_tokens=mean(mine, "cache_write_tokens"),
                output_tokens=mean(mine, "output_tokens"),
                turns=mean(mine, "turns"),
                agent_seconds=mean(mine, "agent_seconds"),
            )
        )
    return sorted(rows, key=lambda row: (-row.pass_at_1, row.agent, row.model or "", row.agent_version))


def _efforts(trials: pl.DataFrame) -> str:
    """`low-max` where no step between is missing, else a list; empty where the agent has no such setting."""
    there = set(trials["effort"].drop_nulls())
    known = [place for place, effort in enumerate(EFFORT_ORDER) if effort in there]
    if known and len(known) == len(there) and len(known) == known[-1] - known[0] + 1 > 1:
        return f"{EFFORT_ORDER[known[0]]}-{EFFORT_ORDER[known[-1]]}"
    return ", ".join([EFFORT_ORDER[place] for place in known] + sorted(there - set(EFFORT_ORDER)))


def _per_task(trials: pl.DataFrame) -> str:
    counts = trials.group_by("task").len()["len"].to_list()
    return str(min(counts)) if min(counts) == max(counts) else f"{min(counts)}-{max(counts)}"


def _median(trials: pl.DataFrame, column: str) -> float | None:
    value = trials[column].median()
    return None if value is None else float(value)  # type: ignore[arg-type]


def failure_rows(trials: pl.DataFrame) -> list[FailureRow]:
    """Tables 3 and 13 of the paper: all models, then each. A refusal keeps its class and is counted once more.

    The last class, *other integrity*, is counted only where no other applies, inclusively too.
    """
    everyone = models(trials)
    rows = []
    for who in [ALL, *everyone] if len(everyone) > 1 else everyone:
        mine = trials if who == ALL else trials.filter(pl.col("who") == who)
        failed = mine.filter(pl.col("reward") == 0)
        refusals = failed.filter(pl.col("refused")).height
        exclusive = dict(failed.group_by("failure_class").len().iter_rows())
        inclusive = dict(failed.explode("inclusive").group_by("inclusive").len().iter_rows())
        total = failed.height
        for one in CLASSES:
            count = exclusive.get(one, 0)
            share = count / total if total else None
            every = count if one == CLASSES[-1] else inclusive.get(one, 0)
            rows.append(FailureRow(who=who, failure_class=one, exclusive=count, share=share, inclusive=every))
        rows.append(FailureRow(who=who, failure_class=REFUSED, exclusive=refusals, share=None, inclusive=refusals))
    return rows


def after_fix_rows(trials: pl.DataFrame) -> list[AfterFixRow]:
    """Table 4 of the paper and the rows that it lacks, over trials with a tracked full fix and an action record."""
    base = trials.filter(pl.col("fixed_at").is_not_null() & pl.col("changes_after_fix").is_not_null())
    delay, looks = pl.col("declared_after_fix"), pl.col("reads_after_fix")
    rules = {
        "all": pl.lit(value=True),
        "no further change": pl.col("changes_after_fix") == 0,
        "further change": pl.col("changes_after_fix") > 0,
        "declared before the fix": delay < 0,
        "declared within 2 minutes": delay.is_between(0, SOON_S, closed="left"),
        "declared in 2-10 minutes": delay.is_between(SOON_S, LATE_S, closed="left"),
        "declared at or after 10 minutes": delay >= LATE_S,
        "never declared": delay.is_null(),
        "fewer than 5 read-only looks": looks < FEW_READS,
        "5 or more read-only looks": looks >= FEW_READS,
        "looks not recorded": looks.is_null(),
    }
    found = {behaviour: base.filter(rule) for behaviour, rule in rules.items()}
    return [
        AfterFixRow(behaviour=behaviour, trials=some.height, pass_rate=mean(some, "reward"))
        for behaviour, some in found.items()
        if some.height or behaviour not in {"declared before the fix", "looks not recorded"}
    ]


def naming_rows(trials: pl.DataFrame) -> list[NamingRow]:
    """How well causes were named, by all and each model, and how that goes with the reward."""
    everyone = models(trials)
    rows = []
    for who in [ALL, *everyone] if len(everyone) > 1 else everyone:
        mine = trials if who == ALL else trials.filter(pl.col("who") == who)
        named = mine.filter(pl.col("named"))
        exact, not_exact = named.filter(pl.col("exact")), named.filter(~pl.col("exact"))
        rows.append(
            NamingRow(
                who=who,
                trials=mine.height,
                named=named.height,
                precision=mean(named, "precision"),
                recall=mean(named, "recall"),
                exact=mean(named, "exact"),
                pass_if_exact=mean(exact, "reward"),
                pass_if_not=mean(not_exact, "reward"),
                phi=_phi(named),
            )
        )
    return rows


def _phi(named: pl.DataFrame) -> float | None:
    """Pearson correlation of two yes-or-no columns; None where one never varies."""
    if named["exact"].n_unique() < 2 or named["reward"].n_unique() < 2:  # noqa: PLR2004 - yes and no
        return None
    value = named.select(pl.corr(pl.col("exact").cast(pl.Float64), pl.col("reward").cast(pl.Float64))).item()
    return float(value)


def admission_rows(trials: Sequence[Trial], attempts: Sequence[Attempt]) -> list[AdmissionRow]:
    """Inadmissible episodes by task and reason: those that are the last word on a trial, and those that were rerun."""
    rerun = [one for one in attempts if not one.admissible]
    told = {(one.job, one.trial) for one in rerun}
    last = [
        trial
        for trial in trials
        if trial.status == "inadmissible" and (trial.judge_version or (trial.job, trial.name) not in told)
    ]
    counts = Counter([(one.task, one.reason) for one in last])
    counts.update((one.task, one.inadmissible or "no reason given") for one in rerun)
    rows = [AdmissionRow(task=task, reason=reason, episodes=count) for (task, reason), count in counts.items()]
    return sorted(rows, key=lambda row: (-row.episodes, row.task, row.reason))
