r"""What one SQL statement does, as far as its text tells. What the server did is in audit.py.

The server tells statements apart itself: of `SELECT 1; DELETE …` each is audited by itself, and of a prepared one the
statement, not `EXECUTE`. So only what is inside one statement can hide. Where its meaning depends on something that
the text does not tell (the server's version, for `/*!50000 … */`; `sql_mode` and the character set, for a backslash in
a string), every reading of it counts.
"""

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

from incident_arena.formats.records import UNREADABLE


class Effect(IntEnum):
    """What a statement may do, from nothing to the most."""

    ARRANGES = 0
    """Only this session: clients send such by themselves."""
    LOOKS = 1
    HOLDS = 2
    """Others may wait for it, although nothing changes."""
    CHANGES = 3
    """Or nobody can say."""


@dataclass(frozen=True)
class Statement:
    """One statement.

    Attributes:
        name: short (`GRANT`, `SET GLOBAL`); empty when there is none.
        effect: the worst of all readings.
        certain: all readings say the same, so that what the server did decides where the text alone does not.
        words: in capitals, without comments; a string is one word with its quotes, a name in backticks has them.
    """

    name: str
    effect: Effect
    certain: bool = True
    words: tuple[str, ...] = ()

    @property
    def locks(self) -> bool:
        """It asks for locks on the rows that it reads."""
        return any(pair in {("FOR", "UPDATE"), ("SHARE", "MODE")} for pair in itertools.pairwise(self.words))


