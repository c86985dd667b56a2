"""One trial's folder to its TrialDetail."""

from collections.abc import Sequence
from datetime import UTC, datetime

from incident_arena.analysis.evidence import Evidence, evidence_of, trial_verdict
from incident_arena.analysis.judgements import Judgement
from incident_arena.analysis.trial import Trial
from incident_arena.formats.records import Reconciliations
from incident_arena.formats.task import TaskSpec
from incident_arena.viewer.deciding import deciding, stage_at
from incident_arena.viewer.model import Bound, QueueState, TaskFacts, Timeline, TrialDetail
from incident_arena.viewer.timeline import timeline

SEEDS = 20
CHECKSUM = 16
"""Characters of a checksum, enough to tell two apart."""


def detail(trial: Trial, judgements: Sequence[Judgement] = ()) -> tuple[TrialDetail, TaskFacts | None]:
    """What the trial's page shows, and its task as it was played (None without evidence)."""
    verdict = trial_verdict(trial)
    evidence = evidence_of(trial)
    check = deciding(verdict) if verdict else None
    notes = _notes(trial, evidence, has_verdict=verdict is not None)
    task = evidence.task() if evidence else None
    shown = TrialDetail(
        verdict=verdict,
        deciding=check.name if check else None,
        during=stage_at(evidence.stages(), check.at) if check and evidence else "",
        reconciled=_reconciled(evidence.reconciled()) if evidence else [],
        judgements=list(judgements),
        facts=_facts(trial, verdict.product if verdict else None),
        notes=notes,
    )
    return shown, task_facts(task) if task else None


def trial_timeline(trial: Trial) -> Timeline | None:
    """What happened when; None without evidence."""
    evidence = evidence_of(trial)
    return timeline(evidence, trial_verdict(trial)) if evidence else None


def task_facts(task: TaskSpec) -> TaskFacts:
    """The task as the page shows it."""
    return TaskFacts(
        name=task.name,
        title=task.title,
        substrate=task.substrate,
        surface=task.surface,
        layer=task.layer,
        onset=task.onset,
        faults=[fault.name for fault in task.faults],
        permitted=[f"{permit.rule}: {permit.path}" for permit in task.permitted],
        windows={name: float(seconds) for name, seconds in task.windows.model_dump().items()},
        bounds=[
            Bound(
                kind=name,
                judged=kind.judged,
                rate=kind.rate,
                success_floor=kind.success_floor,
                p95_floor=kind.p95_floor,
            )
            for name, kind in sorted(task.load.kinds.items(), key=lambda item: (not item[1].judged, item[0]))
        ],
    )


def _notes(trial: Trial, evidence: Evidence | None, *, has_verdict: bool) -> list[str]:
    notes = []
    if trial.reason:
        notes.append(trial.reason)
    if not has_verdict:
        notes.append("There is no verdict that this version can read.")
    if evidence is None:
        notes.append("No evidence was gathered, so there is no timeline.")
    elif (manifest := evidence.manifest()) is None:
        notes.append("The evidence has no readable manifest: gathering did not end.")
    elif not manifest.complete:
        notes.append(f"Gathering is unfinished: {manifest.unfinished or 'no reason given'}")
    return notes


def _reconciled(both: Reconciliations | None) -> list[QueueState]:
    if both is None:
        return []
    named = (("after the backlog drained", both.drained), ("at the end", both.end))
    return [
        QueueState(
            name=name,
            taken=one.taken,
            queues=one.queue,
            records=len(one.records),
            seeds_missing=list(one.seeds_missing[:SEEDS]),
        )
        for name, one in named
        if one is not None
    ]


def _facts(trial: Trial, judge: str | None) -> list[tuple[str, str]]:
    facts = [
        ("Agent", f"{trial.agent} {trial.agent_version}".strip()),
        ("Model", trial.model or ""),
        ("Effort", trial.effort or ""),
        ("Job", trial.job),
        ("Trial", trial.name),
        ("Started", _moment(trial.started)),
        ("Judge", judge or ""),
        ("Task checksum", trial.checksum[:CHECKSUM]),
        ("Exception", trial.exception or ""),
        ("Judges again", trial.source_trial or ""),
        ("Left out", "; ".join(trial.doubts)),
        ("Simulated", "made up by the simulator, not measured" if trial.simulated else ""),
    ]
    return [(label, value) for label, value in facts if value]


def _moment(at: float | None) -> str:
    return "" if at is None else datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
