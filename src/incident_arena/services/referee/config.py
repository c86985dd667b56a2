"""What the referee is told by its pod: environment variables and mounts.

    variable              default       meaning
    TASK_FILE             /task/task.json   the TaskSpec, mounted from a ConfigMap
    EPISODE               (required)    name of the episode
    NAMESPACE             arena         namespace of the pods
    MARIADB_HOST          mariadb
    MARIADB_PORT          3306
    MARIADB_USER          referee       needs ALL PRIVILEGES ON *.* WITH GRANT OPTION: it reads every account and plants
    MARIADB_PASSWORD      (required)
    MARIADB_DATABASE      site          the application's database
    REDIS_CACHE_HOST      redis-cache
    REDIS_QUEUE_HOST      redis-queue
    REDIS_PORT            6379
    REDIS_USER            referee       needs `~* &* +@all` on both
    REDIS_PASSWORD        (required)    the same on both
    LOAD_URL              http://load:8091
    LOAD_TOKEN            (required)
    ADMIN_URL             http://admin:8080
    PROMETHEUS_URL        http://prometheus:9090

    mount                 mode  what is read or written there
    /task                 ro    task.json
    /ledger               ro    ledger.jsonl, written by the load
    /admin-audit          ro    actions.jsonl (records.Action, one a line) and, once declared, declaration.json
                                (records.Declaration, written under another name and renamed), both by the admin
    /mariadb-audit        ro    server_audit.log and its rotations server_audit.log.1 …
    /mariadb-config       ro    the option files *.cnf
    /redis-cache-data     ro    redis.conf and users.acl of the cache
    /redis-queue-data     ro    redis.conf and users.acl of the queue
    /evidence             rw    everything that the referee writes

Every folder can be moved by a variable of its name (ADMIN_AUDIT_DIR and so on), which is how tests run it. The files
must be readable for the referee's user. The pod's service account token is at its usual place; its rights in the
namespace: get, list on everything that snapshots read (pods, services, configmaps, secrets, persistentvolumeclaims,
serviceaccounts, deployments, statefulsets, daemonsets, replicasets, jobs, cronjobs, networkpolicies, roles,
rolebindings), patch and delete on pods, get and patch on deployments and statefulsets.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from incident_arena.errors import UserError

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")


@dataclass(frozen=True)
class Config:
    """The referee's settings; see the module's docstring."""

    task_file: Path
    episode: str
    namespace: str
    mariadb_host: str
    mariadb_port: int
    mariadb_user: str
    mariadb_password: str
    mariadb_database: str
    redis_cache_host: str
    redis_queue_host: str
    redis_port: int
    redis_user: str
    redis_password: str
    load_url: str
    load_token: str
    admin_url: str
    prometheus_url: str
    ledger: Path
    admin_audit: Path
    mariadb_audit: Path
    mariadb_config: Path
    redis_cache_data: Path
    redis_queue_data: Path
    evidence: Path
    service_account: Path

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> "Config":
        """Read the variables.

        Raises:
            UserError: one is missing or is not what it should be; all of them are named at once.
        """
        required = ("EPISODE", "MARIADB_PASSWORD", "REDIS_PASSWORD", "LOAD_TOKEN")
        missing = [name for name in required if not environment.get(name)]
        ports = {name: environment.get(name, default) for name, default in _PORTS.items()}
        wrong = [f"{name}={value}" for name, value in ports.items() if not value.isdecimal()]
        if missing or wrong:
            reason = "; ".join(
                ([f"not set: {', '.join(missing)}"] if missing else [])
                + ([f"not a port: {', '.join(wrong)}"] if wrong else [])
            )
            raise UserError("the referee's environment", reason, "set them in the referee's pod (harness chart)")

        def text(name: str, default: str) -> str:
            return environment.get(name, default)

        def folder(name: str, default: str) -> Path:
            return Path(environment.get(name, default))

        return cls(
            task_file=folder("TASK_FILE", "/task/task.json"),
            episode=environment["EPISODE"],
            namespace=text("NAMESPACE", "arena"),
            mariadb_host=text("MARIADB_HOST", "mariadb"),
            mariadb_port=int(ports["MARIADB_PORT"]),
            mariadb_user=text("MARIADB_USER", "referee"),
            mariadb_password=environment["MARIADB_PASSWORD"],
            mariadb_database=text("MARIADB_DATABASE", "site"),
            redis_cache_host=text("REDIS_CACHE_HOST", "redis-cache"),
            redis_queue_host=text("REDIS_QUEUE_HOST", "redis-queue"),
            redis_port=int(ports["REDIS_PORT"]),
            redis_user=text("REDIS_USER", "referee"),
            redis_password=environment["REDIS_PASSWORD"],
            load_url=text("LOAD_URL", "http://load:8091"),
            load_token=environment["LOAD_TOKEN"],
            admin_url=text("ADMIN_URL", "http://admin:8080"),
            prometheus_url=text("PROMETHEUS_URL", "http://prometheus:9090"),
            ledger=folder("LEDGER_DIR", "/ledger") / "ledger.jsonl",
            admin_audit=folder("ADMIN_AUDIT_DIR", "/admin-audit"),
            mariadb_audit=folder("MARIADB_AUDIT_DIR", "/mariadb-audit"),
            mariadb_config=folder("MARIADB_CONFIG_DIR", "/mariadb-config"),
            redis_cache_data=folder("REDIS_CACHE_DATA_DIR", "/redis-cache-data"),
            redis_queue_data=folder("REDIS_QUEUE_DATA_DIR", "/redis-queue-data"),
            evidence=folder("EVIDENCE_DIR", "/evidence"),
            service_account=folder("SERVICE_ACCOUNT_DIR", str(SERVICE_ACCOUNT)),
        )


# MARIADB_PORT and REDIS_PORT are also what Kubernetes' service links would set to `tcp://…`: the pod turns those off.
_PORTS = {"MARIADB_PORT": "3306", "REDIS_PORT": "6379"}
