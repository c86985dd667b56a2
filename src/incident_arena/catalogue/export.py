"""A task as a Harbor task folder: complete, self-contained, the same bytes each time.

    task.toml                       Harbor's, made from the task's facts
    instruction.md                  what the agent is told
    environment/task.json           the facts (TaskSpec); each trial draws its values from them
    environment/chart/              the substrate's Helm chart with the harness in it
    environment/values.yaml         the task's overlay
    environment/docker-compose.yaml names the services for Harbor, which asks for it; nothing runs it
    solution/solve.sh               the right fix, which Harbor's oracle runs in the agent's pod
    solution/library.sh             what it sources, where the substrate has one
    tests/test.sh                   judges the evidence

Harbor gives the agent instruction.md alone; environment/ is read by our environment class, on the host.
"""

import hashlib
import json
import shutil
import tempfile
import tomllib
from pathlib import Path
from typing import Any

import jinja2

from incident_arena import application, stores
from incident_arena.catalogue.finding import Catalogue
from incident_arena.catalogue.names import MAIN, REFEREE
from incident_arena.catalogue.scripts import LIBRARY
from incident_arena.episode.stages import PLACE_S
from incident_arena.errors import UserError
from incident_arena.formats.task import TaskSpec

COLLECT = "python -m incident_arena.services.referee collect"
JUDGE_SECONDS = 300
SLACK_SECONDS = 60
"""On top of the stages' own deadlines, so that a stage's error is told rather than Harbor's."""
CLOSE_S = 120
"""On top of gathering's deadline: reading the logs and writing the manifest come after it."""
MARK = "# A task of Incident-Arena, made by `arena task export`; change the task it was made from instead.\n"

COMPOSE = f"""\
# Harbor wants the services of a task named here. They are pods of the chart; this file is not run.
services:
  {MAIN}:
    image: incident-arena/agent
  {REFEREE}:
    image: incident-arena/harness
"""
TEST = """\
#!/bin/sh
# Judge the evidence: verdict.json, and reward.json if there is a verdict. Without one the exit status says so.
exec python3 -m incident_arena.judge /evidence /logs/verifier
"""


def export(catalogue: Catalogue, name: str, out: Path) -> TaskSpec:
    """Write a task's Harbor folder; one that is there is replaced.

    Args:
        catalogue: where the task is.
        name: its name.
        out: the folder to make.

    Raises:
        UserError: no such task, or `out` holds something else.
    """
    spec, folder = with_invariants(catalogue, catalogue.load(name)), catalogue.folder(name)
    if out.exists() and any(out.iterdir()) and not _is_export(out):
        raise UserError(f"folder {str(out)!r}", "holds something else than an exported task", "name another with --out")
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".arena-export-", dir=out.parent) as scratch:
        draft = Path(scratch) / "task"
        _write(draft / "task.toml", task_toml(spec))
        _write(draft / "instruction.md", instruction(catalogue, spec))
        _write(draft / "environment" / "task.json", task_json(spec))
        _write(draft / "environment" / "docker-compose.yaml", COMPOSE)
        values = folder / "values.yaml"
        _write(draft / "environment" / "values.yaml", values.read_text() if values.exists() else "{}\n")
        compose(catalogue, spec, draft / "environment" / "chart")
        _write(draft / "solution" / "solve.sh", (folder / "solution" / "solve.sh").read_text(), executable=True)
        library = catalogue.substrate(spec.substrate) / LIBRARY
        if library.exists():
            _write(draft / "solution" / LIBRARY, library.read_text())
        _write(draft / "tests" / "test.sh", TEST, executable=True)
        if out.exists():
            shutil.rmtree(out)
        draft.rename(out)
    return spec


def compose(catalogue: Catalogue, spec: TaskSpec, out: Path) -> None:
    """A substrate's chart with the harness in it, and in that what stores, surface and substrate add to it.

    Args:
        catalogue: where they are.
        spec: the task; of its substrate, on its surface.
        out: the folder to make.

    Raises:
        UserError: no such substrate.
    """
    substrate, harness = catalogue.substrate(spec.substrate), out / "charts" / "harness"
    _copy(substrate / "chart", out)
    _copy(catalogue.harness, harness)
    for kind in sorted(set(catalogue.kinds(spec.substrate).values())):
        _write(harness / "templates" / f"_store-{kind}.tpl", (stores.folder(kind) / "chart.tpl").read_text())
    _copy(catalogue.surfaces / spec.surface / "chart", harness / "templates")
    for file in sorted(substrate.glob("*.py")):
        _write(harness / "substrate" / file.name, file.read_text())