EXPLAINS = frozenset({"EXPLAIN", "DESCRIBE", "DESC"})
UNLOCKED = frozenset({"SELECT", "WITH", "VALUES", "ANALYZE", "HANDLER", "CHECK", "CHECKSUM", "HELP"}) | EXPLAINS
"""Statements whose reads take no locks of rows. All others' do: `DO (SELECT …)`, `SET @a = (SELECT …)`, and so on."""
LOOKS = UNLOCKED | {"SHOW", "TABLE", "DO"}
"""First words of statements that only look; exceptions are in `_one`."""
HOUSEKEEPING = frozenset(
    {"SET", "USE", "BEGIN", "START", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE", "PREPARE", "DEALLOCATE", ""}
)
"""First words of statements that only arrange the session."""
ENDS = frozenset({"UNLOCK TABLES", "DROP PREPARE"})
"""The same, in two words."""
NAMED_BY_TWO = frozenset({"CREATE", "DROP", "ALTER", "FLUSH", "LOCK", "UNLOCK", "LOAD", "OPTIMIZE", "REPAIR", "RENAME"})
WRITES = frozenset({"INSERT", "UPDATE", "DELETE", "REPLACE"})
ACTS = {"TX_ISOLATION": "SET TRANSACTION", "TRANSACTION_ISOLATION": "SET TRANSACTION", "COMPLETION_TYPE": "SET"}
"""Variables of a session by which a plain SELECT locks, or a transaction goes on behind its COMMIT."""
HARMLESS = frozenset({"'READ-UNCOMMITTED'", "'READ-COMMITTED'", "'REPEATABLE-READ'"})

VERSIONED_MOST = 3
"""Comments of versions in one statement that are read in every combination; nobody who looks writes more."""
_SKIPPED = (
    r"`[^`]*(?:`|\Z)"
    r"|/\*(?!M?!).*?(?:\*/|(?P<open>\Z))|--(?=[\x00-\x20\x7f]|\Z)[^\n]*|\#[^\n]*"
    r"|(?P<versioned>/\*M?!\d*)|(?P<end>\*/)|[A-Za-z0-9_$\x80-\U0010ffff]+|@@|\S"
)
_TOKENS = tuple(
    re.compile(f"{strings}|{_SKIPPED}", re.DOTALL | re.ASCII)
    for strings in (
        r"'(?:[^'\\]|\\.?|'')*(?:'|\Z)|\"(?:[^\"\\]|\\.?|\"\")*(?:\"|\Z)",
        r"'[^']*(?:'|\Z)|\"[^\"]*(?:\"|\Z)",  # NO_BACKSLASH_ESCAPES, or a character's second byte
    )
)
"""Strings, names and comments, whichever begins first; of `/*!50000 … */` only the frame. What is open runs to the
end, so that no text takes longer than its length."""
_OPEN, _CLOSE = "\x01", "\x02"
_NAME = re.compile(r"[A-Z@]+(_[A-Z]+)*( [A-Z_@]+)?\Z")


def read(text: str) -> Statement:
    """The worst reading of a statement; when in doubt it changes something."""
    readings = [_worst(words) for tokens in _TOKENS for words in _readings(tokens, text)]
    worst = max(readings, key=lambda each: each.effect)
    same = {(each.name, each.effect) for each in readings} == {(worst.name, worst.effect)}
    return Statement(worst.name, worst.effect, same, worst.words)


def _readings(pattern: re.Pattern[str], text: str) -> Iterator[list[str]]:
    """The words of a text, once for each way in which comments of versions may count."""
    words: list[str] = []
    for found in pattern.finditer(text):
        token = found[0]
        if found["open"] is not None:
            words = ["/*"]  # the server may have refused it, or not
            break
        if found["versioned"] or found["end"]:
            words.append(_OPEN if found["versioned"] else _CLOSE)
        elif not (token.startswith(("/*", "--", "#"))):
            words.append(token.upper())
    frames = words.count(_OPEN)
    if frames > VERSIONED_MOST:
        words, frames = ["/*"], 0
    for kept in itertools.product((True, False), repeat=frames):
        yield _without(words, kept)


def _without(words: list[str], kept: tuple[bool, ...]) -> list[str]:
    """The words, without those in comments of versions that do not count."""
    if not kept:
        return [word for word in words if word != _CLOSE]
    found, number, inside = [], -1, False
    for word in words:
        if word == _OPEN:
            number, inside = number + 1, True
        elif word == _CLOSE:
            inside = False
        elif not inside or kept[number]:
            found.append(word)
    return found


def _worst(words: list[str]) -> Statement:
    """Of several statements in one text, which are a block of code, the first that does the most."""
    parts = [list(part) for is_end, part in itertools.groupby(words, key=lambda word: word == ";") if not is_end]
    each = [_known(_one(list(itertools.dropwhile(lambda word: word == "(", part)))) for part in parts]
    return max(each, key=lambda one: one.effect, default=Statement("", Effect.ARRANGES))


def _known(one: Statement) -> Statement:
    return one if not one.name or _NAME.match(one.name) else Statement(UNREADABLE, Effect.CHANGES)


def _one(words: list[str]) -> Statement:
    if words[:2] == ["SET", "STATEMENT"]:
        *settings, inner = _split(words, "FOR", most=1)
        name, effect = _set(settings[0]) if settings else ("SET STATEMENT", Effect.CHANGES)
        return Statement(name, effect) if effect > Effect.ARRANGES else _one(inner)
    if words[:3] == ["CREATE", "OR", "REPLACE"]:
        words = ["CREATE", *words[3:]]
    name, effect = _named(words)
    if "GET_LOCK" in words and effect < Effect.HOLDS:
        return Statement("GET_LOCK", Effect.HOLDS, words=tuple(words))
    found = Statement(name, effect, words=tuple(words))
    if found.locks and name not in EXPLAINS and effect < Effect.HOLDS:
        return Statement("LOCK ROWS", Effect.HOLDS, words=tuple(words))
    return found


def _named(words: list[str]) -> tuple[str, Effect]:
    """A statement's name and effect, its locks left out of account."""
    name, second, rest = "".join(words[:1]), words[1:2], set(words[1:])
    if name == "SET":
        return _set(words)
    if name in NAMED_BY_TWO:
        both = " ".join(words[:2])
        return both, Effect.ARRANGES if both in ENDS else Effect.CHANGES
    if "ANALYZE" in words[:2]:  # runs what it explains; ANALYZE TABLE renews statistics
        table = second == ["TABLE"]
        return "ANALYZE TABLE" if table else "ANALYZE", Effect.CHANGES if table or WRITES & rest else Effect.LOOKS
    if name in LOOKS:
        return name, Effect.CHANGES if {"OUTFILE", "DUMPFILE"} & rest else Effect.LOOKS
    block = name == "BEGIN" and second == ["NOT"]  # BEGIN NOT ATOMIC is code
    return name, Effect.ARRANGES if name in HOUSEKEEPING and not block else Effect.CHANGES


def _set(words: list[str]) -> tuple[str, Effect]:
    """SET does more than arrange its session with global variables, passwords, default roles, and some of its own."""
    if words[1:2] in (["PASSWORD"], ["DEFAULT"]):
        return f"SET {words[1]}", Effect.CHANGES
    if "SERIALIZABLE" in words:
        return "SET TRANSACTION", Effect.CHANGES
    for setting in _split(words[1:], ","):
        variable, *value = _split([word.strip("`") for word in setting], "=", most=1)
        if "GLOBAL" in variable:
            return "SET GLOBAL", Effect.CHANGES
        name = next((ACTS[word] for word in variable if word in ACTS), "")
        if name and (not value or len(value[0]) != 1 or value[0][0].replace('"', "'") not in HARMLESS):
            return name, Effect.CHANGES
    return "SET", Effect.ARRANGES


def _split(words: list[str], at: str, *, most: int = -1) -> list[list[str]]:
    """The parts between words `at` that stand in no brackets; the first `most` of them divide."""
    parts, depth = [list[str]()], 0
    for word in words:
        depth += {"(": 1, ")": -1}.get(word, 0)
        if word == at and depth == 0 and len(parts) != most + 1:
            parts.append([])
        else:
            parts[-1].append(word)
    return parts
