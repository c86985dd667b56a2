"""Faults of MariaDB."""

import random
import re
from typing import Annotated, Any, Literal, get_args

from pydantic import Field

from incident_arena.formats.parameters import Parameters
from incident_arena.formats.task import Permit
from incident_arena.stores.base import segment
from incident_arena.stores.fault import Fault, Look
from incident_arena.stores.mariadb.client import Sql, quoted
from incident_arena.stores.mariadb.picture import role_privileges
from incident_arena.stores.mariadb.store import MariaDbStore

type Privilege = Literal[
    "SELECT", "INSERT", "UPDATE", "DELETE", "CREATE", "DROP", "INDEX", "ALTER", "CREATE TEMPORARY TABLES",
    "LOCK TABLES", "REFERENCES", "EXECUTE", "CREATE VIEW", "SHOW VIEW", "TRIGGER",
]  # fmt: skip
COVERED, COVERS = "arena_cover", 5
PRIVILEGES: tuple[str, ...] = get_args(Privilege.__value__)


class GrantsParameters(Parameters):
    """Which privileges the account lacks on which database."""

    privileges: Annotated[tuple[Privilege, ...], Field(min_length=1)]
    user: str = "site"
    host: str = "%"
    database: str = "site"


class Grants(Fault[MariaDbStore, GrantsParameters]):
    """Privileges missing from the application's grant. MariaDB saves grants by itself."""

    parameters = GrantsParameters

    def plant(self, store: MariaDbStore, parameters: GrantsParameters) -> None:
        """Revoke them. Connections made before keep what they have until they choose a database again."""
        store.sql.query(
            f"REVOKE {', '.join(parameters.privileges)} ON {quoted(parameters.database)}.* FROM %s@%s",
            (parameters.user, parameters.host),
        )

    def lift(self, store: MariaDbStore, parameters: GrantsParameters) -> None:
        """Grant them again."""
        store.sql.query(
            f"GRANT {', '.join(parameters.privileges)} ON {quoted(parameters.database)}.* TO %s@%s",
            (parameters.user, parameters.host),
        )

    def observe(self, store: MariaDbStore, parameters: GrantsParameters) -> Look:
        """Planted while one of the privileges is in none of the grants that hold for the whole database."""
        held = effective(store.sql, parameters.user, parameters.host, parameters.database)
        missing = [privilege for privilege in parameters.privileges if privilege not in held]
        return Look("planted" if missing else "clear", {"missing": ", ".join(missing)})

    def elsewhere(self, store: MariaDbStore) -> GrantsParameters:
        """See Fault.elsewhere."""
        return GrantsParameters(privileges=("DELETE",), user=store.spec.account, database=store.database)

    def cover(self, store: MariaDbStore) -> None:
        """Grant and revoke some times on a database that is not there: `Com_revoke` can't be reset in 10.11."""
        account = (store.account.user,)
        for _ in range(random.randint(1, COVERS)):  # noqa: S311 - no secret
            store.sql.query(f"GRANT DELETE ON {COVERED}.* TO %s@'%%'", account)
            store.sql.query(f"REVOKE DELETE ON {COVERED}.* FROM %s@'%%'", account)

    def describe(self, parameters: GrantsParameters) -> str:
        """See Fault.describe."""
        return (
            f"{parameters.user}@{parameters.host} lacks {', '.join(parameters.privileges)} "
            f"on database {parameters.database}"
        )

    def repairs(self, component: str, parameters: GrantsParameters) -> tuple[Permit, ...]:
        """The same privileges, granted on the same database again."""
        account = f"{component}/accounts/{segment(f'{parameters.user}@{parameters.host}')}"
        return tuple(
            Permit(
                rule=f"{privilege} for {parameters.user} on its database",
                path=f"{account}/grants/database/{segment(parameters.database)}/{privilege}",
                after=[True],
            )
            for privilege in parameters.privileges
        )


def effective(sql: Sql, user: str, host: str, database: str) -> set[str]:
    """Privileges that an account has on all of a database: its own, its default role's and those roles' roles.

    Of an account's database grants only the most specific one that matches counts, as in the server itself
    (https://mariadb.com/kb/en/grant/, database privileges): a name without wildcards before one with.
    """
    roles: list[tuple[str, str]] = [(user, host)]
    for (role,) in sql.query(
        "SELECT JSON_VALUE(Priv, '$.default_role') FROM mysql.global_priv WHERE User = %s AND Host = %s", (user, host)
    ):
        roles += [(str(role), "")] if role else []
    members = [(str(row[0]), str(row[1]), str(row[2])) for row in sql.query(_MEMBERSHIPS)]
    for name, at in roles:  # grows while it is walked; each role once
        more = [(role, "") for holder, held_at, role in members if not at and (holder, held_at) == (name, "")]
        roles += [role for role in more if role not in roles]
    held: set[str] = set()
    public = sql.query("SELECT 1 FROM mysql.global_priv WHERE User = 'PUBLIC' AND Host = ''")
    for name, at in [*roles, *([("PUBLIC", "")] if public else [])]:
        held |= _held(sql, name, at, database)
    return held


_GLOBAL = "SELECT PRIVILEGE_TYPE FROM information_schema.USER_PRIVILEGES WHERE GRANTEE = %s"
_MEMBERSHIPS = "SELECT User, Host, Role FROM mysql.roles_mapping"


def _held(sql: Sql, user: str, host: str, database: str) -> set[str]:
    grantee = f"'{user}'@'{host}'"
    held = {str(row[0]) for row in sql.query(_GLOBAL, (grantee,))} if host else role_privileges(sql, user)
    if "ALL PRIVILEGES" in held:
        held.update(PRIVILEGES)
    rows: list[tuple[Any, ...]] = sql.query(
        "SELECT TABLE_SCHEMA, PRIVILEGE_TYPE FROM information_schema.SCHEMA_PRIVILEGES WHERE GRANTEE = %s", (grantee,)
    )
    matching = sorted({str(row[0]) for row in rows if _matches(str(row[0]), database)}, key=_specificity)
    return held | {str(row[1]) for row in rows if matching and row[0] == matching[0]}


def _specificity(pattern: str) -> tuple[int, int]:
    wildcard = re.search(r"(?<!\\)[%_]", pattern)
    return (0, 0) if wildcard is None else (1, -wildcard.start())


def _matches(pattern: str, name: str) -> bool:
    """SQL's LIKE: `%` any text, `_` any character, a backslash before either takes its meaning away."""
    parts = re.findall(r"\\.|.", pattern, re.DOTALL)
    meaning = {"%": ".*", "_": "."}
    return re.fullmatch("".join(meaning.get(part, re.escape(part[-1])) for part in parts), name, re.DOTALL) is not None


FAULT = Grants()
