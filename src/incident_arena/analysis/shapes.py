"""Pictures as a few shapes: the same ones become SVG files (svg below) and are drawn by the results page.

A shape has no colour, but a tone, which a style sheet turns into one (light and dark). Text is plain text.
"""

import math
from typing import Literal
from xml.sax.saxutils import escape

from pydantic import BaseModel, ConfigDict

type Tone = Literal[
    "ink", "muted", "line", "accent", "ok", "warn", "fail", "hue-0", "hue-1", "hue-2", "hue-3", "hue-4", "hue-5"
]


class Shape(BaseModel):
    """One shape.

    Of `box`: corner, width and height; of `line`: both ends (the second is `w`, `h`); of `text`: where it starts, ends
    or has its middle; of `path`: the SVG path itself, made of numbers alone.
    """

    model_config = ConfigDict(frozen=True)

    kind: Literal["box", "line", "text", "path"]
    tone: Tone
    x: float = 0
    y: float = 0
    w: float = 0
    h: float = 0
    text: str = ""
    anchor: Literal["start", "middle", "end"] = "start"
    path: str = ""
    strength: float = 1
    """How opaque, 0 to 1."""


class Picture(BaseModel):
    """A figure. `name` is that of the report's table with the same numbers; `caption` says what it shows."""

    model_config = ConfigDict(frozen=True)

    name: str
    title: str
    caption: str
    width: float
    height: float
    shapes: tuple[Shape, ...]


def box(x: float, y: float, w: float, h: float, tone: Tone, strength: float = 1) -> Shape:
    """A filled box."""
    return Shape(kind="box", tone=tone, x=_r(x), y=_r(y), w=_r(w), h=_r(h), strength=_r(strength))


def line(x: float, y: float, to_x: float, to_y: float, tone: Tone) -> Shape:
    """A line."""
    return Shape(kind="line", tone=tone, x=_r(x), y=_r(y), w=_r(to_x), h=_r(to_y))


def text(
    x: float, y: float, words: str, tone: Tone = "ink", anchor: Literal["start", "middle", "end"] = "start"
) -> Shape:
    """Text on a base line."""
    return Shape(kind="text", tone=tone, x=_r(x), y=_r(y), text=words, anchor=anchor)


def slice_of_pie(x: float, y: float, radius: float, start: float, end: float, tone: Tone) -> Shape:
    """A sector from share `start` to share `end` of the circle, clockwise from the top."""
    if end - start > 1 - 1e-9:
        both = f"a{radius:g},{radius:g} 0 1 1 0,{2 * radius:g}a{radius:g},{radius:g} 0 1 1 0,{-2 * radius:g}z"
        return Shape(kind="path", tone=tone, path=f"M{x:g},{y - radius:g}{both}")
    ends = [(x + radius * math.sin(2 * math.pi * at), y - radius * math.cos(2 * math.pi * at)) for at in (start, end)]
    (from_x, from_y), (to_x, to_y) = ends
    large = int(end - start > 1 / 2)
    arc = f"A{radius:g},{radius:g} 0 {large} 1 {to_x:.2f},{to_y:.2f}"
    return Shape(kind="path", tone=tone, path=f"M{x:g},{y:g}L{from_x:.2f},{from_y:.2f}{arc}z")


def _r(number: float) -> float:
    return round(number, 2)


LIGHT: dict[str, str] = {
    "ink": "#1a1f26", "muted": "#5a6572", "line": "#b9c1ca", "accent": "#1f57c3", "ok": "#b5dcc5", "warn": "#e3a73f",
    "fail": "#d2433a", "hue-0": "#1f57c3", "hue-1": "#c25700", "hue-2": "#0b7f7a", "hue-3": "#a0338f",
    "hue-4": "#6b6f00", "hue-5": "#7a4a21",
}  # fmt: skip
DARK: dict[str, str] = {
    "ink": "#e4e8ed", "muted": "#98a3b0", "line": "#46505c", "accent": "#82aaff", "ok": "#26573d", "warn": "#b98127",
    "fail": "#d9534a", "hue-0": "#82aaff", "hue-1": "#f0995a", "hue-2": "#4cc4bd", "hue-3": "#df8bd2",
    "hue-4": "#c9c95a", "hue-5": "#cfa078",
}  # fmt: skip
PAPER = {"light": "#ffffff", "dark": "#161a20"}


def svg(picture: Picture) -> str:
    """The picture as a file of its own, for light and dark; nothing in it is loaded or run."""
    w, h = f"{picture.width:g}", f"{picture.height:g}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w} {h}" width="{w}" height="{h}" role="img">',
        f"<title>{escape(picture.title)}</title><desc>{escape(picture.caption)}</desc>",
        f"<style>{_style()}</style>",
        f'<rect class="paper" width="{w}" height="{h}"/>',
        *(_markup(shape) for shape in picture.shapes),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _style() -> str:
    def rules(tones: dict[str, str], paper: str) -> str:
        return f".paper{{fill:{paper}}}" + "".join(
            f".{tone}{{fill:{colour}}}line.{tone}{{stroke:{colour}}}" for tone, colour in tones.items()
        )

    dark = rules(DARK, PAPER["dark"])
    return (
        "text{font:12px system-ui,sans-serif}"
        + rules(LIGHT, PAPER["light"])
        + f"@media(prefers-color-scheme:dark){{{dark}}}"
    )


def _markup(shape: Shape) -> str:
    tone = f'class="{shape.tone}"'
    faint = f' opacity="{shape.strength:g}"' if shape.strength < 1 else ""
    match shape.kind:
        case "box":
            return f'<rect {tone} x="{shape.x:g}" y="{shape.y:g}" width="{shape.w:g}" height="{shape.h:g}"{faint}/>'
        case "line":
            return f'<line {tone} x1="{shape.x:g}" y1="{shape.y:g}" x2="{shape.w:g}" y2="{shape.h:g}"/>'
        case "path":
            return f'<path {tone} d="{shape.path}"/>'
        case "text":
            where = f'x="{shape.x:g}" y="{shape.y:g}" text-anchor="{shape.anchor}"'
            return f"<text {tone} {where}>{escape(shape.text)}</text>"
