"""Verbs on the two Redis stores: settings and access lists, live and persistent, and the flush of a whole store."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from redis.asyncio import Redis
from redis.exceptions import RedisError, ResponseError

from incident_arena.services.admin.acts import Act, Answer, Body, Call, Refusal, Route, detail, one_of
from incident_arena.services.admin.config import Config, RedisStore

SETTINGS: dict[str, str] = {
    "maxmemory": "bytes that data may take (0: no limit)",
    "maxmemory-policy": "what is evicted at the limit (noeviction: writes are refused)",
    "maxmemory-samples": "keys looked at for one eviction",
    "maxmemory-clients": "bytes that clients' buffers may take",
    "timeout": "seconds after which an idle client is closed (0: never)",
    "tcp-keepalive": "seconds between keepalives",
    "appendonly": "keep an append-only file (yes, no)",
    "appendfsync": "when the append-only file reaches the disk (always, everysec, no)",
    "auto-aof-rewrite-percentage": "growth after which the append-only file is rewritten",
    "auto-aof-rewrite-min-size": "smallest append-only file that is rewritten",
    "save": "seconds and changes after which a snapshot is taken",
    "stop-writes-on-bgsave-error": "refuse writes when a snapshot failed (yes, no)",
    "client-output-buffer-limit": "limits of clients' output buffers by class",
    "slowlog-log-slower-than": "microseconds from which a command is slow",
    "slowlog-max-len": "entries of the slow log",
    "latency-monitor-threshold": "milliseconds from which an event is kept",
    "acllog-max-len": "entries of the log of refused commands",
    "hz": "background runs a second",
    "activedefrag": "defragment while running (yes, no)",
    "lazyfree-lazy-eviction": "free evicted keys in the background (yes, no)",
    "lazyfree-lazy-expire": "free expired keys in the background (yes, no)",
    "notify-keyspace-events": "events published for keys",
}
"""Those an on-call engineer uses; none names a file, a module, an address or a password."""

CHANGEABLE_USERS = {"app": "the application's"}
"""The other users belong to the operators' own tools, and `default` is off."""

VALUE = re.compile(r"[A-Za-z0-9_. -]{0,200}")
RULE = re.compile(
    r"on|off|[+-]@?[a-z0-9_|-]{1,64}|allcommands|nocommands|allkeys|resetkeys|allchannels|resetchannels"
    r"|~[!-~]{1,128}|%(R|W|RW)~[!-~]{1,128}|&[!-~]{1,128}"
)
SECRET = re.compile(r"^[#>].*$")


class Setting(Body):
    """A new value of a setting."""

    value: str | int


class Rules(Body):
    """Rules as in `ACL SETUSER`, applied in order to what the user has."""

    rules: list[str]


