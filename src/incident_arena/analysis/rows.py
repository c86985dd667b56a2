"""The rows of the report's tables. A field's title is its column; shares run from 0 to 1, money is US dollars."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

type Share = Annotated[float, Field(ge=0, le=1)]

TRACKED = "Share of planted faults seen repaired, over trials in which they were tracked."
UNDECLARED = "Pass@1 did nobody demand to declare, over trials where the other checks decide."


class Row(BaseModel):
    """A row."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Span(Row):
    """A 95 % interval with the tasks as the sample (docs/decisions/intervals.md)."""

    low: float
    high: float


class StatusRow(Row):
    """What became of the trial folders that were read."""

    status: str = Field(title="Status")
    trials: int = Field(title="Trials")
    meaning: str = Field(title="Meaning")


class ConfigurationRow(Row):
    """One agent with one model over the tasks in which something is broken, all its efforts pooled."""

    developer: str = Field(title="Developer", description="Of the model; by the price list.")
    agent: str = Field(title="Harness", description="The agent; with its script where it runs one.")
    agent_version: str = Field(title="Version")
    model: str | None = Field(title="Model")
    efforts: str = Field(title="Effort")
    tasks: int = Field(title="Tasks")
    per_task: str = Field(title="Trials/task", description="Least and most, where tasks differ.")
    trials: int = Field(title="Trials")
    price_input: float | None = Field(title="In $/M")
    price_output: float | None = Field(title="Out $/M")
    pass_at_1: Share = Field(title="Pass@1")
    cost_mean: float | None = Field(title="Cost mean $")
    cost_median: float | None = Field(title="Median $")
    cost_passing: float | None = Field(title="Passing $")
    cost_failing: float | None = Field(title="Failing $")
    costed: int = Field(title="Costed", description="Trials whose cost is known, over which the means of cost go.")
    cost_reported: int = Field(
        title="Reported",
        description="Of these, trials whose cost is as the agent reported, having no price in the list.",
    )
    input_tokens: float | None = Field(
        title="Tokens in",
        description="Mean over the trials in which they are known, as of the other tokens. Cached ones count.",
    )
    cached_tokens: float | None = Field(title="Cached")
    cache_write_tokens: float | None = Field(title="Cache writes")
    output_tokens: float | None = Field(title="Out")
    turns: float | None = Field(title="Turns", description="Mean over the trials in which they are known.")
    agent_seconds: float | None = Field(title="Agent s", description="Mean wall time of the agent, where it is known.")


class ErroredRow(Row):
    """Trials and attempts of one model that count for nothing because the model could not be reached, by cause."""

    who: str = Field(title="Model")
    cause: str = Field(title="Cause")
    trials: int = Field(title="Trials", description="Errored to the last attempt; in no rate.")
    again: int = Field(title="Played again", description="Attempts that were errored and followed by another.")
    example: str = Field(title="For example")


class ReplayedRow(Row):
    """What attempts cost that were errored and played again. In no other table's figures."""

    who: str = Field(title="Model")
    attempts: int = Field(title="Attempts")
    input_tokens: int = Field(title="Tokens in", description="Sum, cached ones counted too.")
    cached_tokens: int = Field(title="Cached")
    cache_write_tokens: int = Field(title="Cache writes")
    output_tokens: int = Field(title="Out")
    turns: int = Field(title="Turns")
    agent_seconds: float = Field(title="Agent s")
    cost_sum: float | None = Field(title="Cost $", description="By the price list, over the attempts that have one.")
    costed: int = Field(title="Costed")
    cost_reported: int = Field(title="Reported", description="Of these, attempts whose cost is as the agent reported.")


class OverallRow(Row):
    """All models over all tasks in which something is broken: one line. A mean is over the trials that know it."""

    models: int = Field(title="Models")
    tasks: int = Field(title="Tasks")
    trials: int = Field(title="Trials")
    passed: int = Field(title="Passed")
    pass_at_1: Share = Field(title="Pass@1")
    interval: Span | None = Field(title="95 %")
    pass_at_1_undeclared: Share | None = Field(title="Undeclared", description=UNDECLARED)
    mean_tokens: float | None = Field(title="Tokens", description="Mean of input and output.")
    tokens_known: int = Field(title="Known", description="Trials whose tokens are known.")
    turns: float | None = Field(title="Turns", description="Mean.")
    turns_known: int = Field(title="Known", description="Trials whose turns are known.")
    cost_mean: float | None = Field(title="Cost $", description="Mean.")
    costed: int = Field(title="Costed", description="Trials whose cost is known.")


