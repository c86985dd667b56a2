"""Verbs on MariaDB's global settings, live and persistent. Accounts and grants are changed by SQL, not here."""

import asyncio
import re
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Literal

from incident_arena.stores.base import Account, StoreError, StoreSpec, only_one
from incident_arena.stores.mariadb import option_files
from incident_arena.stores.mariadb.client import MariaDb
from incident_arena.verbs.acts import Act, Answer, Body, Call, Refusal, Route, detail, one_of
from incident_arena.verbs.command import Argument, Command, Group

SETTINGS: dict[str, str] = {
    "read_only": "refuse writes of accounts without READ_ONLY ADMIN (0, 1)",
    "max_connections": "connections at the same time, all accounts",
    "max_user_connections": "connections at the same time for each account that has no limit of its own (0: no limit)",
    "max_connect_errors": "failed connects after which a host is blocked",
    "connect_timeout": "seconds to wait for a client's first packet",
    "wait_timeout": "seconds after which an idle connection is closed",
    "interactive_timeout": "as wait_timeout, for interactive clients",
    "net_read_timeout": "seconds to wait for a client's data",
    "net_write_timeout": "seconds to wait for a client to take data",
    "lock_wait_timeout": "seconds to wait for a table's metadata lock",
    "innodb_lock_wait_timeout": "seconds to wait for a row lock",
    "innodb_deadlock_detect": "find deadlocks at once (0, 1)",
    "innodb_buffer_pool_size": "bytes of the page cache",
    "innodb_flush_log_at_trx_commit": "when the redo log reaches the disk (0, 1, 2)",
    "innodb_io_capacity": "background reads and writes a second",
    "innodb_strict_mode": "errors instead of warnings for wrong table options (0, 1)",
    "sync_binlog": "commits after which the binary log reaches the disk",
    "max_statement_time": "seconds after which a statement is ended (0: never)",
    "max_allowed_packet": "bytes of the largest packet",
    "max_prepared_stmt_count": "prepared statements at the same time",
    "sql_mode": "comma-separated modes",
    "tx_isolation": "default isolation level",
    "thread_cache_size": "threads kept for reuse",
    "table_open_cache": "open tables",
    "tmp_table_size": "bytes of a temporary table in memory",
    "max_heap_table_size": "bytes of a MEMORY table",
    "sort_buffer_size": "bytes for a sort",
    "join_buffer_size": "bytes for a join without an index",
    "slow_query_log": "log slow statements (0, 1)",
    "long_query_time": "seconds from which a statement is slow",
    "log_warnings": "how much is logged",
}
"""Those an on-call engineer uses; none names a file, a plugin, an address or a statement to run."""

VALUE = re.compile(r"[A-Za-z0-9_,. -]{0,300}")


class Setting(Body):
    """`where`: live (until the next restart), file (from the next restart on), or both. None in a file: unset."""

    value: str | int | float | None
    where: Literal["live", "file", "both"]


GROUP = Group("mariadb", "MariaDB's global settings (accounts and grants: by SQL, with the `mariadb` client)")
SETTING, VALUE_GIVEN = Argument("setting"), Argument("value")
WHERE = Argument("--where", choices=("live", "file", "both"), required=True)


def routes(stores: Sequence[StoreSpec], account: Account) -> list[Route]:
    """The verbs on MariaDB.

    Raises:
        UserError: there are several, or its option files are not mounted.
    """
    store = only_one(stores)
    store.folder("config")
    return Settings(store, account).routes()


@dataclass(frozen=True)
class Settings:
    """The verbs; each call makes a connection of its own."""

    store: StoreSpec
    account: Account

    def routes(self) -> list[Route]:
        """The verbs on settings."""
        return [
            Route(
                "mariadb-settings", "GET", "/mariadb/settings", "read", self.show,
                "global settings: live value, value in the option files",
                (Command("show", "settings, live and in the option files", group=GROUP, narrows=True),),
            ),
            Route(
                "mariadb-set", "PUT", "/mariadb/settings/{setting}", "change", self.set,
                "change one: {value, where: live|file|both}",
                (
                    Command(
                        "set", "change a setting, live, in the option file, or both", (SETTING, VALUE_GIVEN, WHERE),
                        group=GROUP,
                    ),
                    Command(
                        "unset", "take a setting out of the option files", (SETTING,), group=GROUP,
                        fixed={"value": None, "where": "file"},
                    ),
                ),
            ),
        ]  # fmt: skip

    async def show(self, _call: Call) -> Act:
        """All settings of the list, live and in the files."""
        return Act("mariadb-settings", "", self._show)

    async def set(self, call: Call) -> Act:
        """Change one setting."""
        name = one_of("the MariaDB setting", option_files.normal(call.path["setting"]), SETTINGS)
        body = call.parse(Setting)
        value = None if body.value is None else str(body.value)
        if value is None and body.where != "file":
            raise Refusal(f"the setting {name}", "has no value", "give a value; null unsets it in the file only")
        if value is not None and not VALUE.fullmatch(value):
            raise Refusal(f"the value {value!r}", "has characters that no setting here has")

        async def effect() -> Answer:
            if body.where in {"live", "both"}:
                assert value is not None
                await self._query(f"SET GLOBAL `{name}` = %s", (_typed(value),))
            if body.where in {"file", "both"}:
                try:
                    await asyncio.to_thread(option_files.write, self.store.folder("config"), name, value)
                except OSError as error:
                    raise Refusal("the option files", f"cannot be written: {error.strerror}", status=502) from error
            return {"setting": name, **(await self._show())["settings"][name]}

        return Act("mariadb-set", detail(setting=name, value=value, where=body.where), effect)

    async def _show(self) -> Answer:
        rows = await self._query("SHOW GLOBAL VARIABLES", ())
        live = {str(name): str(value) for name, value in rows}
        try:
            persistent = await asyncio.to_thread(option_files.settings, self.store.folder("config"))
        except OSError as error:
            raise Refusal("the option files", f"cannot be read: {error.strerror}", status=502) from error
        return {
            "settings": {
                name: {"live": live.get(name), "file": persistent.get(name), "about": about}
                for name, about in SETTINGS.items()
            }
        }

    async def _query(self, sql: str, arguments: Sequence[Any]) -> Sequence[Sequence[Any]]:
        try:
            return await asyncio.to_thread(self._query_now, sql, arguments)
        except StoreError as error:
            known = error.code in REFUSED
            remedy = "" if known else f"is {self.store.name} up? look at its component's status"
            raise Refusal(self.store.name, error.reason, remedy, status=400 if known else 502) from error

    def _query_now(self, sql: str, arguments: Sequence[Any]) -> Sequence[Sequence[Any]]:
        store, account = self.store, self.account
        client = MariaDb(
            host=store.host, port=store.port, user=account.user, password=account.password, name=store.name
        )
        with closing(client):
            return client.query(sql, arguments)


REFUSED = frozenset({"1227", "1229", "1231", "1232", "1238"})
"""Errors that say the value or the setting is wrong, not the server (MariaDB's error codes)."""


def _typed(value: str) -> str | int | float:
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            continue
    return value
