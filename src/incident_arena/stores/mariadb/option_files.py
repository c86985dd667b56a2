"""MariaDB's option files: what the server would read from them at its next start, and how the operators change it.

The form is described in https://mariadb.com/kb/en/configuring-mariadb-with-option-files/: groups in brackets, `name`
or `name=value` lines, `#` and `;` comments, `-` and `_` alike in names, sizes with K, M, G. The server reads the files
`*.cnf` of the folder in the order of their names, and a later value wins.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeGuard

from incident_arena.formats.records import Facts
from incident_arena.stores.base import segment

SERVER = "server"
"""All groups that the server reads are this one."""
OWN_FILE = "zz-operator.cnf"
"""Read last, so what is set here holds."""
_READ_BY_SERVER = re.compile(r"(mysqld|server|mariadb|mariadbd)(-\d+(\.\d+)?)?")
_UNITS = {"k": 1024, "m": 1024**2, "g": 1024**3, "t": 1024**4}
_WORDS = {"on": "ON", "true": "ON", "yes": "ON", "off": "OFF", "false": "OFF", "no": "OFF"}


@dataclass(frozen=True)
class Option:
    """One line that sets an option. The value is as written, without quotes and comment; None: there is no `=`."""

    group: str
    name: str
    value: str | None


type Line = Option | str | None
"""What a line is: an option; a line that includes further files, as it stands; neither."""


def parse(lines: Iterable[str]) -> Iterator[Line]:
    """Read one file, line by line."""
    group = ""
    for line in (each.strip() for each in lines):
        if not line or line[0] in "#;":
            yield None
        elif line.startswith("!"):
            yield line
        elif line.startswith("[") and "]" in line:
            group = line[1 : line.index("]")].strip()
            group = SERVER if _READ_BY_SERVER.fullmatch(group.lower()) else group
            yield None
        else:
            name, given, value = line.partition("=")
            yield Option(group, normal(name), _bare(value) if given else None)


def normal(name: str) -> str:
    """The one spelling of an option's name."""
    return name.strip().lower().replace("-", "_").removeprefix("loose_")


def snapshot(folder: Path) -> Facts:
    """Picture of a folder: `<group>/<name>` to the meaning of the value that holds at the end.

    `include/<n>` holds a line that includes further files. `error/<file>`: a file that cannot be read.
    """
    facts: Facts = {}
    for path in _files(folder):
        try:
            text = path.read_text()
        except (OSError, UnicodeDecodeError) as error:
            facts[f"error/{segment(path.name)}"] = error.__class__.__name__
        else:
            facts.update(picture(text.splitlines()))
    return facts


def picture(lines: Iterable[str]) -> Facts:
    """Picture of one file's lines."""
    facts: Facts = {}
    includes = 0
    for line in parse(lines):
        if isinstance(line, Option):
            facts[f"{segment(line.group)}/{segment(line.name)}"] = _meaning("ON" if line.value is None else line.value)
        elif line is not None:
            facts[f"include/{includes}"] = line
            includes += 1
    return facts


def settings(folder: Path) -> dict[str, str]:
    """The server's settings as they are written; one without a value is an empty string.

    Raises:
        OSError: a file cannot be read.
    """
    found: dict[str, str] = {}
    for path in _files(folder):
        lines = parse(path.read_text(errors="replace").splitlines())
        found |= {line.name: line.value or "" for line in lines if _of_server(line)}
    return found


def write(folder: Path, name: str, value: str | None) -> None:
    """Set one of the server's settings in the operators' own file, and take it out of the others.

    None takes it out everywhere.

    Raises:
        OSError: a file cannot be read or written.
    """
    for path in _files(folder):
        lines = path.read_text().splitlines()
        kept = [line for line, read in zip(lines, parse(lines), strict=True) if not _of_server(read, name)]
        if kept != lines:
            _replace(path, kept)
    if value is not None:
        own = folder / OWN_FILE
        lines = own.read_text().splitlines() if own.exists() else ["[mariadbd]"]
        _replace(own, [*lines, f"{name} = {value}"])


def _files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.cnf"))


def _of_server(line: Line, name: str | None = None) -> TypeGuard[Option]:
    """Whether a line sets an option of the server (this one)."""
    return isinstance(line, Option) and line.group == SERVER and name in {None, line.name}


def _bare(written: str) -> str:
    value = re.sub(r"\s+#.*$", "", written.strip())
    quoted = value[:1] in ("'", '"') and value[-1:] == value[:1] and len(value) > 1
    return value[1:-1] if quoted else value


def _meaning(value: str) -> str:
    if match := re.fullmatch(r"(\d+)([kmgt])", value, re.IGNORECASE):
        return str(int(match[1]) * _UNITS[match[2].lower()])
    return {"1": "ON", "0": "OFF"}.get(value, _WORDS.get(value.lower(), value))


def _replace(path: Path, lines: list[str]) -> None:
    temporary = path.with_suffix(".tmp")
    temporary.write_text("\n".join(lines) + "\n")
    temporary.chmod(0o644)  # MariaDB ignores an option file that all may write
    temporary.rename(path)
