"""Prove tasks: right fixes score 1, doing nothing 0, each wrong fix 0 for the class that it should get.

What was proven is kept in proof.json, with two hashes for each run (keys.py): of all that the episode depends on, and
of the judge. A run whose episode is unchanged and whose judge alone is another is judged again from its evidence where
that is still there. What is left of all tasks is one queue; each trial is kept as soon as it has ended.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from incident_arena.catalogue import proven
from incident_arena.catalogue.finding import Catalogue
from incident_arena.catalogue.scripts import LIBRARY, right_fixes, wrong_fixes
from incident_arena.catalogue.validate import require_valid
from incident_arena.errors import UserError
from incident_arena.formats.proof import Proof, Result, Run, Want, read
from incident_arena.formats.verdict import FailureClass
from incident_arena.harbor import job, playing, queue
from incident_arena.harbor.outcome import Outcome
from incident_arena.lock import locked
from incident_arena.proving import keys, rejudge
from incident_arena.settings import Settings

LOCK_S = 60.0
SOLVED = 3
"""Times that the first right fix is played."""
UNTOUCHED = 3
"""Times that nothing is done."""
RETRIES = 2
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
    task: str
    run: Run
    agent: str
    script: Path | None
    """None: the agent is played."""


def prove(
    settings: Settings, catalogue: Catalogue, names: Sequence[str], console: Console, choice: Choice
) -> list[Proof]:
    """Play what is not proven yet, and write each task's proof.json after each trial.

    Returns:
        The proofs as they are now, in the order of the names; with `check`, what is stale lacks results.

    Raises:
        UserError: a task is wrong, or nothing is called as `only` says.
    """
    plans: list[_Plan] = []
    for name in dict.fromkeys(names):
        require_valid(catalogue, name)
        plans += _plans(settings, catalogue, name)
    _require_known(plans, choice)
    sheets = {name: _Sheet(settings, catalogue, name, [plan for plan in plans if plan.task == name]) for name in names}
    for sheet in sheets.values():
        sheet.reuse(choice)
    if not choice.check:
        wanted = [plan for plan in plans if choice.wants(plan.run.name)]
        _play(settings, catalogue, [(sheets[plan.task], plan) for plan in wanted], console, choice.parallel)
    return [sheet.proof for sheet in sheets.values()]


def _require_known(plans: list[_Plan], choice: Choice) -> None:
    names = list(dict.fromkeys(plan.run.name for plan in plans))
    if unknown := sorted(set(choice.only) - set(names)):
        raise UserError(f"run {unknown[0]!r}", "no task asked for has one", f"one of: {', '.join(names)}")


class _Sheet:
    """What is known of one task's runs, and kept on disk as it grows."""

    def __init__(self, settings: Settings, catalogue: Catalogue, name: str, plans: list[_Plan]) -> None:
        self._settings = settings
        self._catalogue = catalogue
        self._name = name
        self._plans = plans
        self._runs = {plan.run.name: plan.run for plan in plans}

    @property
    def proof(self) -> Proof:
        """The proof as it is now."""
        return Proof(task=self._name, runs=list(self._runs.values()))

    def missing(self, run: str) -> int:
        """Trials of a run that are still to be played."""
        return self._runs[run].missing

    def reuse(self, choice: Choice) -> None:
        """Take over what still holds of what was proven before; what is not asked for stays as it is."""
        before = proven.find(self._settings, self._catalogue, self._name)
        judged = []
        for plan in self._plans:
            name = plan.run.name
            known = before.run(name) if before else None
            if known is None:
                continue
            if found := _reuse(plan, known, choice):
                self._runs[name] = found
                judged += [found] if found.judged != known.judged else []
            elif not choice.check and not choice.wants(name):
                self._runs[name] = known
        if judged and not choice.check:
            self._keep(judged)

    def add(self, run: str, result: Result) -> None:
        """Keep the result of one more trial."""
        before = self._runs[run]
        self._runs[run] = before.model_copy(update={"results": [*before.results, result]})
        self._keep([self._runs[run]])

    def _keep(self, news: list[Run]) -> None:
        _keep(self._settings, self._catalogue, self._name, news, list(self._runs))


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


