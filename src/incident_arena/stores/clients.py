"""What faults and stores need of a database connection, and the two ways in which the referee opens one.

The protocols keep the drivers out of everything that only describes faults, so that a task can be validated on a
machine without them.
"""

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from incident_arena.errors import InfrastructureError

if TYPE_CHECKING:
    import pymysql
    import redis


class Sql(Protocol):
    """A MariaDB connection."""

    def query(self, statement: str, arguments: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Run one statement and return its rows; `%s` in it stands for an argument.

        Raises:
            StoreError: the server refused it or cannot be reached.
        """
        ...


class Commands(Protocol):
    """A Redis connection; answers as RESP3 gives them (maps are dicts), text decoded."""

    def command(self, *words: str | int) -> Any:
        """Run one command.

        Raises:
            StoreError: the server refused it or cannot be reached.
        """
        ...


class StoreError(InfrastructureError):
    """A data store refused a request or cannot be reached. `code` is the server's own error number or word."""

    def __init__(self, thing: str, reason: str, code: str = "") -> None:
        self.code = code
        super().__init__(thing, reason)


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


class RedisServer:
    """A Redis connection that opens at the first command and again after it was lost."""

    def __init__(
        self,
        *,
        host: str = "",
        port: int = 6379,
        unix_socket: str | None = None,
        user: str | None = None,
        password: str | None = None,
        name: str = "redis",
        timeout_s: float = 5.0,
    ) -> None:
        self._name = name
        self._arguments: dict[str, Any] = {
            "username": user,
            "password": password,
            "socket_timeout": timeout_s,
            "decode_responses": True,
            "encoding_errors": "backslashreplace",
            "protocol": 3,
            **({"unix_socket_path": unix_socket} if unix_socket else {"host": host, "port": port}),
        }
        self._client: redis.Redis | None = None
        self._closed = False

    def command(self, *words: str | int) -> Any:
        """See Commands.command."""
        import redis as driver  # noqa: PLC0415 - drivers are only there where connections are made

        if self._closed:
            raise StoreError(f"store '{self._name}'", "the connection was closed")
        if self._client is None:
            self._client = driver.Redis(**self._arguments)
            self._client.response_callbacks.clear()  # answers as the server gives them
        try:
            return self._client.execute_command(*words)  # type: ignore[no-untyped-call]
        except driver.RedisError as error:
            text = str(error)
            code = text.split(" ", 1)[0] if text else type(error).__name__
            raise StoreError(f"store '{self._name}'", f"{words[0]}: {text or type(error).__name__}", code) from error

    def close(self) -> None:
        """Close it for good: whoever still uses it gets a StoreError."""
        self._closed = True
        if self._client is not None:
            self._client.close()
        self._client = None


def digest(*parts: object) -> str:
    """A short digest of the parts' text: 16 hexadecimal digits of SHA-256. None differs from an empty text."""
    state = hashlib.sha256()
    for part in parts:
        state.update(b"\x00" if part is None else b"\x01" + str(part).encode() + b"\x02")
    return state.hexdigest()[:16]


def segment(name: object) -> str:
    """A name as one segment of a path: `/` would separate, so it and `%` are written as %2F and %25."""
    return str(name).replace("%", "%25").replace("/", "%2F") if "/" in str(name) else str(name)
