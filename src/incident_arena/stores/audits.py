"""What the logs of stores and of the admin interface have in common, when the agent's acts are read from them."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from incident_arena.formats.records import FLOODED, UNREADABLE, Action

DETAIL_MOST = 500
LARGEST = 64_000_000
"""Bytes of a log that are read. Nobody who repairs fills a tenth of it, and rotation drops nothing before."""
BUDGET = 16_000_000
"""Bytes of one source's actions. Looks are left out beyond half of it; nobody who repairs needs a quarter."""
FRAME = 300
"""Bytes of an action without its detail."""


def flooded(source: str, actor: str, at: float) -> Action:
    """Stands for the acts that a log has no room for."""
    return Action(at=at, source=source, actor=actor, kind="change", what=FLOODED)


def unreadable(source: str, actor: str, line: str, at: float) -> Action:
    """What a server wrote and nobody can read must not be a way to hide."""
    return Action(at=at, source=source, actor=actor, kind="change", what=UNREADABLE, detail=line[:DETAIL_MOST])


def bounded(found: Iterable[Action]) -> Iterator[Action]:
    """Actions within the budget; the first change beyond it ends them with `flooded`."""
    used = 0
    for action in found:
        if action.kind == "read" and used >= BUDGET / 2:
            continue
        used += FRAME + len(action.detail)
        if used > BUDGET:
            yield flooded(action.source, action.actor, action.at)
            return
        yield action


def lines(path: Path, *, whole: bool = False) -> Iterator[str]:
    """Lines as the writer ended them, with a line feed: other separators of Unicode are text."""
    with path.open("rb") as file:
        for line in file:
            if line.endswith(b"\n") or not whole:
                yield line.removesuffix(b"\n").decode(errors="replace")
