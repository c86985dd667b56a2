"""MariaDB's option files on the volume `mariadb-config`: the persistent settings.

MariaDB reads the files `*.cnf` of the folder in alphabetical order, a later value wins, and `-` and `_` are the same
in names (https://mariadb.com/kb/en/configuring-mariadb-with-option-files/). Only the server's groups matter here.
"""

from collections.abc import Iterator
from pathlib import Path

GROUPS = ("mysqld", "server", "mariadb", "mariadbd", "mysqld-10.11", "mariadb-10.11", "mariadbd-10.11")
OWN_FILE = "zz-operator.cnf"
"""Read last, so what is set here holds."""


def read(folder: Path) -> dict[str, str]:
    """Setting → value, as a server that starts now would see them; an option without a value is an empty string."""
    settings: dict[str, str] = {}
    for path in sorted(folder.glob("*.cnf")):
        settings |= {name: value for name, value in _options(path.read_text().splitlines()) if name}
    return settings


def write(folder: Path, name: str, value: str | None) -> None:
    """Set one setting in the operator's own file, and take it out of the others; None takes it out everywhere."""
    for path in sorted(folder.glob("*.cnf")):
        lines = path.read_text().splitlines()
        kept = [line for line, (found, _) in zip(lines, _options(lines), strict=True) if found != name]
        if kept != lines:
            _replace(path, kept)
    if value is not None:
        own = folder / OWN_FILE
        lines = own.read_text().splitlines() if own.exists() else ["[mariadbd]"]
        _replace(own, [*lines, f"{name} = {value}"])


def normal(name: str) -> str:
    """The one spelling of an option's name."""
    return name.strip().lower().replace("-", "_").removeprefix("loose_")


def _options(lines: list[str]) -> Iterator[tuple[str, str]]:
    """For each line: (name, value) when it is an option of the server, else ("", "")."""
    inside = False
    for line in lines:
        text = line.strip()
        if text.startswith("["):
            inside = text.strip("[]").strip().lower() in GROUPS
        if not inside or not text or text[0] in "#;![":
            yield "", ""
        else:
            name, _, value = text.partition("=")
            yield normal(name), value.strip().strip("\"'")


def _replace(path: Path, lines: list[str]) -> None:
    temporary = path.with_suffix(".tmp")
    temporary.write_text("\n".join(lines) + "\n")
    temporary.chmod(0o644)  # MariaDB ignores an option file that all may write
    temporary.rename(path)
