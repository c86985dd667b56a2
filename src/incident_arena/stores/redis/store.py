"""Redis as a store of an application."""

from typing import Any, ClassVar

from incident_arena.formats.records import Facts
from incident_arena.stores.base import Account, Store, StoreSpec
from incident_arena.stores.redis import picture
from incident_arena.stores.redis.client import server_of


class RedisStore(Store):
    """Folder `data`: redis.conf and users.acl."""

    kind: ClassVar[str] = "redis"

    def __init__(self, spec: StoreSpec, account: Account, timeout_s: float = 5.0) -> None:
        super().__init__(spec, account, timeout_s)
        self.redis = server_of(spec, account, timeout_s)

    def picture(self, moves: Any) -> Facts:
        """See picture.snapshot; `moves` are beginnings of the application's own keys, None when keys don't count."""
        return picture.snapshot(self.redis, self.spec.folder("data"), own_keys=moves)

    def end_sessions(self, account: str) -> int:
        """End all of a user's connections."""
        return int(self.redis.command("CLIENT", "KILL", "USER", account))

    def close(self) -> None:
        """See Store.close."""
        self.redis.close()


STORE = RedisStore
