"""Real data stores for tests: Debian's mariadbd and redis-server (packages mariadb-server, redis-server) in folders
of the test, on unix sockets and loopback.
"""

import os
import shutil
import socket
import subprocess
from dataclasses import dataclass
from pathlib import Path

from incident_arena import proc, wait
from incident_arena.stores.base import Account, StoreError, StoreSpec
from incident_arena.stores.mariadb.client import MariaDb
from incident_arena.stores.mariadb.store import MariaDbStore
from incident_arena.stores.redis.client import RedisServer
from incident_arena.stores.redis.store import RedisStore
from incident_arena.stores.rq.store import RqStore

REDIS_CONF = """\
bind 127.0.0.1
port {port}
unixsocket {folder}/redis.sock
dir {folder}
aclfile {folder}/users.acl
maxmemory 64mb
maxmemory-policy noeviction
appendonly yes
appendfsync always
client-output-buffer-limit normal 0 0 0
save ""
"""
USERS_ACL = """\
user default off
user app on >app ~* &* +@all -@admin -@dangerous +info
user operator on >operator ~* &* -@all +@read +@connection +info -keys
user referee on >referee ~* &* +@all
"""

REFEREE = Account("referee", "referee")


@dataclass(frozen=True)
class Redis:
    """A running redis-server: its folder, and a connection of its account `referee`."""

    folder: Path
    port: int
    process: subprocess.Popen[bytes]
    commands: RedisServer

    def connect(self, user: str) -> RedisServer:
        return RedisServer(unix_socket=str(self.folder / "redis.sock"), user=user, password=user)

    def spec(self, name: str, kind: str = "redis") -> StoreSpec:
        """It as the store `name` of an application."""
        given = {"name": name, "kind": kind, "host": "127.0.0.1", "port": self.port, "account": "app"}
        return StoreSpec.model_validate(given | {"folders": {"data": self.folder} if kind == "redis" else {}})

    def store(self) -> RedisStore:
        return RedisStore(self.spec("redis-queue"), REFEREE)

    def jobs(self) -> RqStore:
        return RqStore(self.spec("jobs", "rq"), REFEREE)


@dataclass(frozen=True)
class Maria:
    """A running mariadbd: its folder, and a connection of root."""

    folder: Path
    sql: MariaDb
    port: int

    def connect(self, user: str, password: str = "") -> MariaDb:
        return MariaDb(unix_socket=str(self.folder / "sock"), user=user, password=password)

    def spec(self, config: Path | None = None) -> StoreSpec:
        """It as the store `mariadb` of an application; `config` has its option files."""
        folders = {"audit": self.folder} | ({"config": config} if config else {})
        given = {"name": "mariadb", "kind": "mariadb", "host": "127.0.0.1", "port": self.port, "account": "site"}
        return StoreSpec.model_validate(given | {"options": {"database": "site"}, "folders": folders})

    def store(self, config: Path | None = None) -> MariaDbStore:
        """Of the account `referee`, which is made here."""
        for statement in (
            "CREATE OR REPLACE USER referee@'%' IDENTIFIED BY 'referee'",
            "GRANT ALL PRIVILEGES ON *.* TO referee@'%' WITH GRANT OPTION",
        ):
            self.sql.query(statement)
        return MariaDbStore(self.spec(config), REFEREE)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def program(name: str, package: str) -> str:
    found = shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/usr/bin")
    assert found, f"{name} is missing: apt-get install {package}"
    return found


def start_redis(folder: Path) -> Redis:
    port = int((folder / "redis.conf").read_text().split("port ")[1].split()[0])
    process = proc.spawn([program("redis-server", "redis-server"), folder / "redis.conf"], log=folder / "log")
    redis = Redis(
        folder, port, process, RedisServer(unix_socket=str(folder / "redis.sock"), user="referee", password="referee")
    )

    def answers() -> tuple[bool, str]:
        try:
            return redis.commands.command("PING") == "PONG", "pong"
        except StoreError as error:
            return False, str(error)

    wait.until("redis answers", answers, deadline_s=20)
    return redis


def stop_redis(redis: Redis) -> None:
    redis.commands.close()
    redis.process.kill()
    redis.process.wait(10)
