"""Job folders to a page: reads, packs, writes."""

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import polars as pl
from pydantic import BaseModel

from incident_arena.analysis import job_files
from incident_arena.analysis.cells import SIMULATED
from incident_arena.analysis.cost import PriceList, with_cost
from incident_arena.analysis.judgements import Judgement, read_judgements
from incident_arena.analysis.pictures import pictures
from incident_arena.analysis.read import Reading
from incident_arena.analysis.report import Report, labelled
from incident_arena.analysis.sides import sides
from incident_arena.analysis.trial import STATUS_MEANING, Trial
from incident_arena.errors import InfrastructureError
from incident_arena.viewer.board import tables
from incident_arena.viewer.detail import detail, trial_timeline
from incident_arena.viewer.model import Index, Ref, TaskFacts, TrialDetail, TrialRow
from incident_arena.viewer.packs import Packer, encode, packs_beside
from incident_arena.viewer.page import page
from incident_arena.viewer.transcript import transcript

BUDGET = 13_000_000
"""Characters of packs in the page; with the script and the index it stays under 15 MB."""


@dataclass(frozen=True)
class Built:
    """What was written. Sizes in bytes."""

    page: Path
    page_bytes: int
    folder: Path
    files_beside: int
    bytes_beside: int
    trials: int


def build(
    reading: Reading,
    report: Report,
    prices: PriceList,
    out: Path,
    *,
    progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> Built:
    """Write the page to `out`, and what it has no room for into `<stem>.data/` beside it.

    Args:
        reading: the trials.
        report: the tables of these trials.
        prices: what the report's costs were made with.
        out: an HTML file; replaced when it exists, with its folder.
        progress: called with the number of trials done, and of all.

    Raises:
        InfrastructureError: the page can't be written.
    """
    made = time.time()
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        place = out.parent.resolve()  # links above are the user's own
        folder = place / f"{out.stem}.data"
        for old in packs_beside(folder):
            old.unlink()
        packer = Packer(budget=BUDGET, folder=folder, token=_token(reading, made))
        priced = with_cost(labelled(reading.trials, []), prices)
        rows, tasks = _rows(reading.trials, _labels(priced), packer, progress)
        index = Index(
            version=1,
            product=metadata.version("incident-arena"),
            made=made,
            token=packer.token,
            folder=folder.name,
            simulated=report.simulated,
            jobs=sorted({trial.job for trial in reading.trials}),
            notes=report.notes,
            statuses=dict(STATUS_MEANING),
            tables=tables(report),
            pictures=pictures(report),
            compared=sides(priced.filter((pl.col("status") == "judged") & ~pl.col("no_fault"))),
            tasks=[tasks[name] for name in sorted(tasks)],
            trials=rows,
            outside=packer.outside,
        )
        text = page(_title(report), encode(index.model_dump_json().encode()), packer.inside)
        job_files.replace(place, out.name, text)
    except OSError as error:
        raise InfrastructureError(
            f"page '{out}'", error.strerror or str(error), "name another file with --out"
        ) from error
    files = list(packs_beside(folder))
    return Built(
        page=out,
        page_bytes=out.stat().st_size,
        folder=folder,
        files_beside=len(files),
        bytes_beside=sum(file.stat().st_size for file in files),
        trials=len(rows),
    )


def _title(report: Report) -> str:
    return f"Incident-Arena results{SIMULATED if report.simulated else ''}"


@dataclass(frozen=True)
class _Priced:
    """A trial's label, as the tables have it, its cost in US dollars, and where that is from."""

    who: str
    cost: float | None
    source: str | None


def _labels(frame: pl.DataFrame) -> list[_Priced]:
    return [_Priced(*row) for row in frame.select("who", "cost", "cost_source").iter_rows()]


def _judgements(trials: Sequence[Trial]) -> dict[str, list[Judgement]]:
    """By the trial's id, judges by name; what can't be read the report's notes say."""
    found: dict[str, list[Judgement]] = {}
    jobs = sorted({trial.folder.parent for trial in trials})
    for one in sorted(read_judgements(jobs, []), key=lambda one: one.judge):
        found.setdefault(one.trial, []).append(one)
    return found


def _rows(
    trials: Sequence[Trial],
    priced: Sequence[_Priced],
    packer: Packer,
    progress: Callable[[int, int], None],
) -> tuple[list[TrialRow], dict[str, TaskFacts]]:
    """Pack what each verdict needs, then timelines, then transcripts: what comes last goes beside the page first."""
    tasks: dict[str, TaskFacts] = {}
    every = 3 * len(trials)
    details: list[Ref] = []
    judgements = _judgements(trials)
    for done, trial in enumerate(trials, start=1):
        shown, played = _detail(trial, judgements.get(trial.id, []))
        details.append(packer.add(shown))
        known = tasks.setdefault(trial.task, TaskFacts(name=trial.task, substrate=trial.substrate))
        if played is not None and not known.title:
            tasks[trial.task] = played.model_copy(update={"name": trial.task})
        progress(done, every)
    packer.close()
    others: list[list[Ref | None]] = []
    for load in (trial_timeline, lambda trial: transcript(trial.folder)):
        refs: list[Ref | None] = []
        for done, trial in enumerate(trials, start=1):
            document = _loaded(load, trial)
            refs.append(packer.add(document) if document else None)
            progress((len(others) + 1) * len(trials) + done, every)
        packer.close()
        others.append(refs)
    rows = [_row(trial, price, *refs) for trial, price, *refs in zip(trials, priced, details, *others, strict=True)]
    return rows, tasks


def _detail(trial: Trial, judgements: list[Judgement]) -> tuple[TrialDetail, TaskFacts | None]:
    try:
        return detail(trial, judgements)
    except Exception as error:  # noqa: BLE001  # a folder from anywhere must not cost the other trials' page
        note = f"This trial's files can't be shown: {job_files.reason(error)}"
        shown = TrialDetail(
            verdict=None, deciding=None, during="", reconciled=[], judgements=judgements, facts=[], notes=[note]
        )
        return shown, None


def _loaded(load: Callable[[Trial], BaseModel | None], trial: Trial) -> BaseModel | None:
    try:
        return load(trial)
    except Exception:  # noqa: BLE001  # as above; that it is not there, the page says by itself
        return None


def _row(
    trial: Trial, priced: _Priced, detail_ref: Ref, timeline_ref: Ref | None, transcript_ref: Ref | None
) -> TrialRow:
    tokens = [count for count in (trial.input_tokens, trial.output_tokens) if count is not None]
    return TrialRow(
        name=trial.name,
        job=trial.job,
        task=trial.task,
        who=priced.who,
        agent=trial.agent,
        effort=trial.effort or "",
        status=trial.status,
        reason=": ".join(part for part in (trial.file, trial.reason) if part),
        simulated=trial.simulated,
        reward=trial.reward if trial.status == "judged" else None,
        failure_class=trial.failure_class or "",
        refused=trial.refused,
        outcome=trial.outcome or "",
        safety=trial.safety or "",
        repaired=trial.repaired,
        faults=trial.faults,
        agent_seconds=trial.agent_seconds,
        started=trial.started,
        turns=trial.turns,
        tokens=sum(tokens) if tokens else None,
        cost=priced.cost,
        cost_source=priced.source,
        detail=detail_ref,
        timeline=timeline_ref,
        transcript=transcript_ref,
    )


def _token(reading: Reading, made: float) -> str:
    names = "\n".join(f"{trial.job}/{trial.name}" for trial in reading.trials)
    return hashlib.sha256(f"{made}\n{names}".encode(errors="replace")).hexdigest()[:16]
