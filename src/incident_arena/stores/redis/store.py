"""Redis as a store of an application."""

from typing import Any, ClassVar

from incident_arena.formats.records import Facts
from incident_arena.stores.base import Account, Store, StoreSpec
from incident_arena.stores.redis import picture
from incident_arena.stores.redis.client import server_of

GROWTH = "arena:growth:"
CLIENTS = "connected_clients:"
MEGABYTE = 1 << 20


class RedisStore(Store):
    """Folder `data`: redis.conf and users.acl."""

    kind: ClassVar[str] = "redis"
    grows: ClassVar[bool] = True

    def __init__(self, spec: StoreSpec, account: Account, timeout_s: float = 5.0) -> None:
        super().__init__(spec, account, timeout_s)
        self.redis = server_of(spec, account, timeout_s)

    def picture(self, moves: Any) -> Facts:
        """See picture.snapshot; `moves` are beginnings of the application's own keys, None when keys don't count."""
        return picture.snapshot(self.redis, self.spec.folder("data"), own_keys=moves)

    def grow(self, megabytes: int) -> None:
        """As so many keys of one megabyte, written by a command that needs memory."""
        keys = [f"{GROWTH}{number}" for number in range(megabytes)]
        try:
            for key in keys:
                self.redis.command("SETRANGE", key, MEGABYTE - 1, "x")
        finally:
            self.redis.command("UNLINK", *keys)

    def end_sessions(self, account: str) -> int:
        """End all of a user's connections."""
        return int(self.redis.command("CLIENT", "KILL", "USER", account))

    def connections(self) -> int:
        """Its own count of clients."""
        told = str(self.redis.command("INFO", "clients")).splitlines()
        return int(next(line for line in told if line.startswith(CLIENTS)).removeprefix(CLIENTS))

    def close(self) -> None:
        """See Store.close."""
        self.redis.close()


STORE = RedisStore
