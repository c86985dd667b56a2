"""What a Redis ACL means: the commands, keys and channels that a user effectively has.

`ACL LIST` and an ACL file hold the same lines (`user <name> <rules…>`), so one reader serves the live and the saved
state, and two texts with one meaning give the same picture. Rules are applied in order, as in Redis 7's ACL
documentation (https://redis.io/docs/latest/operate/oss_and_stack/management/security/acl/); what a command or a
category covers comes from the server's own `COMMAND`.
"""

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from incident_arena.errors import UserError
from incident_arena.formats.records import Facts
from incident_arena.stores.base import segment
from incident_arena.stores.redis.client import Commands


@dataclass(frozen=True)
class Table:
    """The server's commands.

    Attributes:
        categories: name (`config|get` for a subcommand) to the categories it is in, without `@`.
        unruled: commands to which a right means nothing: everyone may call them (AUTH), or nobody can without a
            subcommand (CONFIG).
    """

    categories: dict[str, frozenset[str]]
    unruled: frozenset[str] = frozenset()

    def subcommands(self, name: str) -> list[str]:
        """All subcommands of a command."""
        return [each for each in self.categories if each.startswith(f"{name}|")]


def command_table(redis: Commands) -> Table:
    """Ask the server for its commands."""
    table: dict[str, frozenset[str]] = {}
    unruled: set[str] = set()

    def add(entries: Iterable[Sequence[Any]]) -> None:
        for entry in entries:
            table[str(entry[0]).lower()] = frozenset(str(category).lstrip("@").lower() for category in entry[6])
            if "no_auth" in entry[2] or (entry[9] and int(entry[1]) == _NEEDS_SUBCOMMAND):
                unruled.add(str(entry[0]).lower())
            add(entry[9])

    add(redis.command("COMMAND"))
    return Table(table, frozenset(unruled))


_NEEDS_SUBCOMMAND = -2
"""Arity of a command that takes at least one word after its name."""


@dataclass
class Selector:
    """One set of permissions: what the user's own rules give, or one parenthesised selector."""

    commands: set[str] = field(default_factory=set)
    keys: set[str] = field(default_factory=set)
    channels: set[str] = field(default_factory=set)

    def apply(self, rule: str, table: Table) -> bool:
        """Apply one rule; False when it is none about commands, keys or channels.

        Raises:
            UserError: it names a command or category that the server does not have.
        """
        lower = rule.lower()
        match lower:
            case "allcommands" | "+@all":
                self.commands = table.categories.keys() - table.unruled
            case "nocommands" | "-@all":
                self.commands = set()
            case "allkeys" | "~*":
                self.keys = {"~*"}
            case "resetkeys":
                self.keys = set()
            case "allchannels" | "&*":
                self.channels = {"*"}
            case "resetchannels":
                self.channels = set()
            case _:
                return self._apply_pattern(rule, lower, table)
        return True

    def _apply_pattern(self, rule: str, lower: str, table: Table) -> bool:
        if rule.startswith("&"):
            self._add(self.channels, rule[1:], "*")
        elif rule.startswith("~"):
            self._add(self.keys, rule, "~*")
        elif match := re.fullmatch(r"%([rw]+)~(.*)", rule, re.IGNORECASE | re.DOTALL):
            access = "".join(sorted(set(match[1].upper())))
            pattern = match[2]
            self._add(self.keys, f"~{pattern}" if access == "RW" else f"%{access}~{pattern}", "~*")
        elif rule[:2] in ("+@", "-@"):
            self._category(lower[0], lower[2:], table)
        elif rule[:1] in ("+", "-"):
            self._command(lower[0], lower[1:], table)
        else:
            return False
        return True

    @staticmethod
    def _add(patterns: set[str], pattern: str, everything: str) -> None:
        if everything not in patterns:
            patterns.add(pattern)

    def _category(self, sign: str, category: str, table: Table) -> None:
        covered = {name for name, categories in table.categories.items() if category in categories}
        if not covered:
            valid = ", ".join(sorted(frozenset().union(*table.categories.values())))
            raise UserError(f"ACL category '{category}'", "the server has no such category", f"one of: {valid}")
        for name in list(covered):
            covered.update(table.subcommands(name))
        covered -= table.unruled
        self.commands = self.commands | covered if sign == "+" else self.commands - covered

    def _command(self, sign: str, name: str, table: Table) -> None:
        if name not in table.categories:
            first, _, argument = name.partition("|")
            if first not in table.categories or not argument or sign == "-":
                raise UserError(f"ACL rule '{sign}{name}'", "the server has no such command")
            self.commands.add(name)  # the old form: a command only with this first argument
            return
        covered = {name, *table.subcommands(name)} - table.unruled
        arguments = {each for each in self.commands if each.startswith(f"{name}|")}
        self.commands = self.commands - arguments | covered if sign == "+" else self.commands - arguments - covered

    def allows(self, command: str) -> bool:
        """Whether the command may be called at all."""
        return command.lower() in self.commands