class MainRow(Row):
    """One model over the tasks in which something is broken."""

    who: str = Field(title="Model")
    trials: int = Field(title="Trials")
    tasks: int = Field(title="Tasks")
    passed: int = Field(title="Passed")
    pass_at_1: Share = Field(title="Pass@1")
    interval: Span | None = Field(title="95 %")
    interval_bootstrap: Span | None = Field(
        title="Bootstrap 95 %", description="The paper's: percentile bootstrap over tasks, too narrow with few tasks."
    )
    completion: Share | None = Field(title="Completion", description=TRACKED)
    pass_3: Share | None = Field(title="Pass^3")
    pass_5: Share | None = Field(title="Pass^5")
    refused: int = Field(title="Refused", description="Trials that the provider declined, whatever they scored.")
    pass_at_1_unrefused: Share | None = Field(title="Unrefused", description="Pass@1 without the refused trials.")
    pass_at_1_undeclared: Share | None = Field(title="Undeclared", description=UNDECLARED)
    cost_mean: float | None = Field(title="Cost $", description="Mean over the trials whose cost is known.")


class PassHatKRow(Row):
    """Pass^k of one model: k trials of a task in a row all pass."""

    who: str = Field(title="Model")
    k: int = Field(title="k", ge=1)
    value: Share = Field(title="Pass^k")
    interval: Span | None = Field(title="95 %")
    tasks: int = Field(title="Tasks", description="Tasks with at least k trials, over which the mean goes.")


class GroupRow(Row):
    """One model on the tasks, or at the effort, of one kind."""

    dimension: Literal["substrate", "layer", "surface", "onset", "effort"] = Field(title="By")
    value: str = Field(title="Kind")
    who: str = Field(title="Model")
    trials: int = Field(title="Trials")
    tasks: int = Field(title="Tasks")
    pass_at_1: Share = Field(title="Pass@1")
    interval: Span | None = Field(title="95 %")
    completion: Share | None = Field(title="Completion", description=TRACKED)
    cost_mean: float | None = Field(title="Cost $", description="Mean over the trials whose cost is known.")
    pooled: str = Field(default="", title="Pools", description="The models in a row of `all`, where not each is.")


class RankingRow(Row):
    """Figure 1: each model at its best effort, the one with the highest Pass@1 among those on all of its tasks.

    The choice is made on these very trials, which flatters; the interval allows for it (Bonferroni over the efforts
    that were to choose from).
    """

    who: str = Field(title="Model")
    mark: Literal["", "*"] = Field(title="Mark", description="An asterisk where trials at this effort were refused.")
    effort: str = Field(title="Effort")
    of_efforts: int = Field(title="Of", description="Efforts to choose from.")
    tasks: int = Field(title="Tasks")
    trials: int = Field(title="Trials")
    pass_at_1: Share = Field(title="Pass@1")
    interval: Span | None = Field(title="95 %")
    refused: int = Field(title="Refused")
    cost_mean: float | None = Field(title="Cost $", description="Mean over the trials whose cost is known.")


class BestTaskRow(Row):
    """Figure 5: trials of one task that each model passed at its best effort, of those admitted and judged."""

    task: str = Field(title="Task")
    who: str = Field(title="Model")
    effort: str = Field(title="Effort")
    passed: int = Field(title="Passed")
    trials: int = Field(title="Admitted")


class TaskRow(Row):
    """One task over all models."""

    task: str = Field(title="Task")
    layer: str = Field(title="Layer")
    surface: str = Field(title="Surface")
    onset: str = Field(title="Onset")
    causes: int | None = Field(title="Causes")
    faults: str = Field(title="Planted faults")
    trials: int = Field(title="Trials")
    pass_at_1: Share = Field(title="Pass@1")
    completion: Share | None = Field(title="Completion", description=TRACKED)


class TaskModelRow(Row):
    """One model on one task."""

    task: str = Field(title="Task")
    who: str = Field(title="Model")
    trials: int = Field(title="Trials")
    passed: int = Field(title="Passed")
    rate: Share = Field(title="Pass rate")


class GateRow(Row):
    """How often each pair of gate answers occurred on a task: outcome, then safety.

    `paper` counts what does not last under safety, as the paper's table 8 does; the reward is the same under both.
    """

    mapping: Literal["ours", "paper"] = Field(title="Gates")
    task: str = Field(title="Task")
    pass_pass: int = Field(title="Pass/Pass")
    pass_fail: int = Field(title="Pass/Fail")
    fail_pass: int = Field(title="Fail/Pass")
    fail_fail: int = Field(title="Fail/Fail")
    undecided: int = Field(title="Undecided", description="A gate that could not be decided beside one that failed.")


class FailureRow(Row):
    """One class of failures of one model, or of all."""

    who: str = Field(title="Model")
    failure_class: str = Field(
        title="Class", description="`refused` is a mark: it counts failed trials that the provider declined once more."
    )
    exclusive: int = Field(title="Exclusive")
    share: Share | None = Field(title="Share", description="Of the exclusive counts; the mark has none.")
    inclusive: int = Field(title="Inclusive")


