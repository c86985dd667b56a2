"""A wide table as several that fit a terminal: the columns that name a row are repeated, no figure is ever broken."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from incident_arena.analysis.cells import Grid

FRAME = 3
"""Characters that a column takes beside its text: a line and two blanks. One more line closes the table."""
PROSE = 30
"""Text wider than this is wrapped."""
KEY_SHARE = 0.55
"""Of the width, for the columns that name a row."""
NARROWEST = 8


@dataclass(frozen=True)
class Part:
    """Some columns of a grid, with the width of each."""

    grid: Grid
    widths: tuple[int, ...]


def fit(grid: Grid, width: int) -> list[Part]:
    """The grid in as few parts as fit `width`, one after the other."""
    widths = [_width(grid, place) for place in range(len(grid.columns))]
    keys = list(grid.keys)
    room = int(width * KEY_SHARE) if len(keys) < len(widths) else width
    for place, narrowed in zip(keys, _narrowed([widths[place] for place in keys], room), strict=True):
        widths[place] = narrowed
    taken = sum(widths[place] + FRAME for place in keys) + 1
    others = [place for place in range(len(widths)) if place not in keys]
    parts = []
    for some in _packed(others, widths, width - taken) or [[]]:
        chosen = sorted([*keys, *some])
        parts.append(Part(_columns(grid, chosen), tuple(widths[place] for place in chosen)))
    return parts


def _packed(others: Sequence[int], widths: list[int], room: int) -> list[list[int]]:
    packed: list[list[int]] = []
    left = 0
    for place in others:
        widths[place] = min(widths[place], max(NARROWEST, room - FRAME))
        if not packed or widths[place] + FRAME > left:
            packed.append([])
            left = room
        packed[-1].append(place)
        left -= widths[place] + FRAME
    return packed


def _width(grid: Grid, place: int) -> int:
    """Of figures the longest; of words the longest line up to a limit, but room for each word. Heads wrap at blanks."""
    cells = [row[place] for row in grid.rows]
    head = _words([grid.columns[place]])
    if place in grid.text_columns:
        whole = max(map(len, [*cells, grid.columns[place]]), default=0)
        return max(head, min(whole, max(PROSE, min(_words(cells), 2 * PROSE))), 1)
    return max(head, max(map(len, cells), default=0), 1)


def _words(texts: Sequence[str]) -> int:
    return max((len(word) for text in texts for word in text.split()), default=0)


def _narrowed(widths: Sequence[int], room: int) -> Iterator[int]:
    """Widths of key columns within the room: the widest give way."""
    left = list(widths)
    while sum(left) + FRAME * len(left) > room and max(left) > NARROWEST:
        left[left.index(max(left))] -= 1
    yield from left


def _columns(grid: Grid, chosen: Sequence[int]) -> Grid:
    return replace(
        grid,
        columns=tuple(grid.columns[place] for place in chosen),
        rows=tuple(tuple(row[place] for place in chosen) for row in grid.rows),
        text_columns=frozenset(number for number, place in enumerate(chosen) if place in grid.text_columns),
    )