def with_invariants(catalogue: Catalogue, spec: TaskSpec) -> TaskSpec:
    """A task with what its substrate says must be true of all that clients witness, before what it says itself.

    Raises:
        UserError: no such substrate.
    """
    own = application.load(spec.substrate, catalogue.substrate(spec.substrate)).invariants
    return spec.model_copy(update={"invariants": [*own, *spec.invariants]})


def digest(folder: Path) -> str:
    """SHA-256 over a folder's file names, executable bits and contents, in hexadecimal."""
    total = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        mode = "x" if path.stat().st_mode & 0o100 else "-"
        total.update(f"{path.relative_to(folder).as_posix()}\0{mode}\0{path.stat().st_size}\0".encode())
        total.update(path.read_bytes())
    return total.hexdigest()


def task_json(spec: TaskSpec) -> str:
    """The facts as the pods read them."""
    return json.dumps(spec.model_dump(mode="json"), indent=1, sort_keys=True) + "\n"


def instruction(catalogue: Catalogue, spec: TaskSpec) -> str:
    """What the agent is told: the task's template over what a template may know.

    `name`, `title`, `windows`, `deadlines` and `harm_budget` of the task, its `vocabulary`, `facts` (the substrate's
    facts.toml) and `surface` (the surface's instruction.md, itself a template over the rest). Causes, symptom and
    permitted list are not among it.

    Raises:
        UserError: a file is missing.
        jinja2.TemplateError: a template is wrong, or asks for what is not there.
    """
    # What is made is Markdown, not HTML.
    templates = jinja2.Environment(undefined=jinja2.StrictUndefined, keep_trailing_newline=True, autoescape=False)  # noqa: S701
    facts = catalogue.substrate(spec.substrate) / "facts.toml"
    known: dict[str, Any] = {
        "name": spec.name,
        "title": spec.title,
        "windows": spec.windows,
        "deadlines": spec.deadlines,
        "harm_budget": spec.harm_budget,
        "vocabulary": sorted(spec.vocabulary),
        "facts": tomllib.loads(facts.read_text()) if facts.exists() else {},
    }
    surface = catalogue.surfaces / spec.surface / "instruction.md"
    if surface.exists():
        known["surface"] = templates.from_string(surface.read_text()).render(known).strip()
    template = catalogue.folder(spec.name) / "instruction.md"
    if not template.exists():
        raise UserError("instruction.md", "is missing")
    return templates.from_string(template.read_text()).render(known).strip() + "\n"


def task_toml(spec: TaskSpec) -> str:
    """Harbor's task.toml (schema 1.4)."""
    stages = spec.deadlines
    start = (
        stages.node + stages.deploy + stages.ready + stages.healthy + stages.baseline + stages.plant + stages.symptom
    )
    start += PLACE_S + 2 * stages.snapshot + SLACK_SECONDS
    return (
        MARK
        + f"""\
schema_version = "1.4"

[task]
name = {_text(spec.name)}
description = {_text(spec.title)}
keywords = {_text(["incident-response", spec.substrate, spec.surface])}

[metadata]
substrate = {_text(spec.substrate)}
surface = {_text(spec.surface)}
layer = {_text(spec.layer)}
onset = {_text(spec.onset)}

# The cluster starts, and the incident in it, before the agent does.
[environment]
build_timeout_sec = {float(start)}
# Harbor adds the host of the agent's model; nothing else is reached.
network_mode = "allowlist"

[agent]
timeout_sec = {float(spec.deadlines.agent)}

[verifier]
environment_mode = "separate"
timeout_sec = {float(JUDGE_SECONDS)}

[verifier.environment]
network_mode = "no-network"

[[verifier.collect]]
service = {_text(REFEREE)}
command = {_text(COLLECT)}
timeout_sec = {float(spec.deadlines.gather + CLOSE_S)}

[[artifacts]]
service = {_text(REFEREE)}
source = "/evidence"
"""
    )


def _text(value: str | list[str]) -> str:
    return json.dumps(value, ensure_ascii=False)  # TOML's basic strings and lists of them are written the same way


def _is_export(folder: Path) -> bool:
    spec = folder / "task.toml"
    return spec.is_file() and spec.read_text().startswith(MARK)


def _write(path: Path, text: str, *, executable: bool = False) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755 if executable else 0o644)


def _copy(source: Path, target: Path) -> None:
    """Copy a folder as files alone: links are followed, since what they name is not in the export."""
    for path in sorted(source.iterdir()):
        if path.is_dir():
            _copy(path, target / path.name)
        else:
            target.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target / path.name)
            (target / path.name).chmod(0o644)
