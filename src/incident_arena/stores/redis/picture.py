"""A Redis server's picture.

    config/live/<parameter>                   `CONFIG GET *`; passwords as digests
    config/file/<parameter>                   the same from redis.conf, written as `CONFIG GET` would show it
    config/file/error                         why redis.conf could not be read
    acl/live/<user>/enabled|nopass|sanitize-payload
    acl/live/<user>/passwords/<digest>        True for each
    acl/live/<user>/commands/<command>        True for each command that the rules allow (`config|get`: a subcommand)
    acl/live/<user>/keys/<pattern>            `~pattern`, or `%R~pattern` where only reading is allowed
    acl/live/<user>/channels/<pattern>
    acl/live/<user>/selectors/<n>/…           commands, keys, channels of each further selector
    acl/file/…                                the same from the ACL file; acl/file/error: why it could not be read
    server/role                               `master`, or what it replicates
    functions/<library>                       digest of a function library's code
    modules/<module>                          version of a loaded module
    foreign/<key>                             type of a key whose name has none of the application's beginnings

A missing path means: not so. Left out, because they change by themselves: keys of the application and everything that
INFO counts. No parameter of CONFIG changes by itself.
"""

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path

from incident_arena.errors import ArenaError, UserError
from incident_arena.formats.records import Facts, Scalar
from incident_arena.stores.base import digest, segment
from incident_arena.stores.redis import acl, options
from incident_arena.stores.redis.client import Commands

SECRETS = frozenset({"requirepass", "masterauth", "tls-key-file-pass", "tls-client-key-file-pass"})
SCAN_COUNT = 1000
FOREIGN_MOST = 200
"""So many foreign keys are named; more are only counted."""
GONE = "none"
"""The type of a key that is no longer there: popped or expired since it was listed."""

REWRITTEN_DEFAULTS = {
    "latency-tracking-info-percentiles": "50 99 99.9",
    "save": "3600 1 300 100 60 10000",
}
"""What CONFIG REWRITE writes into a file that does not have it, although it is the default: no difference."""

_UNITS = {"": 1, "b": 1, "k": 1000, "kb": 1024, "m": 10**6, "mb": 1024**2, "g": 10**9, "gb": 1024**3}


def snapshot(redis: Commands, data: Path | None, *, own_keys: Sequence[str] | None) -> Facts:
    """Read a server and its saved files.

    Args:
        redis: connection of an account that may do everything.
        data: folder with redis.conf and users.acl; None: the saved state is left out.
        own_keys: beginnings of the application's own key names; None: keys are not looked at.

    Raises:
        StoreError: the server cannot be read. A saved file that cannot be read is a fact, not an error.
    """
    facts: Facts = {}
    table = acl.command_table(redis)
    live = {str(name): str(value) for name, value in redis.command("CONFIG", "GET", "*").items()}
    for name, value in live.items():
        facts[f"config/live/{segment(name)}"] = _shown(name, value)
    _put(facts, "acl/live", acl.facts(acl.parse(redis.command("ACL", "LIST"), table)))
    if data is not None:
        _put(facts, "config/file", file_facts(data / "redis.conf", live))
        _put(facts, "acl/file", acl_file_facts(data / "users.acl", table))
    facts["server/role"] = _role(redis)
    for library in redis.command("FUNCTION", "LIST", "WITHCODE"):
        facts[f"functions/{segment(library['library_name'])}"] = digest(library["library_code"])
    for module in redis.command("MODULE", "LIST"):
        facts[f"modules/{segment(module['name'])}"] = str(module["ver"])
    if own_keys is not None:
        _put(facts, "foreign", _foreign(redis, tuple(own_keys)))
    return facts


def acl_file_facts(path: Path, table: acl.Table) -> Facts:
    """An ACL file's users; `error` when the server would refuse it."""
    try:
        return acl.facts(acl.parse(path.read_text().splitlines(), table))
    except (OSError, UnicodeDecodeError) as error:
        return {"error": f"cannot be read: {error.__class__.__name__}"}
    except ArenaError as error:
        return {"error": f"{error.thing}: {error.reason}"}


def file_facts(path: Path, live: dict[str, str]) -> Facts:
    """Read redis.conf.

    Args:
        path: the file.
        live: `CONFIG GET *` of the running server: says how a parameter's values are written (bytes or words).
    """
    try:
        values = options.read(path.read_text())
    except (OSError, UnicodeDecodeError) as error:
        return {"error": f"cannot be read: {error.__class__.__name__}"}
    except UserError as error:
        return {"error": f"{error.thing}: {error.reason}"}
    shown = {name: _shown(name, _as_live(name, lines, live)) for name, lines in values.items()}
    return {segment(name): value for name, value in shown.items() if REWRITTEN_DEFAULTS.get(name) != value}


def _as_live(name: str, lines: list[list[str]], live: dict[str, str]) -> str:
    """A directive's value in the form in which `CONFIG GET` shows it."""
    if name == "save":
        # An empty line clears what came before; several lines, or several pairs in one, add up.
        kept: list[str] = []
        for words in lines:
            kept = [] if words in ([], [""]) else [*kept, *words]
        return " ".join(kept)
    if name == "client-output-buffer-limit":
        return _buffer_limits(lines, live.get(name, ""))
    if name in ("user", "include", "loadmodule", "rename-command"):
        return "; ".join(sorted(" ".join(words) for words in lines))
    words = lines[-1]
    if len(words) == 1 and name in live and live[name].lstrip("-").isdecimal():
        return str(_bytes(words[0]))
    return " ".join(words)


def _buffer_limits(lines: list[list[str]], live: str) -> str:
    """`class hard soft seconds` for each class, sizes in bytes; classes that no line names keep the live value."""
    classes: dict[str, str] = {}
    for words in [live.split(), *lines]:
        for start in range(0, len(words) - 3, 4):
            name, hard, soft, seconds = words[start : start + 4]
            known = "slave" if name == "replica" else name
            classes[known] = f"{known} {_bytes(hard)} {_bytes(soft)} {seconds}"
    return " ".join(classes[name] for name in ("normal", "slave", "pubsub") if name in classes)


def _bytes(word: str) -> int | str:
    match = re.fullmatch(r"(-?\d+)([a-z]*)", word.lower())
    return int(match[1]) * _UNITS[match[2]] if match and match[2] in _UNITS else word


def _shown(name: str, value: str) -> Scalar:
    return f"sha256:{hashlib.sha256(value.encode()).hexdigest()[:16]}" if name in SECRETS and value else value


def _role(redis: Commands) -> str:
    answer = redis.command("ROLE")
    return str(answer[0]) if answer[0] == "master" else f"{answer[0]} of {answer[1]}:{answer[2]}"


def _foreign(redis: Commands, own: tuple[str, ...]) -> Facts:
    """Keys of nobody's."""
    foreign: list[str] = []
    cursor = "0"
    while True:
        cursor, names = redis.command("SCAN", cursor, "COUNT", SCAN_COUNT)
        foreign += [str(name) for name in names if not str(name).startswith(own)]
        if str(cursor) == "0":
            break
    named = sorted(set(foreign))
    types = {segment(name): str(redis.command("TYPE", name)) for name in named[:FOREIGN_MOST]}
    facts: Facts = {name: kind for name, kind in types.items() if kind != GONE}
    if len(named) > FOREIGN_MOST:
        facts["more"] = len(named) - FOREIGN_MOST
    return facts


def _put(facts: Facts, base: str, more: Facts) -> None:
    facts.update({f"{base}/{path}": value for path, value in more.items()})
