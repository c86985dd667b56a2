"""A Redis connection: what its picture and its faults need of one, and the one that the referee opens."""

from typing import TYPE_CHECKING, Any, Protocol

from incident_arena.stores.base import Account, StoreError, StoreSpec

if TYPE_CHECKING:
    import redis


class Commands(Protocol):
    """A Redis connection; answers as RESP3 gives them (maps are dicts), text decoded."""

    def command(self, *words: str | int) -> Any:
        """Run one command.

        Raises:
            StoreError: the server refused it or cannot be reached.
        """
        ...


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


def server_of(spec: StoreSpec, account: Account, timeout_s: float) -> RedisServer:
    """The Redis of a store, or that it lies in, as an account."""
    return RedisServer(
        host=spec.host, port=spec.port, user=account.user, password=account.password, name=spec.name,
        timeout_s=timeout_s,
    )  # fmt: skip
