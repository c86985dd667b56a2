"""A picture of an episode for the eye: on a terminal as a board, in a log as lines."""

from collections.abc import Iterator

from rich.columns import Columns
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from incident_arena.formats.records import Action, Stage
from incident_arena.harbor.explain import clock, words
from incident_arena.harbor.picture import WINDOW_S, KindNow, Picture
from incident_arena.harbor.watch import told

BAR = 20
STATES = {"planted": ("●", "red"), "clear": ("○", "green"), "unknown": ("?", "yellow")}
SUMMARY_S = 15.0


def board(picture: Picture) -> RenderableType:
    """The whole picture."""
    parts: list[RenderableType] = [_head(picture), _stages(picture.all_stages())]
    if picture.task is not None and not picture.over:
        parts.append(_load(picture.kinds()))
    if picture.task is not None:
        parts.append(_faults(picture))
    if picture.agent_started is not None:
        parts.append(_acts(picture))
    return Group(*(Padding(part, (1, 2, 0, 2)) for part in parts), "")


def _head(picture: Picture) -> Text:
    head = Text.assemble((picture.attempt.task, "bold"), ("   ", ""), (picture.phase(), "cyan"))
    started = picture.agent_started
    if started is not None and picture.task is not None and picture.attempt.state == "admitted":
        until = picture.agent_ended or (picture.declared.at if picture.declared else picture.clock())
        head.append(f"   {clock(until - started)}", "bold")
        head.append(f" of {clock(picture.task.deadlines.agent)}", "dim")
    return head.append(f"\n{picture.attempt.job} / {picture.attempt.trial}", "dim")


def _stages(stages: list[Stage]) -> RenderableType:
    if not stages:
        return Text("no stage has ended yet", "dim")
    cells = []
    for stage in stages:
        mark, style = ("✔", "green") if stage.ok else ("✘", "red")
        cells.append(Text.assemble((f"{mark} ", style), stage.name, (f" {stage.seconds:.1f} s", "dim")))
    return Group(_title("Stages"), Columns(cells, padding=(0, 3), column_first=False))


def _load(kinds: list[KindNow]) -> RenderableType:
    table = Table.grid(padding=(0, 2, 0, 0))
    for justify in ("left", "left", "right", "right", "left"):
        table.add_column(justify=justify, no_wrap=True)
    for kind in kinds:
        share = kind.share
        if share is None:
            table.add_row(kind.kind, Text("·" * BAR, "dim"), "", "", Text("nothing ended", "dim"))
            continue
        style = _style(kind)
        full = round(share * BAR)
        table.add_row(
            kind.kind,
            Text.assemble(("━" * full, style), ("━" * (BAR - full), "bright_black")),
            Text(f"{share:.0%}", style),
            f"{kind.p95:.2f} s" if kind.p95 is not None else Text("-", "dim"),
            Text(f"{kind.ok} of {kind.total}", "dim"),
        )
    return Group(_title("Load").append(f"   last {WINDOW_S:.0f} s: succeeded, p95", "dim"), table)


def _style(kind: KindNow) -> str:
    """Good is green only where it counts, so that the eye finds what is bad."""
    if kind.share is None or kind.share >= (kind.floor if kind.floor is not None else 1):
        return "green"
    return "red" if kind.share < 0.5 else "yellow"  # noqa: PLR2004 - half


def _faults(picture: Picture) -> RenderableType:
    table = Table.grid(padding=(0, 2, 0, 0))
    for fault in picture.task.faults if picture.task else []:
        seen = picture.faults.get(fault.name)
        mark, style = STATES[seen.state] if seen else ("·", "dim")
        since = ""
        at = picture.since.get(fault.name, 0)
        if picture.agent_started is not None and at > picture.agent_started:
            since = f"after {clock(at - picture.agent_started)}"
        table.add_row(Text(mark, style), fault.name, Text(seen.state if seen else "not yet", style), Text(since, "dim"))
    silent = picture.silent()
    note = [Text(f"no sign of life: {', '.join(silent)}", "yellow")] if silent else []
    return Group(_title("Faults"), table, *note)


def _acts(picture: Picture) -> RenderableType:
    title = _title("Agent").append(f"   {picture.reads} looks, {picture.changes} changes", "dim")
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True, overflow="ellipsis")
    for act in picture.acts:
        table.add_row(Text(clock(act.at - (picture.agent_started or act.at)), "dim"), act.source, _act(act))
    return Group(title, table, _declaration(picture))


def _act(act: Action) -> Text:
    text = Text(words(act), "" if act.ok else "dim")
    return text if act.ok else text.append("  refused")


def _declaration(picture: Picture) -> Text:
    if picture.declared is None:
        return Text("not declared", "dim")
    causes = picture.declared.causes
    named = "" if causes is None else ": " + (", ".join(f"{c.component}.{c.aspect}" for c in causes) or "no fault")
    at = clock(picture.declared.at - (picture.agent_started or picture.declared.at))
    return Text(f"declared repaired after {at}{named}", "bold green")


def _title(text: str) -> Text:
    return Text.assemble((text, "bold cyan"))


class Teller:
    """Tells a picture as lines, each thing once; the load every quarter of a minute."""

    def __init__(self) -> None:
        """Nothing is told yet."""
        self._told: set[str] = set()
        self._load_at = 0.0

    def lines(self, picture: Picture) -> Iterator[str]:
        """What is new."""
        trial = picture.attempt.trial
        for line in self._all(picture):
            if line not in self._told:
                self._told.add(line)
                yield f"{trial}  {line}"
        now = picture.clock()
        if picture.task is not None and not picture.over and now - self._load_at >= SUMMARY_S:
            self._load_at = now
            yield f"{trial}  load: {', '.join(_brief(kind) for kind in picture.kinds())}"

    def _all(self, picture: Picture) -> Iterator[str]:
        number = picture.attempt.number
        yield f"attempt {number}: {picture.phase()}"
        for stage in picture.all_stages():
            name = stage.name if stage.ok else f"{stage.name}: failed: {stage.detail}"
            yield f"{told(name, stage.seconds)}" + (f"  (attempt {number})" if number > 1 else "")
        for fault, seen in picture.faults.items():
            yield f"fault {fault} is {seen.state}"
        for act in picture.acts:
            yield f"{clock(act.at - (picture.agent_started or act.at))} {act.source}: {_act(act).plain}"
        if picture.declared is not None:
            yield _declaration(picture).plain


def _brief(kind: KindNow) -> str:
    if kind.share is None:
        return f"{kind.kind} -"
    return f"{kind.kind} {kind.share:.0%}" + (f" {kind.p95:.2f} s" if kind.p95 is not None else "")
