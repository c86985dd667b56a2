"""Prove a task: right fixes score 1, doing nothing 0, each wrong fix 0 for the class that it should get.

What was proven is kept in proof.json, with two hashes for each run (keys.py): of all that the episode depends on, and
of the judge. A run whose episode is unchanged and whose judge alone is another is judged again from its evidence where
that is still there.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from incident_arena.catalogue import proven
from incident_arena.catalogue.finding import Catalogue
from incident_arena.catalogue.scripts import right_fixes, wrong_fixes
from incident_arena.catalogue.validate import require_valid
from incident_arena.errors import UserError
from incident_arena.formats.proof import Proof, Result, Run, Want, read
from incident_arena.formats.verdict import FailureClass
from incident_arena.harbor import job, playing
from incident_arena.harbor.outcome import Outcome
from incident_arena.lock import locked
from incident_arena.proving import keys, rejudge
from incident_arena.settings import Settings

LOCK_S = 60.0
SOLVED = 5
"""Times that the first right fix is played."""
UNTOUCHED = 3
"""Times that nothing is done."""
JOBS = Path("jobs")
"""Below the current folder, as those of `arena run`."""


@dataclass(frozen=True)
class Choice:
    """Which runs: all that are stale, or `again` all; `only` those named; `check`: none, just tell.

    `parallel` trials are played at once.
    """

    again: bool = False
    only: tuple[str, ...] = ()
    check: bool = False
    parallel: int = 1

    def wants(self, run: str) -> bool:
        """Whether a run is asked for."""
        return not self.only or run in self.only


@dataclass(frozen=True)
class _Plan:
    run: Run
    agent: str
    script: Path | None
    """None: the agent is played."""


def prove(settings: Settings, catalogue: Catalogue, name: str, console: Console, choice: Choice) -> Proof:
    """Play what is not proven yet and write proof.json after each run.

    Returns:
        The proof as it is now; with `check`, what is stale has no results.

    Raises:
        UserError: the task is wrong, or nothing is called as `only` says.
    """
    require_valid(catalogue, name)
    plans = list(_plans(settings, catalogue, name))
    if unknown := sorted(set(choice.only) - {plan.run.name for plan in plans}):
        names = ", ".join(plan.run.name for plan in plans)
        raise UserError(f"run {unknown[0]!r}", f"task {name!r} has none", f"one of: {names}")
    before = proven.find(settings, catalogue, name)
    runs: dict[str, Run] = {}
    stale: list[_Plan] = []
    for plan in plans:
        known = before.run(plan.run.name) if before else None
        runs[plan.run.name] = _reuse(plan, known, choice) or plan.run
        if not runs[plan.run.name].results and not choice.check and choice.wants(plan.run.name):
            stale.append(plan)
        elif known and not choice.check and not runs[plan.run.name].results:
            runs[plan.run.name] = known  # not asked for: stays as it is
    if choice.check:
        return Proof(task=name, runs=list(runs.values()))
    _keep(settings, catalogue, name, _rejudged(before, runs), list(runs))
    for batch in _batches(stale, choice.parallel):
        played = _play(settings, catalogue, name, batch, console, choice.parallel)
        runs |= {run.name: run for run in played}
        _keep(settings, catalogue, name, played, list(runs))
    return Proof(task=name, runs=list(runs.values()))


def _rejudged(before: Proof | None, runs: dict[str, Run]) -> list[Run]:
    known = {run.name: run for run in before.runs} if before else {}
    return [run for run in runs.values() if run.results and run.name in known and run.judged != known[run.name].judged]


def _keep(settings: Settings, catalogue: Catalogue, name: str, news: list[Run], order: list[str]) -> None:
    """Put runs into the proof on disk; what another process has put there meanwhile stays."""
    path = proven.place(settings, catalogue, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    with locked(settings.home / "proofs.lock", deadline_s=LOCK_S):
        before = proven.find(settings, catalogue, name)
        kept = {run.name: run for run in before.runs} if before else {}
        for run in news:
            kept[run.name] = run
        _write(path, Proof(task=name, runs=[kept[one] for one in order if one in kept]))


def merge(settings: Settings, catalogue: Catalogue, name: str, other: Path) -> None:
    """Take over what was proven elsewhere, in another checkout of the same sources, where it says more.

    Raises:
        UserError: the other file is no proof of this task.
    """
    found = read(other)
    if found is None or found.task != name:
        raise UserError(
            f"proof {str(other)!r}", f"is not one of task {name!r}", "name the proof.json of another checkout"
        )
    plans = {plan.run.name: plan.run for plan in _plans(settings, catalogue, name)}
    fresh = [run for run in found.runs if run.name in plans and run.played == plans[run.name].played and run.holds]
    _keep(settings, catalogue, name, fresh, list(plans))


def _batches(plans: list[_Plan], parallel: int) -> Iterator[list[_Plan]]:
    """Scripts that are played once are put together, as many as go at once; all else is a job of its own."""
    single = [plan for plan in plans if plan.script and plan.run.repeat == 1]
    yield from ([plan] for plan in plans if plan not in single)
    for start in range(0, len(single), parallel):
        yield single[start : start + parallel]


def _plans(settings: Settings, catalogue: Catalogue, name: str) -> Iterator[_Plan]:
    folder = catalogue.folder(name)
    depends = keys.Keys(settings, catalogue, name)

    def plan(run: str, want: Want, script: Path | None, repeat: int, cls: FailureClass | None = None) -> _Plan:
        played = depends.played(script.read_text() if script else "")
        facts = Run(name=run, want=want, want_class=cls, repeat=repeat, played=played, judged=depends.judged)
        agent = "nop" if script is None else "oracle"
        return _Plan(facts, agent, None if run == "solve" else script)  # the oracle has the solution itself

    for number, script in enumerate(right_fixes(folder)):
        yield plan(script.stem, "pass", script, SOLVED if number == 0 else 1)
    yield plan("nop", "fail", None, UNTOUCHED, "never declared")
    for wrong in wrong_fixes(folder):
        yield plan(f"wrong/{wrong.path.stem}", "fail", wrong.path, wrong.repeat, wrong.failure_class)


def _reuse(plan: _Plan, known: Run | None, choice: Choice) -> Run | None:
    """What is known of a run, when it still says something."""
    if known is None or choice.again or known.played != plan.run.played or len(known.results) < plan.run.repeat:
        return None
    if known.judged == plan.run.judged:
        return known.model_copy(update={"want": plan.run.want, "want_class": plan.run.want_class})
    if choice.check:
        return None
    results = [rejudge.again(JOBS / result.job / result.trial, result) for result in known.results]
    if not all(results):
        return None
    return plan.run.model_copy(update={"results": results})


def _play(
    settings: Settings, catalogue: Catalogue, name: str, batch: list[_Plan], console: Console, parallel: int
) -> list[Run]:
    names, repeat = ", ".join(plan.run.name for plan in batch), batch[0].run.repeat
    console.print(f"{name}: {names}, {repeat} times", style="bold", highlight=False, markup=False, soft_wrap=True)
    request = job.Request(
        tasks=playing.prepare(settings, catalogue, [name]),
        agent=batch[0].agent,
        scripts=tuple(plan.script for plan in batch if plan.script),
        model=None,
        trials=repeat,
        parallel=parallel,
        max_retries=2,
        keep=False,
        jobs=JOBS,
        name=f"{playing.job_name()}__{name.rpartition('/')[2]}__{batch[0].run.name.replace('/', '-')}",
    )
    outcomes = playing.play(settings, request, console)
    return [
        plan.run.model_copy(update={"results": [_result(one) for one in outcomes if _is_of(one, plan)]})
        for plan in batch
    ]


def _is_of(one: Outcome, plan: _Plan) -> bool:
    return one.script == (str(plan.script.resolve()) if plan.script else "")


def _result(one: Outcome) -> Result:
    return Result(
        reward=one.reward,
        failure_class=one.failure_class,
        inclusive=one.inclusive,
        reason=one.reason,
        seconds=round(sum(stage.seconds for stage in one.stages), 1),
        peak_memory_mb=one.peak_memory_mb,
        job=Path(one.job_dir).name,
        trial=one.trial,
    )


def table(proof: Proof) -> Table:
    """A proof for a person."""
    shown = Table("run", "wants", "got", "class", "seconds", "MB", "holds", title=proof.task, box=None)
    for run in proof.runs:
        got = " ".join("none" if one.reward is None else f"{one.reward:g}" for one in run.results) or "not proven"
        classes = ", ".join(dict.fromkeys(str(one.failure_class) for one in run.results if one.failure_class))
        seconds = " ".join(f"{one.seconds:.0f}" for one in run.results)
        memory = max((one.peak_memory_mb or 0 for one in run.results), default=0)
        want = "1" if run.want == "pass" else f"0, {run.want_class}"
        shown.add_row(run.name, want, got, classes, seconds, str(memory or ""), "yes" if run.holds else "NO")
    return shown


def _write(path: Path, proof: Proof) -> None:
    draft = path.with_suffix(".tmp")
    draft.write_text(proof.model_dump_json(indent=1) + "\n")
    draft.replace(path)
