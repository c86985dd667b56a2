"""A MariaDB connection: what its picture and its faults need of one, and the one that the referee opens."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from incident_arena.stores.base import StoreError

if TYPE_CHECKING:
    import pymysql


class Sql(Protocol):
    """A MariaDB connection."""

    def query(self, statement: str, arguments: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Run one statement and return its rows; `%s` in it stands for an argument.

        Raises:
            StoreError: the server refused it or cannot be reached.
        """
        ...


class MariaDb:
    """A MariaDB connection that opens at the first statement and again after it was lost; autocommit.

    Args:
        name: what errors call it.
        unix_socket: when given, used instead of host and port.
    """

    def __init__(
        self,
        *,
        host: str = "",
        port: int = 3306,
        unix_socket: str | None = None,
        user: str,
        password: str = "",
        name: str = "mariadb",
        timeout_s: float = 5.0,
    ) -> None:
        self._name = name
        self._arguments: dict[str, Any] = {
            "user": user,
            "password": password,
            "autocommit": True,
            "connect_timeout": timeout_s,
            "read_timeout": timeout_s * 4,
            "write_timeout": timeout_s,
            "charset": "utf8mb4",
            **({"unix_socket": unix_socket} if unix_socket else {"host": host, "port": port}),
        }
        self._connection: pymysql.connections.Connection[Any] | None = None
        self._closed = False

    def query(self, statement: str, arguments: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """See Sql.query. A connection that turns out lost is opened again once."""
        from pymysql import err  # noqa: PLC0415 - drivers are only there where connections are made

        lost = self._connection is not None
        try:
            return self._run(statement, arguments)
        except (err.OperationalError, err.InterfaceError) as error:
            self._drop()
            code = error.args[0] if error.args else 0
            if not lost or code not in _LOST:
                raise self._store_error(error) from error
        except err.Error as error:
            raise self._store_error(error) from error
        try:
            return self._run(statement, arguments)
        except err.Error as error:
            self._drop()
            raise self._store_error(error) from error

    def close(self) -> None:
        """Close it for good: whoever still uses it gets a StoreError."""
        self._closed = True
        self._drop()

    def _drop(self) -> None:
        if self._connection is not None and self._connection.open:
            self._connection.close()
        self._connection = None

    def _run(self, statement: str, arguments: Sequence[Any]) -> list[tuple[Any, ...]]:
        import pymysql  # noqa: PLC0415 - see query

        if self._closed:
            raise StoreError(f"store '{self._name}'", "the connection was closed")
        if self._connection is None:
            self._connection = pymysql.connect(**self._arguments)
        with self._connection.cursor() as cursor:
            cursor.execute(statement, tuple(arguments) or None)
            return [tuple(row) for row in cursor.fetchall()]

    def _store_error(self, error: Exception) -> StoreError:
        code = str(error.args[0]) if error.args else ""
        return StoreError(f"store '{self._name}'", " ".join(str(part) for part in error.args) or repr(error), code)


# Client-side numbers of a connection that is gone: 2006, 2013, 4031 (idle for too long), 1927 (killed), 0 (closed).
_LOST = (0, 2006, 2013, 4031, 1927)


def quoted(name: str) -> str:
    """A name as SQL takes it, whatever is in it."""
    return "`" + name.replace("`", "``") + "`"