class AfterFixRow(Row):
    """Trials whose full fix was tracked and whose acts are on record, by what the agent did then."""

    behaviour: str = Field(title="Behaviour")
    trials: int = Field(title="Trials")
    pass_rate: Share | None = Field(title="Pass")


class NamingRow(Row):
    """How well declarations named the causes. Beside the reward, never in it."""

    who: str = Field(title="Model")
    trials: int = Field(title="Trials")
    named: int = Field(title="Named", description="Trials whose declaration named causes, or said that there are none.")
    precision: Share | None = Field(title="Precision")
    recall: Share | None = Field(title="Recall")
    exact: Share | None = Field(title="Exact")
    pass_if_exact: Share | None = Field(title="Pass if exact")
    pass_if_not: Share | None = Field(title="Pass if not", description="Of trials that named, but not exactly.")
    phi: float | None = Field(
        title="Phi", description="Correlation of exact naming with the reward, among those that named."
    )


class JudgeRow(Row):
    """What one judge of trajectories made of the trials of one model, or of all. Never in the reward."""

    judge: str = Field(title="Judge")
    who: str = Field(title="Model")
    scored: int = Field(title="Scored")
    refused: int = Field(title="Refused")
    missing: int = Field(title="Missing", description="Trials without a transcript.")
    failed: int = Field(title="Failed", description="No usable answer; judged again by the next run.")
    honest: Share | None = Field(title="Honest")
    suspicious: Share | None = Field(title="Suspicious")
    exploit: Share | None = Field(title="Exploit")
    any_flag: Share | None = Field(title="Any flag")


class AgreementRow(Row):
    """Two judges on the trials that both scored."""

    first: str = Field(title="Judge")
    second: str = Field(title="And")
    trials: int = Field(title="Trials")
    same: Share = Field(title="Same category")
    kappa: float | None = Field(title="Kappa")
    rank_correlation: float | None = Field(title="Rank correlation")


class BothWaysRow(Row):
    """One proof run of a task: a right fix, nothing, or a wrong fix, and what each of its trials scored."""

    task: str = Field(title="Task")
    run: str = Field(title="Run")
    want: Literal[0, 1] = Field(title="Wants")
    want_class: str = Field(title="Class")
    got: str = Field(title="Got", description="Rewards, one a trial.")
    got_class: str = Field(title="Got class")
    holds: bool = Field(title="Holds")


class AdmissionRow(Row):
    """Episodes that never counted, by reason."""

    task: str = Field(title="Task")
    reason: str = Field(title="Reason")
    episodes: int = Field(title="Episodes")


class LeftOutRow(Row):
    """Pass@1 of one model without one task."""

    task: str = Field(title="Without task")
    who: str = Field(title="Model")
    pass_at_1: Share = Field(title="Pass@1")
    change: float = Field(title="Change")


class SeparationRow(Row):
    """How far one task tells models apart."""

    task: str = Field(title="Task")
    spread: Share = Field(title="Spread", description="Best model's pass rate less the worst's.")
    true_spread: float | None = Field(
        title="SD beyond chance", description="Of models with two trials or more; a single one shows no chance."
    )
    p_same: Share | None = Field(title="p (all alike)")
    rest_correlation: float | None = Field(title="Rest r", description="Correlation with the rate on the other tasks.")


class ComparisonRow(Row):
    """A against B over the tasks that both tried, each task weighing the same."""

    a: str = Field(title="A")
    b: str = Field(title="B")
    tasks: int = Field(title="Tasks")
    trials_a: int = Field(title="Trials A")
    trials_b: int = Field(title="Trials B")
    rate_a: Share = Field(title="Rate A")
    rate_b: Share = Field(title="Rate B")
    difference: float = Field(title="A - B")
    interval: Span | None = Field(title="95 %")
    p_paired: Share | None = Field(title="p paired", description="Paired t over tasks, as the interval.")
    p_permutation_tasks: Share | None = Field(title="p tasks", description="Permutation of whole tasks.")
    p_permutation_trials: Share = Field(title="p trials", description="Permutation of trials within tasks.")
    detectable_tasks: float | None = Field(
        title="Detectable (tasks)", description="Smallest true difference found with power 0.8, tasks being a sample."
    )
    detectable_trials: float | None = Field(
        title="Detectable (trials)", description="The same on these very tasks, only trials varying."
    )


class ComparedTaskRow(Row):
    """A and B on one task, and the difference without it."""

    task: str = Field(title="Task")
    rate_a: Share = Field(title="Rate A")
    rate_b: Share = Field(title="Rate B")
    difference: float = Field(title="A - B")
    without: float | None = Field(title="A - B without it")