@dataclass
class User:
    """One user. `passwords` are SHA-256 digests, as Redis keeps them."""

    enabled: bool = False
    nopass: bool = False
    sanitize: bool = True
    passwords: set[str] = field(default_factory=set)
    root: Selector = field(default_factory=Selector)
    selectors: list[Selector] = field(default_factory=list)

    def allows(self, command: str, keys: str = "*") -> bool:
        """Whether the user may call the command on these keys (a pattern as in its rules), by one set of rules."""
        return any(
            each.allows(command) and not {"~*", f"~{keys}"}.isdisjoint(each.keys)
            for each in (self.root, *self.selectors)
        )

    def apply(self, rule: str, table: Table) -> None:
        """Apply one rule.

        Raises:
            UserError: it is no rule.
        """
        if rule.startswith("(") and rule.endswith(")"):
            selector = Selector()
            for inner in rule[1:-1].split():
                if not selector.apply(inner, table):
                    raise UserError(f"ACL rule '{inner}'", "is no rule of a selector")
            self.selectors.append(selector)
        elif not self.root.apply(rule, table):
            self._apply_account(rule)

    def _apply_account(self, rule: str) -> None:
        match rule.lower():
            case "on" | "off" as state:
                self.enabled = state == "on"
            case "nopass":
                self.nopass, self.passwords = True, set()
            case "resetpass":
                self.nopass, self.passwords = False, set()
            case "sanitize-payload":
                self.sanitize = True
            case "skip-sanitize-payload":
                self.sanitize = False
            case "clearselectors":
                self.selectors = []
            case "reset":
                self.__dict__.update(User().__dict__)
            case _:
                self._apply_password(rule)

    def _apply_password(self, rule: str) -> None:
        sign, rest = rule[:1], rule[1:]
        if sign in (">", "<"):
            rest = hashlib.sha256(rest.encode()).hexdigest()
        if sign in (">", "#"):
            self.passwords.add(rest.lower())
            self.nopass = False
        elif sign in ("<", "!"):
            self.passwords.discard(rest.lower())
        else:
            raise UserError(f"ACL rule '{rule}'", "is no rule")


def parse(lines: Iterable[str], table: Table) -> dict[str, User]:
    """Read `user …` lines; empty lines and comments are passed over.

    Raises:
        UserError: a line is not one that the server would load.
    """
    users: dict[str, User] = {}
    for line in lines:
        words = _words(line)
        if not words or line.lstrip().startswith("#"):
            continue
        if len(words) < 2 or words[0].lower() != "user":  # noqa: PLR2004 - the word and a name
            raise UserError(f"ACL line '{line[:60]}'", "does not begin with `user <name>`")
        user = users.setdefault(words[1], User())
        for rule in words[2:]:
            user.apply(rule, table)
    return users


def facts(users: dict[str, User]) -> Facts:
    """Flatten users; see redis.py for the paths."""
    flat: Facts = {}
    for name, user in users.items():
        base = segment(name)
        flat[f"{base}/enabled"] = user.enabled
        flat[f"{base}/nopass"] = user.nopass
        flat[f"{base}/sanitize-payload"] = user.sanitize
        for password in user.passwords:
            flat[f"{base}/passwords/{password[:16]}"] = True
        _selector(flat, base, user.root)
        written = sorted(user.selectors, key=lambda each: sorted(each.commands))
        for number, selector in enumerate(written):
            _selector(flat, f"{base}/selectors/{number}", selector)
    return flat


def _selector(flat: Facts, base: str, selector: Selector) -> None:
    for kind, values in (
        ("commands", selector.commands),
        ("keys", selector.keys),
        ("channels", selector.channels),
    ):
        for value in values:
            flat[f"{base}/{kind}/{segment(value)}"] = True


def _words(line: str) -> list[str]:
    """Split at blanks; a parenthesised selector stays one word."""
    return re.findall(r"\([^)]*\)|\S+", line)
