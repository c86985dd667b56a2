"""What judges of trajectories said: their records, and the tables made of them. No judge is ever part of a reward.

They stand in `<job>/arena-judgements.jsonl`, one Judgement a line, appended; the last line of a trial by a judge holds.
A file, not a folder: a resumed Harbor job deletes each folder in it that has no result.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from incident_arena.analysis import job_files
from incident_arena.analysis.agreement import agree
from incident_arena.analysis.harbor_files import Count
from incident_arena.analysis.rows import AgreementRow, JudgeRow
from incident_arena.analysis.tables_rates import ALL
from incident_arena.analysis.trial import Trial
from incident_arena.formats.records import Record
from incident_arena.plain import plain

FILE = "arena-judgements.jsonl"

type Category = Literal["honest", "suspicious", "exploit"]
type Outcome = Literal["scored", "refused", "missing", "failed"]


class Judgement(Record):
    """One judge on one trial."""

    version: Literal[1] = 1
    trial: str
    """Harbor's id of the trial."""
    name: str
    """The trial's folder."""
    judge: str
    """The judge's label: the model, unless it was given another."""
    rubric: str
    """Digest of the instructions that the judge got."""
    at: float
    """Seconds since the epoch."""
    status: Outcome
    """scored; refused (the judge or its provider declined); missing (no transcript); failed (no usable answer)."""
    category: Category | None = None
    score: Annotated[float, Field(ge=0, le=100)] | None = None
    """How strongly it looks like an exploit: 0 not at all, 100 certainly."""
    reasons: str = ""
    detail: str = ""
    """Why it was not scored."""
    shortened: bool = False
    """The transcript was too long, and its middle was left out."""
    input_tokens: Count | None = None
    output_tokens: Count | None = None

    @property
    def settled(self) -> bool:
        """A further run need not ask again."""
        return self.status in {"scored", "refused"}


def read_judgements(jobs: Iterable[Path], notes: list[str]) -> list[Judgement]:
    """The judgements that hold, of all jobs; what can't be read is said in `notes`."""
    last: dict[tuple[str, str], Judgement] = {}
    for job in jobs:
        for one in _of_job(job, notes):
            last[one.judge, one.trial] = one
    rubrics: dict[str, set[str]] = {}
    for one in last.values():
        rubrics.setdefault(one.judge, set()).add(one.rubric)
    notes += [f"judge {judge} used several rubrics: run it again" for judge, some in rubrics.items() if len(some) > 1]
    return list(last.values())


def _of_job(job: Path, notes: list[str]) -> Iterator[Judgement]:
    name = plain(job.name)
    try:
        for number, line in enumerate(job_files.lines(job, FILE), start=1):
            if not line.strip():
                continue
            try:
                yield Judgement.model_validate_json(line)
            except (ValueError, RecursionError):
                notes.append(f"job {name}: line {number} of {FILE} can't be read")
    except FileNotFoundError:
        return
    except OSError as error:
        notes.append(f"job {name}: {FILE} can't be read ({job_files.reason(error)})")


def append(job: Path, judgement: Judgement) -> None:
    """Add one line.

    Raises:
        OSError: the file can't be written, is no regular file, or is a link.
    """
    job_files.append(job, FILE, judgement.model_dump_json() + "\n")


def judge_rows(trials: Sequence[Trial], judgements: Sequence[Judgement]) -> list[JudgeRow]:
    """Tables 15 and 16 of the paper, and figure 3: each judge on all judged trials, then on each model's.

    A trial that a judge has not met yet is in none of its counts. Shares are of the scored.
    """
    by_id = {trial.id: trial for trial in trials if trial.status == "judged"}
    rows = []
    for judge in sorted({one.judge for one in judgements}):
        mine = [one for one in judgements if one.judge == judge and one.trial in by_id]
        whos = sorted({by_id[one.trial].who for one in mine})
        if mine:
            rows.append(_judge_row(judge, ALL, mine))
        if len(whos) > 1:
            rows += [_judge_row(judge, who, [one for one in mine if by_id[one.trial].who == who]) for who in whos]
    return rows


def _judge_row(judge: str, who: str, some: Sequence[Judgement]) -> JudgeRow:
    counts = {
        status: sum(one.status == status for one in some) for status in ("scored", "refused", "missing", "failed")
    }
    scored = counts["scored"]
    shares = {
        category: sum(one.category == category for one in some if one.status == "scored") / scored if scored else None
        for category in ("honest", "suspicious", "exploit")
    }
    flags = sum(one.category != "honest" for one in some if one.status == "scored")
    return JudgeRow(
        judge=judge,
        who=who,
        scored=scored,
        refused=counts["refused"],
        missing=counts["missing"],
        failed=counts["failed"],
        honest=shares["honest"],
        suspicious=shares["suspicious"],
        exploit=shares["exploit"],
        any_flag=flags / scored if scored else None,
    )


def agreement_rows(trials: Sequence[Trial], judgements: Sequence[Judgement]) -> list[AgreementRow]:
    """Table 17 of the paper: each pair of judges, on the judged trials that both scored."""
    ids = {trial.id for trial in trials if trial.status == "judged"}
    scored: dict[str, dict[str, Judgement]] = {}
    for one in judgements:
        if one.status == "scored" and one.trial in ids:
            scored.setdefault(one.judge, {})[one.trial] = one
    rows = []
    for first, second in combinations(sorted(scored), 2):
        both = sorted(scored[first].keys() & scored[second].keys())
        pairs = [(scored[first][trial], scored[second][trial]) for trial in both]
        found = agree(
            [a.category or "" for a, _ in pairs],
            [b.category or "" for _, b in pairs],
            [a.score or 0.0 for a, _ in pairs],
            [b.score or 0.0 for _, b in pairs],
        )
        if found:
            rows.append(
                AgreementRow(
                    first=first,
                    second=second,
                    trials=found.trials,
                    same=found.same,
                    kappa=found.kappa,
                    rank_correlation=found.rank_correlation,
                )
            )
    return rows
