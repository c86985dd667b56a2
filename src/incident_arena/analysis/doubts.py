"""What a reader must know of trials that are counted together: what differs between them, and what is not known.

Nothing here changes a figure. A mean is over the trials in which its quantity is known, and these notes say how many
they are; versions are pooled, and these notes say which.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from incident_arena.analysis.left_out import LEFT_OUT_FILE, read_left_out
from incident_arena.analysis.trial import Trial

CHECKSUM = 8
"""Characters of a checksum, enough to tell two apart."""


def doubts(trials: Sequence[Trial]) -> list[str]:
    """One sentence for each thing, over the judged trials."""
    judged = [trial for trial in trials if trial.status == "judged"]
    return [*_pooled(judged), *_left_out(judged), *_not_taken(judged), *_unknown(judged)]


def simulated(trials: Sequence[Trial]) -> list[str]:
    """That figures were made up and not measured."""
    made = sum(trial.simulated for trial in trials)
    if not made:
        return []
    return [f"simulated: {made} of {len(trials)} trials were made up by the simulator; none of it was measured"]


def _pooled(judged: Sequence[Trial]) -> list[str]:
    notes = []
    versions = sorted({trial.judge_version for trial in judged if trial.judge_version})
    if len(versions) > 1:
        notes.append(f"verdicts of several versions of the product are pooled: {', '.join(versions)}")
    for task, sums in _several((trial.task, trial.checksum[:CHECKSUM]) for trial in judged if trial.checksum):
        notes.append(f"task {task}: {len(sums)} versions of it are pooled (checksums {', '.join(sums)})")
    for agent, some in _several((trial.agent, trial.agent_version) for trial in judged if trial.agent_version):
        notes.append(f"agent {agent}: {len(some)} versions of it are pooled by model: {', '.join(some)}")
    for model, some in _several((trial.who, trial.provider or "none named") for trial in judged if trial.model):
        notes.append(f"model {model}: trials over {len(some)} providers are pooled: {', '.join(some)}")
    return notes


def _several(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, list[str]]]:
    """The names that have more than one value."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for name, value in pairs:
        found[name].add(value)
    return [(name, sorted(values)) for name, values in sorted(found.items()) if len(values) > 1]


def _left_out(judged: Sequence[Trial]) -> list[str]:
    counts = Counter(doubt for trial in judged for doubt in set(trial.doubts))
    return [
        f"{count} of {len(judged)} judged trials have {doubt}: left out of every mean"
        for doubt, count in counts.items()
    ]


def _not_taken(judged: Sequence[Trial]) -> list[str]:
    count = sum(bool(read_left_out(trial.folder)) for trial in judged)
    if not count:
        return []
    what = f"{count} of {len(judged)} judged trials left files that were not taken or had to be repaired"
    return [f"{what} ({LEFT_OUT_FILE} in their folders): verdicts don't depend on them, tokens and transcripts may"]


def _unknown(judged: Sequence[Trial]) -> list[str]:
    notes = []
    models = Counter(trial.who for trial in judged if trial.model)
    blind = Counter(trial.who for trial in judged if trial.model and None in {trial.input_tokens, trial.output_tokens})
    for model, count in sorted(blind.items()):
        share = f"{count} of {models[model]} trials ({count / models[model]:.0%})"
        notes.append(f"model {model}: the tokens of {share} are not known; means of tokens are over the others")
    untracked = sum(trial.faults is None for trial in judged)
    if untracked:
        notes.append(
            f"{untracked} of {len(judged)} judged trials have planted faults and no tracking of them: they count in"
            " every rate but completion and what came after the fix"
        )
    return notes
