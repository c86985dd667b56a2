"""What the admin interface is told by its pod.

    variable            default      meaning
    ADMIN_TOKEN         (required)   bearer token of the agent's pod
    ADMIN_PORT          8080         where it listens
    NAMESPACE           arena
    STORES              (required)   JSON: the application's stores (stores.base.StoreSpec), as this pod reaches them
    STORES_PASSWORD     (required)   of the account `admin`, the same in every store
    COMPONENTS          (required)   JSON: component → "Deployment" or "StatefulSet"
    CONNECTIONS         {}           JSON: setting → Connection
    EDGE                edge         component whose log shows the users' requests; empty: none does
    VOCABULARY          []           JSON: names that a declaration may give, `component.aspect`

    mount               mode  what is there
    /admin-audit        rw    actions.jsonl, attempts.jsonl, declaration.json

The stores' files are mounted where STORES says. ADMIN_AUDIT_DIR and SERVICE_ACCOUNT_DIR move these two folders, which
is how tests run it.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from incident_arena.errors import UserError
from incident_arena.stores.base import Account, StoreSpec, read_specs

USER = "admin"
"""The admin interface's account in every store."""
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
class Config:
    """The admin interface's settings; see the module's docstring."""

    token: str
    port: int
    namespace: str
    stores: tuple[StoreSpec, ...]
    account: Account
    audit: Path
    service_account: Path
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
        required = ("ADMIN_TOKEN", "STORES", "STORES_PASSWORD", "COMPONENTS")
        problems = [f"{name} is not set" for name in required if not environment.get(name)]
        port = environment.get("ADMIN_PORT", "8080")
        if not port.isdecimal():
            problems.append(f"ADMIN_PORT={port} is not a port")
        told = _told(environment, problems)
        stores = _stores(environment.get("STORES") or "[]", problems)
        if problems or told is None:
            raise UserError("the admin interface's environment", "; ".join(problems), "set it in the harness chart")
        return cls(
            token=environment["ADMIN_TOKEN"],
            port=int(port),
            namespace=environment.get("NAMESPACE", "arena"),
            stores=stores,
            account=Account(USER, environment["STORES_PASSWORD"]),
            audit=Path(environment.get("ADMIN_AUDIT_DIR", "/admin-audit")),
            service_account=Path(environment.get("SERVICE_ACCOUNT_DIR", str(SERVICE_ACCOUNT))),
            components=told.components,
            connections=told.connections,
            vocabulary=told.vocabulary,
            edge=environment.get("EDGE", "edge"),
        )


def _stores(text: str, problems: list[str]) -> tuple[StoreSpec, ...]:
    try:
        return read_specs(text)
    except UserError as error:
        problems.append(f"{error.thing}: {error.reason}")
        return ()


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
