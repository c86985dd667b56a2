"""Where data stands: in this package, so that a checkout and a wheel are the same, and in substrates beside it.

    harness/chart/              the chart that every substrate's gets as a part
    substrates/<name>/          one application: chart/, tasks/<task>/, images/<image>/, and what describes it
    surfaces/<name>/            what an agent may see and do
    stores/<kind>/images/       images of one data store
    images/recipes/             all other images; images/agent_recipes/ the agents' programs
    node/go/                    the Go module of the node's binaries

Nothing is written below it: what is made goes to ARENA_HOME, or below the current folder.
"""

from collections.abc import Sequence
from pathlib import Path

from incident_arena.errors import UserError

PACKAGE = Path(__file__).resolve().parent
VARIABLE = "ARENA_SUBSTRATES"
_MARK = Path("chart") / "Chart.yaml"


def checkout() -> Path | None:
    """The checkout that this package is in; None when it is installed."""
    root = PACKAGE.parents[1]
    return root if (root / "pyproject.toml").is_file() and PACKAGE.parent.name == "src" else None


def substrates(package: Path, others: Sequence[Path]) -> dict[str, Path]:
    """The folder of each substrate by its name, which is the folder's.

    Args:
        package: whose `substrates/` are looked through.
        others: folders of substrates that stand elsewhere; one of these stands for the package's own of the same name.

    Raises:
        UserError: one of the others is no substrate's folder, or two have the same name.
    """
    own = sorted((package / "substrates").glob(f"*/{_MARK}"))
    found = {path.parents[1].name: path.parents[1] for path in own}
    given: dict[str, Path] = {}
    for folder in others:
        if not (folder / _MARK).is_file():
            reason = "there is no such folder" if not folder.is_dir() else f"has no {_MARK}"
            raise UserError(
                f"substrate {str(folder)!r}", reason, f"{VARIABLE} names folders of substrates, with : between"
            )
        if folder.name in given:
            reason = f"has the name of another, {str(given[folder.name])!r}"
            raise UserError(f"substrate {str(folder)!r}", reason, f"rename it, or name one of them in {VARIABLE}")
        given[folder.name] = folder
    return dict(sorted({**found, **given}.items()))
