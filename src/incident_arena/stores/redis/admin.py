"""Verbs on Redis stores: settings and access lists, live and persistent, and the flush of a whole store."""

import asyncio
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from redis.asyncio import Redis
from redis.exceptions import RedisError, ResponseError

from incident_arena.errors import UserError
from incident_arena.stores.base import Account, StoreSpec
from incident_arena.stores.redis import options
from incident_arena.verbs.acts import Act, Answer, Body, Call, Refusal, Route, detail, one_of
from incident_arena.verbs.command import Argument, Command, Group

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


ABOUT = {
    "settings": "settings, live and in redis.conf",
    "set": "change a setting, live",
    "save": "write the live settings to redis.conf (CONFIG REWRITE)",
    "acl": "users and their rules, live and in users.acl",
    "acl-log": "commands that were refused lately, by user",
    "acl-set": "apply rules to a user, live, as in ACL SETUSER: acl-set app +get -@dangerous '~*'",
    "acl-save": "write the live users to users.acl (ACL SAVE)",
    "acl-load": "make the users of users.acl live (ACL LOAD)",
    "flush": "delete every key of the store",
}
"""What the command line says of each verb."""
ARGUMENTS = {
    "set": (Argument("setting"), Argument("value")),
    "acl-log": (Argument("--count", type="number", default=20),),
    "acl-set": (Argument("user"), Argument("rules", takes="rest", metavar="RULE")),
}
NARROWS = frozenset({"settings", "acl"})


def routes(stores: Sequence[StoreSpec], account: Account) -> list[Route]:
    """The verbs on Redis stores.

    Raises:
        UserError: the files of one are not mounted.
    """
    for store in stores:
        store.folder("data")
    return RedisStores({store.name: store for store in stores}, account).routes()


@dataclass(frozen=True)
class RedisStores:
    """The verbs; each call makes a connection of its own."""

    stores: Mapping[str, StoreSpec]
    account: Account

    def routes(self) -> list[Route]:
        """The verbs on the Redis stores."""
        base = "/redis/{store}"
        settings, one, acl = f"{base}/settings", f"{base}/settings/{{setting}}", f"{base}/acl"
        offer = self._offer
        return [
            Route("redis-settings", "GET", settings, "read", self.show, "live and in the file", offer("settings")),
            Route("redis-set", "PUT", one, "change", self.set, "change one, live: {value}", offer("set")),
            Route("redis-save", "POST", f"{settings}/save", "change", self.save, "write the file", offer("save")),
            Route("acl", "GET", acl, "read", self.acl, "users' rules, live and in the file", offer("acl")),
            Route("acl-log", "GET", f"{acl}/log", "read", self.acl_log, "commands refused lately", offer("acl-log")),
            Route("acl-set", "PUT", f"{acl}/{{user}}", "change", self.acl_set, "apply {rules}", offer("acl-set")),
            Route("acl-save", "POST", f"{acl}/save", "change", self.acl_save, "write the file", offer("acl-save")),
            Route("acl-load", "POST", f"{acl}/load", "change", self.acl_load, "read the file", offer("acl-load")),
            Route("redis-flush", "POST", f"{base}/flush", "change", self.flush, "delete every key", offer("flush")),
        ]  # fmt: skip

    def _offer(self, name: str) -> tuple[Command]:
        about = "settings and access lists of a Redis store"
        group = Group("redis", about, (Argument("store", " or ".join(self.stores)),))
        return (Command(name, ABOUT[name], ARGUMENTS.get(name, ()), group, narrows=name in NARROWS),)

    async def show(self, call: Call) -> Act:
        """Settings of the list."""
        name, store = self._store(call)
        return Act("redis-settings", detail(store=name), lambda: self._show(store))

    async def set(self, call: Call) -> Act:
        """Change a setting live."""
        name, store = self._store(call)
        setting = one_of("the Redis setting", call.path["setting"].lower(), SETTINGS)
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
        # The other users belong to the operators' own tools, and `default` is off.
        changeable = {store.account: "the application's"} if store.account else {}
        user = one_of("the Redis user", call.path["user"], changeable)
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

    def _store(self, call: Call) -> tuple[str, StoreSpec]:
        name = one_of("the Redis store", call.path["store"], self.stores)
        return name, self.stores[name]

    async def _show(self, store: StoreSpec) -> Answer:
        async with self._connected(store) as client:
            live: dict[Any, Any] = await client.config_get(*SETTINGS)
        text = await saved(store, "redis.conf")
        persistent = _configured(store, text)
        return {
            "settings": {
                name: {"live": live.get(name), "file": persistent.get(name), "about": about}
                for name, about in SETTINGS.items()
            }
        }

    @asynccontextmanager
    async def _connected(self, store: StoreSpec) -> AsyncIterator[Redis]:
        async with connected(store, self.account, decode=True) as client:
            yield client


@asynccontextmanager
async def connected(store: StoreSpec, account: Account, *, decode: bool) -> AsyncIterator[Redis]:
    """A connection for one call; `decode` gives texts instead of bytes.

    Raises:
        Refusal: 400 when Redis refuses a command, 502 when it can't be reached; with Redis' own words.
    """
    client = Redis(
        host=store.host,
        port=store.port,
        username=account.user,
        password=account.password,
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


async def saved(store: StoreSpec, name: str) -> str:
    """One of a store's files.

    Raises:
        Refusal: 502, when it cannot be read.
    """
    try:
        return await asyncio.to_thread((store.folder("data") / name).read_text)
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


def _configured(store: StoreSpec, text: str) -> dict[str, str]:
    """Setting → value from a redis.conf; a directive that is repeated (save) is joined by a space.

    Raises:
        Refusal: 502, when Redis could not read it either.
    """
    try:
        found = options.read(text)
    except UserError as error:
        raise Refusal(f"{error.thing}, of {store.host}", error.reason, status=502) from error
    return {name: " ".join(word for words in found[name] for word in words) for name in SETTINGS if name in found}


def _plain(value: Any) -> Any:
    return value if isinstance(value, str | int | float | bool | type(None)) else str(value)
