"""What the referee is told by its pod: environment variables and mounts.

    variable              default       meaning
    TASK_FILE             /task/task.json   the TaskSpec, mounted from a ConfigMap
    EPISODE               (required)    name of the episode
    NAMESPACE             arena         namespace of the pods
    STORES                (required)    JSON: the application's stores (stores.base.StoreSpec)
    STORES_PASSWORD       (required)    of the account `referee`, which may read and change everything in each
    LOAD_URL              http://load:8091
    LOAD_TOKEN            (required)
    ADMIN_URL             http://admin:8080
    PROMETHEUS_URL        http://prometheus:9090
    EDGE                  (none)      component whose log has users' requests
    LOOKING_PORT          0           where the agent alone comes in there; 0: nowhere

    mount                 mode  what is read or written there
    /task                 ro    task.json
    /ledger               ro    ledger.jsonl, written by the load
    /admin-audit          ro    actions.jsonl (records.Action, one a line) and, once declared, declaration.json
                                (records.Declaration, written under another name and renamed), both by the admin
    the stores' folders   ro    as STORES says
    /evidence             rw    everything that the referee writes

Every folder can be moved by a variable of its name (ADMIN_AUDIT_DIR and so on), which is how tests run it. The files
must be readable for the referee's user. The pod's service account token is at its usual place; its rights in the
namespace: get, list on everything that snapshots read (pods, services, configmaps, secrets, persistentvolumeclaims,
serviceaccounts, deployments, statefulsets, daemonsets, replicasets, jobs, cronjobs, networkpolicies, roles,
rolebindings) and on pods' logs, patch and delete on pods, get and patch on deployments and statefulsets.
"""

import contextlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from incident_arena import stores
from incident_arena.errors import UserError
from incident_arena.stores.base import Account, Stores, StoreSpec, read_specs

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
REQUIRED = ("EPISODE", "STORES", "STORES_PASSWORD", "LOAD_TOKEN")
USER = "referee"


@dataclass(frozen=True)
class Config:
    """The referee's settings; see the module's docstring."""

    task_file: Path
    episode: str
    namespace: str
    stores: tuple[StoreSpec, ...]
    account: Account
    load_url: str
    load_token: str
    admin_url: str
    prometheus_url: str
    edge: str
    looking_port: int
    ledger: Path
    admin_audit: Path
    evidence: Path
    service_account: Path

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> "Config":
        """Read the variables.

        Raises:
            UserError: one is missing or is not what it should be; all of them are named at once.
        """
        if missing := [name for name in REQUIRED if not environment.get(name)]:
            remedy = "set them in the referee's pod (harness chart)"
            raise UserError("the referee's environment", f"not set: {', '.join(missing)}", remedy)

        def folder(name: str, default: str) -> Path:
            return Path(environment.get(name, default))

        return cls(
            task_file=folder("TASK_FILE", "/task/task.json"),
            episode=environment["EPISODE"],
            namespace=environment.get("NAMESPACE", "arena"),
            stores=read_specs(environment["STORES"]),
            account=Account(USER, environment["STORES_PASSWORD"]),
            load_url=environment.get("LOAD_URL", "http://load:8091"),
            load_token=environment["LOAD_TOKEN"],
            admin_url=environment.get("ADMIN_URL", "http://admin:8080"),
            prometheus_url=environment.get("PROMETHEUS_URL", "http://prometheus:9090"),
            edge=environment.get("EDGE", ""),
            looking_port=int(environment.get("LOOKING_PORT") or 0),
            ledger=folder("LEDGER_DIR", "/ledger") / "ledger.jsonl",
            admin_audit=folder("ADMIN_AUDIT_DIR", "/admin-audit"),
            evidence=folder("EVIDENCE_DIR", "/evidence"),
            service_account=folder("SERVICE_ACCOUNT_DIR", str(SERVICE_ACCOUNT)),
        )

    @property
    def kinds(self) -> dict[str, str]:
        """Kind of each store, by its name."""
        return {spec.name: spec.kind for spec in self.stores}

    @contextlib.contextmanager
    def opened(self, timeout_s: float = 5.0) -> Iterator[Stores]:
        """`connect`, closed at the end."""
        opened = self.connect(timeout_s)
        try:
            yield opened
        finally:
            for store in opened.values():
                store.close()

    def connect(self, timeout_s: float = 5.0) -> Stores:
        """Connections to all stores, which open when they are first used; the caller closes them.

        Raises:
            UserError: a store is of no known kind.
        """
        return {spec.name: stores.connect(spec, self.account, timeout_s) for spec in self.stores}
