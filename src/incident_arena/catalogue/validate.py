"""What a task must fulfil beyond its format; all that is wrong with one at once."""

from collections.abc import Iterator
from pathlib import Path

import jinja2

from incident_arena import application, faults, stores
from incident_arena.catalogue import export
from incident_arena.catalogue.finding import Catalogue
from incident_arena.catalogue.scripts import wrong_fixes
from incident_arena.errors import UserError
from incident_arena.faults import drawing
from incident_arena.formats.task import Event, TaskSpec
from incident_arena.services.referee import events
from incident_arena.services.referee.events import passed, peak, schedule

UNSUPPORTED = {
    ("configuration", "build-capable"): "no change of the source would repair a configuration",
    ("runtime", "build-capable"): "no change of the source would repair a live state",
}
"""The cells of layer and surface that can't be: the other seven can."""
LEAST_SAMPLES = 40
"""Operations that each judged kind must have in each window."""


def problems(catalogue: Catalogue, name: str) -> list[str]:
    """All that is wrong with a task, a line each; empty when it is right.

    Raises:
        UserError: there is no such task.
    """
    folder = catalogue.folder(name)
    try:
        spec = catalogue.load(name)
    except UserError as error:
        return [line.strip() for line in error.reason.strip().splitlines()]
    found = [*_parts(catalogue, spec), *_files(catalogue, folder, spec)]
    if spec.substrate in catalogue.substrates:
        found += [*_faults(catalogue, spec), *_policy(spec), *_load(catalogue, spec), *_events(catalogue, spec)]
    return found


def require_valid(catalogue: Catalogue, name: str) -> TaskSpec:
    """A task's facts.

    Raises:
        UserError: with all that is wrong.
    """
    if wrong := problems(catalogue, name):
        raise UserError(f"task {name!r}", "\n  " + "\n  ".join(wrong), "mend it, then `arena task validate`")
    return catalogue.load(name)


def _parts(catalogue: Catalogue, spec: TaskSpec) -> Iterator[str]:
    if spec.substrate not in (known := catalogue.substrates):
        yield f"substrate: {spec.substrate!r} is unknown; one of: {', '.join(known)}"
    elif not spec.name.startswith(f"{spec.substrate}/"):
        yield f"substrate: is {spec.substrate!r}, but the task is in the folder of {spec.name.partition('/')[0]!r}"
    if spec.surface not in catalogue.surface_names():
        yield f"surface: {spec.surface!r} does not exist yet; one of: {', '.join(catalogue.surface_names())}"
    if reason := UNSUPPORTED.get((spec.layer, spec.surface)):
        yield f"layer, surface: {spec.layer} x {spec.surface} is not supported: {reason}"


def _faults(catalogue: Catalogue, spec: TaskSpec) -> Iterator[str]:
    names = [planted.name for planted in spec.faults]
    kinds = catalogue.kinds(spec.substrate)
    for planted in spec.faults:
        for variant in drawing.variants(planted):
            try:
                faults.read(variant, kinds)
            except UserError as error:
                yield f"faults: {error.thing}: {error.reason}; {error.remedy}"
        if planted.name not in spec.vocabulary:
            yield f"vocabulary: lacks {planted.name!r}, which is planted"
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"faults: {name!r} is planted twice"


def _policy(spec: TaskSpec) -> Iterator[str]:
    if spec.policy.declaring == "recorded" and not spec.faults:
        yield "policy: where nothing is broken and a declaration is only recorded, doing nothing would be a repair"


def _load(catalogue: Catalogue, spec: TaskSpec) -> Iterator[str]:
    valid = application.load(spec.substrate, catalogue.substrate(spec.substrate)).kinds
    for kind in sorted({*spec.load.kinds, *spec.symptom.kinds} - set(valid)):
        yield f"load: kind {kind!r} is unknown; one of: {', '.join(valid)}"
    for kind in sorted(set(spec.symptom.kinds) - set(spec.load.kinds)):
        yield f"symptom: kind {kind!r} is not in the load"
    judged = {name: kind for name, kind in spec.load.kinds.items() if kind.judged}
    if not judged:
        yield "load: no kind is judged"
    for name, load in sorted(judged.items()):
        for window, seconds in spec.windows:
            if load.rate * seconds < LEAST_SAMPLES:
                samples = f"{load.rate * seconds:g} operations in the {window} window of {seconds:g} s"
                yield f"load: kind {name!r} has {samples}; at least {LEAST_SAMPLES} are needed to judge it"


def _events(catalogue: Catalogue, spec: TaskSpec) -> Iterator[str]:
    for name, listed in (("challenges", spec.challenges), ("scenes", spec.scenes)):
        for event in listed:
            yield from (f"{name}: {wrong}" for wrong in _event(catalogue, spec, event))
        stages = [event.stage for event in listed]
        for stage in sorted({stage for stage in stages if stages.count(stage) > 1}):
            yield f"{name}: {stage!r} is there twice"


def _event(catalogue: Catalogue, spec: TaskSpec, event: Event) -> Iterator[str]:
    try:
        given = events.read(event)
    except UserError as error:
        yield f"{error.thing}: {error.reason}; {error.remedy}"
        return
    components, kinds = catalogue.components(spec.substrate), catalogue.kinds(spec.substrate)
    known = {
        "restart": components,
        "reconcile": components,
        "churn": tuple(kinds),
        "passed": tuple(kinds),
        "grow": tuple(name for name, kind in kinds.items() if stores.grows(kind)),
    }
    if event.component not in known.get(event.kind, ("",)):
        valid = ", ".join(sorted(known.get(event.kind, ()))) or "none: it is done to all"
        yield f"{event.kind} of {event.component!r}: no such component; one of: {valid}"
    elif isinstance(given, passed.Parameters):
        try:
            passed.planted(event, given, kinds)
        except UserError as error:
            yield f"{error.thing}: {error.reason}; {error.remedy}"
    own = application.load(spec.substrate, catalogue.substrate(spec.substrate))
    for thing, asked, known_ones in (
        ("job", [given.job] if isinstance(given, schedule.Parameters) else [], own.schedules),
        ("kind", given.kinds if isinstance(given, peak.Parameters) else [], tuple(spec.load.kinds)),
    ):
        for name in sorted(set(asked) - set(known_ones)):
            yield f"{event.kind}: {thing} {name!r} is unknown; one of: {', '.join(sorted(known_ones)) or 'none'}"


def _files(catalogue: Catalogue, folder: Path, spec: TaskSpec) -> Iterator[str]:
    try:
        text = export.instruction(catalogue, spec)
    except (OSError, jinja2.TemplateError, UserError) as error:
        yield f"instruction.md: {error}"
    else:
        for planted in spec.faults:
            if planted.name in text:
                yield f"instruction.md: names the cause {planted.name!r}"
    solve = folder / "solution" / "solve.sh"
    if not solve.is_file():
        yield "solution/solve.sh: is missing"
    for script in sorted((*(folder / "solution").glob("*.sh"), *(folder / "wrong").glob("*.sh"))):
        if not script.read_text().startswith("#!"):
            yield f"{script.relative_to(folder)}: has no #! line"
    try:
        wrong_fixes(folder)
    except UserError as error:
        yield f"{error.thing}: {error.reason}; {error.remedy}"
