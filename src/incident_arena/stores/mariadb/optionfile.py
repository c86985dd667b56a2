"""MariaDB's option files: what the server would read from them at its next start.

The form is described in https://mariadb.com/kb/en/configuring-mariadb-with-option-files/: groups in brackets, `name`
or `name=value` lines, `#` and `;` comments, `-` and `_` alike in names, sizes with K, M, G.
"""

import re
from collections.abc import Iterable
from pathlib import Path

from incident_arena.formats.records import Facts
from incident_arena.stores.base import segment

_UNITS = {"k": 1024, "m": 1024**2, "g": 1024**3, "t": 1024**4}
_WORDS = {"on": "ON", "true": "ON", "yes": "ON", "off": "OFF", "false": "OFF", "no": "OFF"}
_SERVER = re.compile(r"(mysqld|server|mariadb|mariadbd)(-\d+(\.\d+)?)?")


def snapshot(folder: Path) -> Facts:
    """Picture of all `*.cnf` in a folder, in the order of their names, as the server reads an included folder.

    `<group>/<name>` to the value that holds at the end. Groups that the server reads are one: `server`. `include/<n>`
    holds a line that includes further files. `error/<file>`: a file that cannot be read.
    """
    facts: Facts = {}
    for path in sorted(folder.glob("*.cnf")):
        try:
            text = path.read_text()
        except (OSError, UnicodeDecodeError) as error:
            facts[f"error/{segment(path.name)}"] = error.__class__.__name__
        else:
            facts.update(read(text.splitlines()))
    return facts


def read(lines: Iterable[str]) -> Facts:
    """Picture of one file's lines."""
    facts: Facts = {}
    group = ""
    includes = 0
    for line in (each.strip() for each in lines):
        if not line or line[0] in "#;":
            continue
        if line.startswith("!"):
            facts[f"include/{includes}"] = line
            includes += 1
        elif line.startswith("[") and line.endswith("]"):
            group = "server" if _SERVER.fullmatch(line[1:-1]) else line[1:-1]
        else:
            name, given, value = line.partition("=")
            facts[f"{segment(group)}/{segment(_name(name))}"] = _value(value) if given else _value("ON")
    return facts


def _name(written: str) -> str:
    return written.strip().lower().replace("-", "_").removeprefix("loose_")


def _value(written: str) -> str:
    value = re.sub(r"\s+#.*$", "", written.strip())
    if value[:1] in ("'", '"') and value[-1:] == value[:1] and len(value) > 1:
        value = value[1:-1]
    if match := re.fullmatch(r"(\d+)([kmgt])", value, re.IGNORECASE):
        return str(int(match[1]) * _UNITS[match[2].lower()])
    return {"1": "ON", "0": "OFF"}.get(value, _WORDS.get(value.lower(), value))
