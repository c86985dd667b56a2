"""What the verdict of a run depends on, as hashes: no more than that, so that no other change makes a proof stale.

`played`: the exported task (chart, surface, the application's own Python), the script, the images that its manifests
name, the node's binaries, and the *import closure* of what runs: the programs in the pods, the kinds of store and the
faults and events of this task, and the node's own. `judged`: the import closure of the judge. Of a module its meaning
counts, not its comments.
"""

import ast
import functools
import hashlib
import importlib.util
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path

import grimp

import incident_arena
from incident_arena.catalogue.export import digest, export
from incident_arena.catalogue.finding import Catalogue
from incident_arena.episode import needs
from incident_arena.errors import UserError
from incident_arena.formats.task import TaskSpec
from incident_arena.images import build
from incident_arena.node import build as node_build
from incident_arena.settings import Settings

PACKAGE = "incident_arena"
PROGRAMS = (
    "services.referee.__main__", "services.referee.verbs", "services.load.__main__", "services.admin.__main__",
    "services.egress.__main__", "application", "faults.drawing", "workload.client", "workload.effects",
    "episode.values", "node.up",
)  # fmt: skip
"""Where the closure of what is played begins, besides the parts that are found by name at run time."""
JUDGE = ("judge.__main__",)
OURS = ("harness",)
"""Images that hold this package: of them the recipe's own files count, and the closure instead of the whole package."""


class Keys:
    """The hashes of one task's runs.

    Args:
        settings: where the node's binaries are.
        catalogue: where the task is.
        name: its name.
    """

    def __init__(self, settings: Settings, catalogue: Catalogue, name: str) -> None:
        """See the class."""
        spec = catalogue.load(name)
        kinds = catalogue.kinds(spec.substrate)
        images, task = exported(catalogue, name, settings)
        played = [task, _images(settings, images), node_build.key(), closure(entries(spec, kinds))]
        self._played = "\n".join(played)
        self.judged = closure(JUDGE)

    def played(self, script: str) -> str:
        """Of a run that plays this script."""
        return _sha(f"{self._played}\n{script}")


def entries(spec: TaskSpec, kinds: dict[str, str]) -> tuple[str, ...]:
    """Modules that a task's episode begins with; those that are found by folder are named here."""
    found = list(PROGRAMS)
    for kind in sorted(set(kinds.values())):
        found += [f"stores.{kind}.{part}" for part in ("store", "admin") if _is_there(f"stores.{kind}.{part}")]
    for planted in spec.faults:
        component, _, aspect = planted.name.rpartition(".")
        found.append(f"stores.{kinds[component]}.faults.{aspect}")
    events = sorted({one.kind for one in (*spec.challenges, *spec.scenes)})
    return (*found, *(f"services.referee.events.{kind}" for kind in events))


def _is_there(module: str) -> bool:
    """Without importing it: what runs in pods alone may need packages that are not here."""
    return importlib.util.find_spec(f"{PACKAGE}.{module}") is not None


def closure(modules: Iterable[str]) -> str:
    """One hash over modules and all of this package that they import, directly or not."""
    graph = _graph()
    names: set[str] = set()
    for module in (f"{PACKAGE}.{name}" for name in modules):
        if module not in graph.modules:
            raise UserError(f"module {module!r}", "is not in the package", "mend proving/keys.py")
        names |= {module} | graph.find_upstream_modules(module)
    names |= {parent for name in names for parent in _parents(name)}
    root = Path(incident_arena.__file__).parent
    return _sha("\n".join(f"{name} {_sha(meaning(_file(root, name).read_text()))}" for name in sorted(names)))


def meaning(source: str) -> str:
    """What a module does: its syntax tree, in which comments and layout are not, nor words that stand for themselves.

    Such words are docstrings. None of this package's programs reads one, but for argparse, which is told its texts.
    """
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = [one for one in node.body if not _is_words(one)]
    return ast.dump(tree)


def _is_words(statement: ast.stmt) -> bool:
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Constant):
        return False
    return isinstance(statement.value.value, str)


@functools.cache
def _graph() -> grimp.ImportGraph:
    return grimp.build_graph(PACKAGE)


def _parents(name: str) -> Iterable[str]:
    """Packages that are imported with a module."""
    parts = name.split(".")
    return (".".join(parts[:count]) for count in range(1, len(parts)))


def _file(root: Path, name: str) -> Path:
    path = root.joinpath(*name.split(".")[1:])
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def exported(catalogue: Catalogue, name: str, settings: Settings | None = None) -> tuple[frozenset[str], str]:
    """What a task is once it is exported, without the solution: that is hashed with the run that plays it.

    Args:
        catalogue: where the task is.
        name: its name.
        settings: where helm is; without them the chart is not rendered.

    Returns:
        The images that its manifests name, and its digest.
    """
    with tempfile.TemporaryDirectory(prefix="arena-proof-") as scratch:
        folder = Path(scratch) / "task"
        export(catalogue, name, folder)
        images = needs.image_names(settings, folder / "environment") if settings else frozenset[str]()
        shutil.rmtree(folder / "solution")
        return images, digest(folder)


def _images(settings: Settings, names: frozenset[str]) -> str:
    lines = []
    for one in build.list_images(settings, sorted(names)):
        name, key = one.image.name, one.image.key
        if name in OURS:
            own = [item for item in one.context if not item.to.startswith(PACKAGE)]
            below = [each.image.key for each in build.list_images(settings, one.recipe.uses)]
            key = _sha(" ".join([*below, *(f"{item.to} {hashlib.sha256(item.content()).hexdigest()}" for item in own)]))
        lines.append(f"{name} {key}")
    return "\n".join(lines)


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
