"""The page itself: one HTML document from the template, the script, the style sheet, uPlot and the packs."""

import base64
import hashlib
from collections.abc import Mapping
from importlib import metadata, resources

from jinja2 import Environment
from markupsafe import Markup

from incident_arena.errors import InfrastructureError

SCRIPTS = (
    "dom.js",
    "format.js",
    "data.js",
    "tables.js",
    "pictures.js",
    "address.js",
    "export.js",
    "trials.js",
    "lists.js",
    "compare.js",
    "scale.js",
    "lanes.js",
    "events.js",
    "chart.js",
    "timeline.js",
    "evidence.js",
    "verdict.js",
    "transcript.js",
    "trial.js",
    "app.js",
)
"""In the order in which they are joined, inside one function."""
STYLES = ("base.css", "lists.css", "trial.css", "timeline.css")
CARRIER = "metaflow-card-uplot"
"""The package that carries uPlot (docs/decisions/results-page.md). It is read, never imported."""


def page(title: str, index: str, packs: Mapping[int, str]) -> str:
    """The document.

    Args:
        title: shown in the browser's tab; escaped.
        index: the encoded Index.
        packs: encoded packs that stand in the page, by number.

    Raises:
        InfrastructureError: uPlot is not installed.
    """
    script = "(() => {\n'use strict';\n" + "\n".join(map(_static, SCRIPTS)) + "\n})();\n"
    library = _library("uPlot.iife.min.js")
    style = "\n".join((_library("uPlot.min.css"), *map(_static, STYLES)))
    template = Environment(autoescape=True, keep_trailing_newline=True).from_string(_static("page.html"))
    return template.render(
        title=title,
        policy=_policy((library, script), style),
        style=Markup(style),  # noqa: S704 - our own file and uPlot's, no text of a trial
        library=Markup(library),  # noqa: S704 - uPlot's own file
        script=Markup(script),  # noqa: S704 - our own files
        index=index,
        packs=sorted(packs.items()),
    )


def _policy(scripts: tuple[str, ...], style: str) -> str:
    """Nothing but these scripts, what they load themselves (the packs beside the page), and this style sheet."""
    allowed = " ".join(f"'{_digest(script)}'" for script in scripts)
    return (
        f"default-src 'none'; script-src {allowed} 'strict-dynamic'; style-src '{_digest(style)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _static(name: str) -> str:
    return resources.files("incident_arena.viewer").joinpath("static", name).read_text(encoding="utf-8")


def _library(name: str) -> str:
    try:
        files = metadata.files(CARRIER) or []
    except metadata.PackageNotFoundError:
        files = []
    path = next((file for file in files if file.name == name), None)
    if path is None:
        raise InfrastructureError(f"chart library file '{name}'", f"{CARRIER} is not installed", "install again")
    return path.read_text(encoding="utf-8").strip()
