"""What the admin interface is told by its pod.

    variable            default      meaning
    ADMIN_TOKEN         (required)   bearer token of the agent's pod
    ADMIN_PORT          8080         where it listens
    NAMESPACE           arena
    MARIADB_HOST        mariadb
    MARIADB_PORT        3306
    MARIADB_USER        admin        needs the globals that mariadb.py lists
    MARIADB_PASSWORD    (required)
    REDIS_CACHE_HOST    redis-cache
    REDIS_QUEUE_HOST    redis-queue
    REDIS_PORT          6379         of the cache; and of the queue unless REDIS_QUEUE_PORT is set
    REDIS_USER          admin
    REDIS_PASSWORD      (required)   the same on both
    COMPONENTS          (required)   JSON: component → "Deployment" or "StatefulSet"
    CONNECTIONS         {}           JSON: setting → Connection
    EDGE                edge         component whose log shows the users' requests
    VOCABULARY          []           JSON: names that a declaration may give, `component.aspect`

    mount               mode  what is there
    /admin-audit        rw    actions.jsonl, attempts.jsonl, declaration.json
    /mariadb-config     rw    option files
    /redis-cache-data   ro    redis.conf, users.acl
    /redis-queue-data   ro    redis.conf, users.acl

Each folder can be moved by a variable (ADMIN_AUDIT_DIR and so on), which is how tests run it.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from incident_arena.errors import UserError

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")

type Workload = Literal["Deployment", "StatefulSet"]


class Connection(BaseModel):
    """One connection setting of the application: where it is kept and which components read it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    object: Literal["ConfigMap", "Secret"]
    name: str
    key: str
    consumers: tuple[str, ...]
    pattern: str = Field(default=r"[A-Za-z0-9_.:/@%+-]{1,200}")
    """What a value must match in full."""


class Told(BaseModel):
    """The variables that hold JSON."""

    components: dict[str, Workload]
    connections: dict[str, Connection]
    vocabulary: tuple[str, ...]


@dataclass(frozen=True)
class RedisStore:
    """One Redis: where it answers, and the folder with its redis.conf and users.acl."""

    host: str
    port: int
    folder: Path


@dataclass(frozen=True)
class Config:
    """The admin interface's settings; see the module's docstring."""

    token: str
    port: int
    namespace: str
    mariadb_host: str
    mariadb_port: int
    mariadb_user: str
    mariadb_password: str
    mariadb_config: Path
    redis_user: str
    redis_password: str
    stores: Mapping[str, RedisStore]
    audit: Path
    service_account: Path
    kubernetes: str
    """Base address of the Kubernetes API."""
    components: Mapping[str, Workload]
    connections: Mapping[str, Connection]
    vocabulary: tuple[str, ...]
    edge: str

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> "Config":
        """Read the variables.

        Raises:
            UserError: some are missing or malformed; all of them are named at once.
        """
        problems = [
            f"{name} is not set"
            for name in ("ADMIN_TOKEN", "MARIADB_PASSWORD", "REDIS_PASSWORD", "COMPONENTS")
            if not environment.get(name)
        ]
        ports = {name: environment.get(name, default) for name, default in _ports(environment).items()}
        problems += [f"{name}={value} is not a port" for name, value in ports.items() if not value.isdecimal()]
        told = _told(environment, problems)
        if problems or told is None:
            raise UserError("the admin interface's environment", "; ".join(problems), "set it in the harness chart")

        def folder(name: str, default: str) -> Path:
            return Path(environment.get(name, default))

        queue_folder, cache_folder = (
            folder("REDIS_QUEUE_DATA_DIR", "/redis-queue-data"),
            folder("REDIS_CACHE_DATA_DIR", "/redis-cache-data"),
        )
        host, port = environment.get("KUBERNETES_SERVICE_HOST", ""), environment.get("KUBERNETES_SERVICE_PORT", "443")
        return cls(
            token=environment["ADMIN_TOKEN"],
            port=int(ports["ADMIN_PORT"]),
            namespace=environment.get("NAMESPACE", "arena"),
            mariadb_host=environment.get("MARIADB_HOST", "mariadb"),
            mariadb_port=int(ports["MARIADB_PORT"]),
            mariadb_user=environment.get("MARIADB_USER", "admin"),
            mariadb_password=environment["MARIADB_PASSWORD"],
            mariadb_config=folder("MARIADB_CONFIG_DIR", "/mariadb-config"),
            redis_user=environment.get("REDIS_USER", "admin"),
            redis_password=environment["REDIS_PASSWORD"],
            stores={
                "redis-cache": RedisStore(
                    environment.get("REDIS_CACHE_HOST", "redis-cache"), int(ports["REDIS_PORT"]), cache_folder
                ),
                "redis-queue": RedisStore(
                    environment.get("REDIS_QUEUE_HOST", "redis-queue"), int(ports["REDIS_QUEUE_PORT"]), queue_folder
                ),
            },
            audit=folder("ADMIN_AUDIT_DIR", "/admin-audit"),
            service_account=folder("SERVICE_ACCOUNT_DIR", str(SERVICE_ACCOUNT)),
            kubernetes=environment.get("KUBERNETES_API", f"https://{host}:{port}"),
            components=told.components,
            connections=told.connections,
            vocabulary=told.vocabulary,
            edge=environment.get("EDGE", "edge"),
        )


def _ports(environment: Mapping[str, str]) -> dict[str, str]:
    redis = environment.get("REDIS_PORT", "6379")
    return {"ADMIN_PORT": "8080", "MARIADB_PORT": "3306", "REDIS_PORT": redis, "REDIS_QUEUE_PORT": redis}


def _told(environment: Mapping[str, str], problems: list[str]) -> Told | None:
    parts = {"components": "{}", "connections": "{}", "vocabulary": "[]"}
    document = ",".join(f'"{name}":{environment.get(name.upper()) or default}' for name, default in parts.items())
    try:
        return TypeAdapter(Told).validate_json("{" + document + "}")
    except ValidationError as error:
        problems += [f"{_place(e['loc'])}: {e['msg']}" for e in error.errors()]
        return None


def _place(location: tuple[int | str, ...]) -> str:
    """Where in which variable."""
    variable, *rest = map(str, location or ("JSON",))
    return ".".join([variable.upper(), *rest])
