"""A verdict explained to the person who earned it: each check, what was broken and changed, what would be right."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from pydantic import BaseModel, ValidationError
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from incident_arena.formats.records import Action
from incident_arena.formats.task import PlantedFault, TaskSpec
from incident_arena.formats.verdict import Check, Difference, Verdict
from incident_arena.harbor.cast import CAST, TEXT
from incident_arena.harbor.outcome import read_verdict

ACTIONS = Path("artifacts/evidence/actions.jsonl")
TASK = Path("artifacts/evidence/task.json")
SHOWN = 25
"""Lines of one list."""
MARKS = {"pass": ("✔", "green"), "fail": ("✘", "red"), "unknown": ("?", "yellow")}


def explain(trial: Path, solution: Path | None = None) -> RenderableType | None:
    """All that there is to say about a trial; None when it has no verdict.

    Args:
        trial: its folder.
        solution: script that is a right fix; its text is shown beside a verdict that is no pass.
    """
    verdict = read_verdict(trial)
    if verdict is None:
        return None
    task = _read(trial / TASK, TaskSpec)
    parts: list[RenderableType] = [_head(verdict), _checks(verdict, task)]
    if task is not None:
        parts.append(_broken(task, verdict))
    parts.append(_changes(verdict, _actions(trial / ACTIONS)))
    if task is not None and verdict.reward != 1:
        parts.append(_right(task, solution))
    parts.append(_where(trial))
    return Group(*(Padding(part, (1, 2, 0, 2)) for part in parts), "")


def advice(check: Check, task: TaskSpec, differences: Sequence[Difference] = ()) -> str:
    """What a right fix would have done about a check that did not pass."""
    off_list = [one.path for one in differences if not one.permitted]
    return {
        "declared": f"run declare_repair_complete within {task.deadlines.agent / 60:.0f} minutes of the page, "
        "once the service has been healthy",
        "cause-gone": f"undo what was broken, and nothing else: {_rules(task)}",
        "damage-gone": "with the causes gone, wait until the backlog has drained; "
        "jobs that failed meanwhile are sent again, none is thrown away",
        "durable": "make each change twice: in what runs now, and in the file from which it starts again. "
        f"It has to outlive {', '.join(challenge.stage for challenge in task.challenges)}",
        "stable": "give what runs the room that it had, and start nothing that goes on taking more",
        "in-bounds": f"declare only when every kind of operation has been good for {task.windows.acceptance:.0f} s",
        "scope": "change only what is permitted"
        + (f"; put back {', '.join(off_list[:3])}" if off_list else "")
        + f": {_rules(task)}",
        "data-survives": "keep what users sent: nothing is flushed, deleted or written by hand",
        "no-further-harm": "keep what works working: what has to stop stops briefly, for at most "
        f"{task.harm_budget:g} s in all, and nothing is locked or made read-only meanwhile",
        "integrity": "leave the load, the telemetry and the observers alone, and no component stopped",
    }.get(check.name, "")


def _rules(task: TaskSpec) -> str:
    return "; ".join(dict.fromkeys(one.rule for one in task.permitted)) or "nothing is permitted to change"


def _head(verdict: Verdict) -> Text:
    if verdict.reward is None:
        return Text.assemble(("No verdict", "bold yellow"), f"  {verdict.inadmissible or 'a check could not decide'}")
    word, style = ("Repaired", "bold green") if verdict.reward == 1 else ("Not repaired", "bold red")
    head = Text.assemble((word, style))
    if verdict.failure_class:
        head.append(f" · {verdict.failure_class}")
    return head.append(f"   reward {verdict.reward}", "dim")


def _checks(verdict: Verdict, task: TaskSpec | None) -> Table:
    table = _table()
    for check in verdict.checks:
        mark, style = MARKS[check.verdict]
        if check.verdict == "pass":
            table.add_row(Text(mark, style), Text(check.name), Text(check.reason, "dim"))
        else:
            said = Group(Text(check.reason), _why(check, verdict, task))
            table.add_row(Text(mark, style), Text(check.name, "bold"), said)
    return table


def _why(check: Check, verdict: Verdict, task: TaskSpec | None) -> Table:
    """What was seen, expected and would have been right, each with what goes on for lines under itself."""
    why = Table.grid(padding=(0, 1, 0, 0))
    why.add_column(no_wrap=True, style="dim")
    why.add_column(overflow="fold")
    for name, text in (("seen", check.seen), ("expected", check.expected)):
        if text:
            why.add_row(name, Text(text.replace("; ", "\n")))
    if task is not None and (right := advice(check, task, verdict.differences)):
        why.add_row("right", Text(right, "green"))
    return why


def _broken(task: TaskSpec, verdict: Verdict) -> Group:
    """The planted faults, and when each was repaired."""
    repaired = {one.fault: one.repaired for one in verdict.tracked}
    table = _table()
    for fault in task.faults:
        at = repaired.get(fault.name)
        when = f"repaired after {_since(verdict, at)}" if at is not None else "never repaired"
        mark, style = MARKS["pass" if at is not None else "fail"]
        table.add_row(Text(mark, style), fault.name, Text(_parameters(fault)), Text(when, "dim"))
    return Group(_title("What was broken"), table)


def _parameters(fault: PlantedFault) -> str:
    return "; ".join(
        f"{name.replace('_', ' ')}: {', '.join(value) if isinstance(value, list) else value}"
        for name, value in fault.parameters.items()
    )


def _changes(verdict: Verdict, actions: list[Action]) -> Group:
    """What the person changed, in order; looks are only counted."""
    changed = [one for one in actions if one.kind != "read"]
    table = _table()
    for one in changed[:SHOWN]:
        what = Text(words(one))
        if not one.ok:
            what.append("  refused", "dim")
        table.add_row(Text(_since(verdict, one.at), "dim"), one.source, what)
    title = _title("What you did").append(f"   {verdict.reads} looks, {verdict.changes} changes", "dim")
    if not changed:
        return Group(title, Text("  nothing was changed", "dim"))
    more = len(changed) - SHOWN
    return Group(title, table, *([Text(f"  and {more} more, in {ACTIONS}", "dim")] if more > 0 else []))


def _right(task: TaskSpec, solution: Path | None) -> Group:
    """What may change, and a script that does."""
    may = Text("  it changes: ", "dim").append(_rules(task), "")
    if solution is None or not solution.is_file():
        return Group(_title("A right fix"), may)
    lines = [line for line in solution.read_text().splitlines() if line.strip() and not line.startswith("#")]
    script = Syntax("\n".join(lines), "bash", theme="ansi_dark", background_color="default", word_wrap=True)
    return Group(_title("A right fix").append(f"   {solution}", "dim"), may, "", Padding(script, (0, 0, 0, 2)))


def _where(trial: Path) -> Group:
    kept = [
        ("transcript", trial / "agent" / TEXT),
        ("recording", trial / "agent" / CAST),
        ("evidence", trial / "artifacts" / "evidence"),
    ]
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True, style="dim")
    table.add_column(overflow="fold")
    for name, path in kept:
        if path.exists():
            table.add_row(f"  {name}", str(path))
    return Group(_title("On record"), table)


def _table() -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    return table


def _title(text: str) -> Text:
    return Text.assemble((text, "bold cyan"))


def _since(verdict: Verdict, at: float) -> str:
    """Minutes and seconds since the page."""
    return clock(at - verdict.agent_started)


def clock(seconds: float) -> str:
    """Seconds as minutes and seconds."""
    whole = max(0, round(seconds))
    return f"{whole // 60:02d}:{whole % 60:02d}"


def words(act: Action) -> str:
    """An act in few words: a statement as it was, an admin verb with its values."""
    if act.detail.startswith(act.what):
        return act.detail
    try:
        values = json.loads(act.detail)
    except ValueError:
        values = None
    if not isinstance(values, dict):
        return f"{act.what} {act.detail}".strip()
    told = [" ".join(map(str, value)) if isinstance(value, list) else str(value) for value in values.values()]
    return " ".join([act.what, *(one for value, one in zip(values.values(), told, strict=True) if value is not None)])


def _actions(path: Path) -> list[Action]:
    return list(_valid(path.read_text(errors="replace").splitlines())) if path.is_file() else []


def _valid(lines: Iterable[str]) -> Iterable[Action]:
    for line in lines:
        try:
            yield Action.model_validate_json(line)
        except ValidationError:
            continue  # the verdict is made of these by the judge, who has said what is wrong with them


def _read[M: BaseModel](path: Path, model: type[M]) -> M | None:
    try:
        return model.model_validate_json(path.read_text())
    except (OSError, ValueError):
        return None
