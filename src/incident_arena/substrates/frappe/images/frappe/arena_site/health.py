"""Readiness: can this process reach the database, the cache and the queue, and is the site there?

It sees connectivity, not permissions. A server that answers "too many connections" or "wrong password" is reached;
a pod that went out of service for that would hide the very symptom that users see.

    python -m arena_site.health      exit status 0 when ready
"""

import contextlib
import os
import sys
from dataclasses import dataclass

import MySQLdb
import redis

SECONDS = 2
REACHED_BUT_REFUSED = frozenset({1040, 1045, 1203, 1226, 4151})
"""MariaDB: too many connections; access denied; the same for a user; a user's limit; account locked."""

SEEDED = "SELECT 1 FROM tabDefaultValue WHERE parent = '__global' AND defkey = 'arena_seeded'"
"""True once setup-seed has ended: before that no request may fill the caches with what is not there yet."""


@dataclass(frozen=True)
class Report:
    """What was seen of each dependency."""

    ready: bool
    seen: dict[str, str]


class Health:
    """Checks the servers that the environment names. Redis clients are kept; each check opens one SQL connection."""

    def __init__(self) -> None:
        self.redis = {
            name: redis.Redis.from_url(os.environ[variable], socket_timeout=SECONDS, socket_connect_timeout=SECONDS)
            for name, variable in (("cache", "REDIS_CACHE"), ("queue", "REDIS_QUEUE"))
        }
        self.seeded = False

    def check(self) -> Report:
        """Look once; takes at most about 2 s a server."""
        answers = {"database": self._database(), **{name: _ping(client) for name, client in self.redis.items()}}
        return Report(all(ok for ok, _ in answers.values()), {name: seen for name, (_, seen) in answers.items()})

    def _database(self) -> tuple[bool, str]:
        seen = look("SELECT 1" if self.seeded else SEEDED)
        if isinstance(seen, MySQLdb.Error):
            return self.seeded and seen.args[0] in REACHED_BUT_REFUSED, str(seen)
        self.seeded = seen
        return self.seeded, "ok" if self.seeded else "not seeded yet"


def look(statement: str) -> bool | MySQLdb.Error:
    """Whether a statement has rows, by a connection of its own; or why that can't be said."""
    try:
        with contextlib.closing(
            MySQLdb.connect(
                host=os.environ["DB_HOST"],
                port=int(os.environ["DB_PORT"]),
                user=os.environ["DB_USER"],
                password=os.environ["DB_PASSWORD"],
                database=os.environ["DB_NAME"],
                connect_timeout=SECONDS,
                read_timeout=SECONDS,
            )
        ) as connection:
            return bool(connection.cursor().execute(statement))
    except MySQLdb.Error as error:
        return error


def _ping(client: redis.Redis) -> tuple[bool, str]:
    try:
        client.ping()
    except redis.exceptions.BusyLoadingError as error:
        return False, str(error)
    except (redis.exceptions.AuthenticationError, redis.exceptions.ResponseError) as error:
        return True, f"reached: {error}"
    except redis.exceptions.RedisError as error:
        return False, str(error)
    return True, "ok"


def main() -> None:
    """Print the report of one check."""
    report = Health().check()
    print("\n".join(f"{name}: {seen}" for name, seen in report.seen.items()))
    sys.exit(0 if report.ready else 1)


if __name__ == "__main__":
    main()
