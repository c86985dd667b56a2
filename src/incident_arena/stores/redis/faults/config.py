"""Faults of Redis."""

from typing import Annotated, Literal

from pydantic import Field

from incident_arena.errors import InfrastructureError
from incident_arena.formats.parameters import Parameters
from incident_arena.formats.task import Permit
from incident_arena.stores.fault import Fault, Look
from incident_arena.stores.redis import acl
from incident_arena.stores.redis.client import Commands
from incident_arena.stores.redis.store import RedisStore

type QueueCommand = Literal[
    "blmove", "blmpop", "blpop", "brpop", "brpoplpush", "bzmpop", "bzpopmax", "bzpopmin",
    "lmove", "lpop", "lpush", "rpop", "rpush", "hset", "zadd", "sadd", "expire", "publish", "subscribe",
]  # fmt: skip
"""The commands by which jobs are put in and taken out: each blocking pop, and what RQ calls besides."""


class ConfigParameters(Parameters):
    """Which commands the application's user may not call."""

    denied_commands: Annotated[tuple[QueueCommand, ...], Field(min_length=1)]
    user: str = "app"
    keys: str = "*"
    """The keys that the user needs them on, as the pattern in its rules."""


class Config(Fault[RedisStore, ConfigParameters]):
    """The configuration denies the application commands, in memory and in the ACL file."""

    parameters = ConfigParameters

    def plant(self, store: RedisStore, parameters: ConfigParameters) -> None:
        """Deny them, save, and let clients that are blocked in one of them return: their next call is refused."""
        redis = store.redis
        if parameters.user not in redis.command("ACL", "USERS"):
            raise InfrastructureError(f"redis user '{parameters.user}'", "the Redis has no such user")
        redis.command("ACL", "SETUSER", parameters.user, *(f"-{name}" for name in parameters.denied_commands))
        redis.command("ACL", "SAVE")
        for client in _blocked(redis, parameters):
            redis.command("CLIENT", "UNBLOCK", client, "TIMEOUT")

    def lift(self, store: RedisStore, parameters: ConfigParameters) -> None:
        """Allow them again, and save."""
        store.redis.command("ACL", "SETUSER", parameters.user, *(f"+{name}" for name in parameters.denied_commands))
        store.redis.command("ACL", "SAVE")

    def observe(self, store: RedisStore, parameters: ConfigParameters) -> Look:
        """Planted while the user may not call one of the commands."""
        redis = store.redis
        user = acl.parse(redis.command("ACL", "LIST"), acl.command_table(redis)).get(parameters.user)
        denied = [name for name in parameters.denied_commands if user is None or not user.allows(name, parameters.keys)]
        enabled = user is not None and user.enabled
        state: Literal["planted", "clear"] = "planted" if denied or not enabled else "clear"
        return Look(state, {"denied": ", ".join(denied), "enabled": enabled})

    def elsewhere(self, store: RedisStore) -> ConfigParameters:
        """See Fault.elsewhere."""
        return ConfigParameters(denied_commands=("lpop",), user=store.spec.account or "default")

    def cover(self, store: RedisStore) -> None:
        """Save the rules, and forget how often each command was called."""
        store.redis.command("ACL", "SAVE")
        store.redis.command("CONFIG", "RESETSTAT")

    def describe(self, parameters: ConfigParameters) -> str:
        """See Fault.describe."""
        return f"the user {parameters.user} may not call {', '.join(parameters.denied_commands)}"

    def repairs(self, component: str, parameters: ConfigParameters) -> tuple[Permit, ...]:
        """The same commands, allowed again live and in the file."""
        return tuple(
            Permit(
                rule=f"{command} for {parameters.user}, {where}",
                path=f"{component}/acl/{side}/{parameters.user}/commands/{command}",
                after=[True],
            )
            for command in parameters.denied_commands
            for side, where in (("live", "live"), ("file", "in the ACL file"))
        )


def _blocked(redis: Commands, parameters: ConfigParameters) -> list[str]:
    """Ids of the user's clients that wait in one of the commands."""
    waiting = []
    for line in str(redis.command("CLIENT", "LIST")).splitlines():
        client = dict(word.partition("=")[::2] for word in line.split())
        if client.get("user") == parameters.user and client.get("cmd") in parameters.denied_commands:
            waiting.append(client["id"])
    return waiting


FAULT = Config()