def _plans(settings: Settings, catalogue: Catalogue, name: str) -> Iterator[_Plan]:
    folder = catalogue.folder(name)
    depends = keys.Keys(settings, catalogue, name)
    library = catalogue.substrate(catalogue.load(name).substrate) / LIBRARY
    shared = library.read_text() if library.exists() else ""

    def plan(run: str, want: Want, script: Path | None, repeat: int, cls: FailureClass | None = None) -> _Plan:
        played = depends.played(script.read_text() + shared if script else "")
        facts = Run(name=run, want=want, want_class=cls, repeat=repeat, played=played, judged=depends.judged)
        agent = "nop" if script is None else "oracle"
        return _Plan(name, facts, agent, None if run == "solve" else script)  # the oracle has the solution itself

    for number, script in enumerate(right_fixes(folder)):
        yield plan(script.stem, "pass", script, SOLVED if number == 0 else 1)
    required = catalogue.load(name).policy.declaring == "required"
    yield plan("nop", "fail", None, UNTOUCHED, "never declared" if required else "cause or damage left")
    for wrong in wrong_fixes(folder):
        yield plan(f"wrong/{wrong.path.stem}", "fail", wrong.path, wrong.repeat, wrong.failure_class)


def _reuse(plan: _Plan, known: Run, choice: Choice) -> Run | None:
    """What is known of a run, when it still says something; it may be some of its trials."""
    if choice.again or known.played != plan.run.played or not known.results:
        return None
    if known.judged == plan.run.judged:
        return plan.run.model_copy(update={"results": known.results})
    if choice.check:
        return None
    results = [rejudge.again(JOBS / result.job / result.trial, result) for result in known.results]
    if not all(results):
        return None
    return plan.run.model_copy(update={"results": results})


def _play(
    settings: Settings, catalogue: Catalogue, wanted: list[tuple[_Sheet, _Plan]], console: Console, parallel: int
) -> None:
    """Play what is missing: right fixes first, since they take longest, and a task without one proves nothing."""
    todo = [(sheet, plan) for sheet, plan in wanted for _ in range(sheet.missing(plan.run.name))]
    if not todo:
        return
    todo.sort(key=lambda one: one[1].run.want != "pass")
    tasks = {plan.task: playing.prepare(settings, catalogue, [plan.task]) for _, plan in todo}
    entries = [queue.Entry(f"{plan.task} {plan.run.name}", _request(plan, tasks, parallel)) for _, plan in todo]
    left = len(todo)

    def say(text: str) -> None:
        console.print(text, style="bold", highlight=False, markup=False, soft_wrap=True)

    def ended(number: int, one: Outcome) -> None:
        nonlocal left
        left -= 1
        sheet, plan = todo[number]
        sheet.add(plan.run.name, _result(one))
        got = one.reason if one.reward is None else f"{one.reward:g} {one.failure_class or ''}".strip()
        say(f"{entries[number].label}: {got}; {left} to go")

    say(f"{left} trials to play, {parallel} at once: {', '.join(dict.fromkeys(entry.label for entry in entries))}")
    queue.play(settings, entries, parallel, console, ended)


def _request(plan: _Plan, tasks: dict[str, tuple[Path, ...]], parallel: int) -> job.Request:
    return job.Request(
        tasks=tasks[plan.task],
        agent=plan.agent,
        scripts=(plan.script,) if plan.script else (),
        model=None,
        trials=1,
        parallel=parallel,
        max_retries=RETRIES,
        keep=False,
        jobs=JOBS,
        name=f"{playing.job_name()}__{plan.task.rpartition('/')[2]}__{plan.run.name.replace('/', '-')}",
        seal=True,
    )


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