@dataclass(frozen=True)
class RedisStores:
    """The verbs; each call makes a connection of its own."""

    config: Config

    def routes(self) -> list[Route]:
        """The verbs on the Redis stores."""
        base = "/redis/{store}"
        return [
            Route("redis-settings", "GET", f"{base}/settings", "read", self.show, "settings, live and in the file"),
            Route("redis-set", "PUT", f"{base}/settings/{{name}}", "change", self.set, "change one, live: {value}"),
            Route("redis-save", "POST", f"{base}/settings/save", "change", self.save, "write them to the file"),
            Route("acl", "GET", f"{base}/acl", "read", self.acl, "users and their rules, live and in the file"),
            Route("acl-log", "GET", f"{base}/acl/log", "read", self.acl_log, "commands that were refused lately"),
            Route("acl-set", "PUT", f"{base}/acl/{{user}}", "change", self.acl_set, "apply {rules}, live"),
            Route("acl-save", "POST", f"{base}/acl/save", "change", self.acl_save, "write the live users to the file"),
            Route("acl-load", "POST", f"{base}/acl/load", "change", self.acl_load, "make the file's users live"),
            Route("redis-flush", "POST", f"{base}/flush", "change", self.flush, "delete every key of the store"),
        ]  # fmt: skip

    async def show(self, call: Call) -> Act:
        """Settings of the list."""
        name, store = self._store(call)
        return Act("redis-settings", detail(store=name), lambda: self._show(store))

    async def set(self, call: Call) -> Act:
        """Change a setting live."""
        name, store = self._store(call)
        setting = one_of("the Redis setting", call.path["name"].lower(), SETTINGS)
        value = str(call.parse(Setting).value)
        if not VALUE.fullmatch(value):
            raise Refusal(f"the value {value!r}", "has characters that no setting here has")

        async def effect() -> Answer:
            async with self._connected(store) as client:
                await client.config_set(setting, value)
            return {"setting": setting, **(await self._show(store))["settings"][setting]}

        return Act("redis-set", detail(store=name, setting=setting, value=value), effect)

    async def save(self, call: Call) -> Act:
        """CONFIG REWRITE."""
        return self._command("redis-save", call, "CONFIG", "REWRITE")

    async def acl(self, call: Call) -> Act:
        """All users; passwords are left out."""
        name, store = self._store(call)

        async def effect() -> Answer:
            async with self._connected(store) as client:
                live = [str(line) for line in await client.acl_list()]
            text = await saved(store, "users.acl")
            return {"live": _users(live), "file": _users(text.splitlines())}

        return Act("acl", detail(store=name), effect)

    async def acl_log(self, call: Call) -> Act:
        """ACL LOG, newest first."""
        name, store = self._store(call)
        count = call.number("count", 20, 200)

        async def effect() -> Answer:
            async with self._connected(store) as client:
                entries: Any = await client.acl_log(count)
            return {"entries": [{str(key): _plain(value) for key, value in entry.items()} for entry in entries]}

        return Act("acl-log", detail(store=name), effect)

    async def acl_set(self, call: Call) -> Act:
        """ACL SETUSER on a user that may be changed."""
        name, store = self._store(call)
        user = one_of("the Redis user", call.path["user"], CHANGEABLE_USERS)
        rules = call.parse(Rules).rules
        wrong = [rule for rule in rules if not RULE.fullmatch(rule)]
        if wrong or not rules:
            raise Refusal(
                "the rules " + " ".join(wrong),
                "are not rules that can be given here" if wrong else "are empty",
                "give command rules (+get -@all), key patterns (~x, resetkeys), channel patterns (&x, resetchannels), "
                "on or off; passwords stay as they are, so `reset` is not among them",
            )

        async def effect() -> Answer:
            async with self._connected(store) as client:
                await client.execute_command("ACL", "SETUSER", user, *rules)  # type: ignore[no-untyped-call]
                live = [str(line) for line in await client.acl_list()]
            return {"user": user, "live": _users(live)[user], "saved": False}

        return Act("acl-set", detail(store=name, user=user, rules=rules), effect)

    async def acl_save(self, call: Call) -> Act:
        """ACL SAVE."""
        return self._command("acl-save", call, "ACL", "SAVE")

    async def acl_load(self, call: Call) -> Act:
        """ACL LOAD."""
        return self._command("acl-load", call, "ACL", "LOAD")

    async def flush(self, call: Call) -> Act:
        """FLUSHALL."""
        return self._command("redis-flush", call, "FLUSHALL")

    def _command(self, what: str, call: Call, *command: str) -> Act:
        name, store = self._store(call)

        async def effect() -> Answer:
            async with self._connected(store) as client:
                answer = await client.execute_command(*command)  # type: ignore[no-untyped-call]
                return {"store": name, "answer": _plain(answer)}

        return Act(what, detail(store=name), effect)

    def _store(self, call: Call) -> tuple[str, RedisStore]:
        name = one_of("the Redis store", call.path["store"], self.config.stores)
        return name, self.config.stores[name]

    async def _show(self, store: RedisStore) -> Answer:
        async with self._connected(store) as client:
            live: dict[Any, Any] = await client.config_get(*SETTINGS)
        text = await saved(store, "redis.conf")
        persistent = _configured(text)
        return {
            "settings": {
                name: {"live": live.get(name), "file": persistent.get(name), "about": about}
                for name, about in SETTINGS.items()
            }
        }

    @asynccontextmanager
    async def _connected(self, store: RedisStore) -> AsyncIterator[Redis]:
        async with connected(self.config, store, decode=True) as client:
            yield client


@asynccontextmanager
async def connected(config: Config, store: RedisStore, *, decode: bool) -> AsyncIterator[Redis]:
    """A connection for one call; `decode` gives texts instead of bytes.

    Raises:
        Refusal: 400 when Redis refuses a command, 502 when it can't be reached; with Redis' own words.
    """
    client = Redis(
        host=store.host,
        port=store.port,
        username=config.redis_user,
        password=config.redis_password,
        decode_responses=decode,
        socket_timeout=10,
        socket_connect_timeout=5,
    )
    try:
        yield client
    except ResponseError as error:
        raise Refusal(f"redis on {store.host}", str(error)) from error
    except RedisError as error:
        raise Refusal(f"redis on {store.host}", str(error), "is it up? look at its component", status=502) from error
    finally:
        await client.aclose()


async def saved(store: RedisStore, name: str) -> str:
    """One of a store's files.

    Raises:
        Refusal: 502, when it cannot be read.
    """
    try:
        return await asyncio.to_thread((store.folder / name).read_text)
    except OSError as error:
        raise Refusal(f"{name} of {store.host}", f"cannot be read: {error.strerror}", status=502) from error


def _users(lines: list[str]) -> dict[str, str]:
    """User → rules without passwords, from lines `user <name> <rules>`."""
    users = {}
    for line in lines:
        match line.split():
            case ["user", name, *rules]:
                users[name] = " ".join(rule for rule in rules if not SECRET.match(rule))
    return users


def _configured(text: str) -> dict[str, str]:
    """Setting → value from a redis.conf; a directive that is repeated (save) is joined by a space."""
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        name, _, value = line.strip().partition(" ")
        if name.lower() in SETTINGS:
            found.setdefault(name.lower(), []).append(value.strip().strip('"'))
    return {name: " ".join(values) for name, values in found.items()}


def _plain(value: Any) -> Any:
    return value if isinstance(value, str | int | float | bool | type(None)) else str(value)
