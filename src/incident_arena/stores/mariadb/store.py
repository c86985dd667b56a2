"""MariaDB as a store of an application. Options: `database`, the application's own."""

from collections.abc import Iterator
from typing import Any, ClassVar

from incident_arena.formats.records import Action, Facts
from incident_arena.stores.base import Account, Store, StoreSpec
from incident_arena.stores.mariadb import audit, picture
from incident_arena.stores.mariadb.client import MariaDb, quoted


class MariaDbStore(Store):
    """Folders: `config`, the option files; `audit`, server_audit's log and its rotations."""

    kind: ClassVar[str] = "mariadb"

    def __init__(self, spec: StoreSpec, account: Account, timeout_s: float = 5.0) -> None:
        super().__init__(spec, account, timeout_s)
        self.sql = MariaDb(
            host=spec.host, port=spec.port, user=account.user, password=account.password, name=spec.name,
            timeout_s=timeout_s,
        )  # fmt: skip

    @property
    def database(self) -> str:
        """The application's."""
        return self.spec.options["database"]

    def picture(self, moves: Any) -> Facts:
        """See picture.snapshot; `moves` are picture.Rows."""
        rows = picture.Rows() if moves is None else moves
        return picture.snapshot(self.sql, self.spec.folder("config"), database=self.database, rows=rows)

    def end_sessions(self, account: str) -> int:
        """End all of an account's connections."""
        ((count,),) = self.sql.query("SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE USER = %s", (account,))
        self.sql.query(f"KILL USER {quoted(account)}")
        return int(count)

    def connections(self) -> int:
        """Its own count of threads with a client."""
        ((_, count),) = self.sql.query("SHOW GLOBAL STATUS LIKE 'Threads_connected'")
        return int(count)

    def acts(self, actor: str, since: float, until: float) -> Iterator[Action]:
        """By server_audit."""
        return audit.Audit(self.name, actor).acts(self.spec.folder("audit"), since, until)

    def close(self) -> None:
        """See Store.close."""
        self.sql.close()


STORE = MariaDbStore
