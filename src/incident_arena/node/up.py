"""Start a node, stage by stage."""

import json
import os
import shutil
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path

import yaml

from incident_arena import proc
from incident_arena.errors import ArenaError, InfrastructureError, UserError
from incident_arena.node import allocate, build, config, down, manifests, pki, store
from incident_arena.node.api import Api
from incident_arena.node.spec import NodeSpec, Process
from incident_arena.settings import Settings
from incident_arena.wait import until

type Say = Callable[[str], None]

DEADLINE_S = 90.0
PATHS = {
    "ServiceAccount": "/api/v1/namespaces/{namespace}/serviceaccounts",
    "ConfigMap": "/api/v1/namespaces/{namespace}/configmaps",
    "Service": "/api/v1/namespaces/{namespace}/services",
    "PersistentVolume": "/api/v1/persistentvolumes",
    "Deployment": "/apis/apps/v1/namespaces/{namespace}/deployments",
    "StorageClass": "/apis/storage.k8s.io/v1/storageclasses",
    "ClusterRole": "/apis/rbac.authorization.k8s.io/v1/clusterroles",
    "ClusterRoleBinding": "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
}


@dataclass(frozen=True)
class NodeImages:
    """The images that a node is started with: all references with their archives, and the two that it needs itself."""

    archives: dict[str, Path]
    pause: str
    coredns: str


class Up:
    """One start of one node. `seconds` has each stage's duration, in order."""

    def __init__(
        self, settings: Settings, name: str, images: NodeImages, say: Say, deadline_s: float = DEADLINE_S
    ) -> None:
        self.settings = settings
        self.name = name
        self.images = images
        self.say = say
        self.deadline_s = deadline_s
        self.seconds: dict[str, float] = {}

    def start(self, *, owner: Process | None = None, cpu_count: int | None = None) -> NodeSpec:
        """Start the node and wait until it is Ready and its DNS answers.

        Args:
            owner: the node ends with this process; None: it stays until `arena node down`.
            cpu_count: CPUs for itself; None: it shares all.

        Raises:
            UserError: binaries not built, name taken.
            InfrastructureError: it did not start; its logs are kept and named.
        """
        require_root()
        binaries = build.require(self.settings)
        golden = self._timed("store", lambda: store.prepare(self.settings, self.images.archives, self.say))
        spec = allocate.allocate(
            self.settings,
            self.name,
            bin_folder=binaries,
            sandbox_image=self.images.pause,
            owner=owner,
            cpu_count=cpu_count,
        )
        try:
            self._bring_up(spec, golden)
        except BaseException as error:
            kept = self._keep_logs(spec)
            down.stop(self.settings, spec)
            if isinstance(error, ArenaError):
                raise InfrastructureError(f"node {self.name!r}", f"{error}", f"logs are in {kept}") from error
            raise
        return spec

    def _bring_up(self, spec: NodeSpec, golden: Path) -> None:
        self._timed("files", lambda: _files(spec, golden))
        proc.spawn(
            [*supervisor_argv(spec)],
            log=spec.logs / "supervisor.log",
            cwd=Path("/"),
        )
        api = Api(spec)
        try:
            self._timed("api", lambda: self._until_api(spec, api))
            self._timed("registered", lambda: self._until_registered(spec, api))
            self._timed("objects", lambda: _create(api, manifests.render(spec, self.images.coredns)))
            self._timed("ready", lambda: self._until_ready(spec, api))
            self._timed("dns", lambda: self._until_dns(spec, api))
        finally:
            api.close()

    def _timed[T](self, stage: str, work: Callable[[], T]) -> T:
        started = time.monotonic()
        result = work()
        self.seconds[stage] = round(time.monotonic() - started, 3)
        self.say(f"{stage} {self.seconds[stage]:.1f} s")
        return result

    def _until_api(self, spec: NodeSpec, api: Api) -> None:
        def probe() -> tuple[bool, str]:
            down.raise_if_ended(spec)
            status, body = api.call("GET", "/readyz")
            return status == HTTPStatus.OK, f"{status} {str(body)[:200]}"

        until("API server ready", probe, deadline_s=self.deadline_s, every_s=0.05)

    def _until_registered(self, spec: NodeSpec, api: Api) -> None:
        """The kubelet has made its Node and the controller manager has given it a range, which the firewall needs."""

        def probe() -> tuple[bool, str]:
            down.raise_if_ended(spec)
            status, node = api.call("GET", f"/api/v1/nodes/{spec.name}")
            has_range = status == HTTPStatus.OK and bool(node["spec"].get("podCIDR"))
            return has_range, "no range of pod addresses" if status == HTTPStatus.OK else f"no Node ({status})"

        until("node registered", probe, deadline_s=self.deadline_s, every_s=0.05)
        (spec.folder / "registered").touch()

    def _until_ready(self, spec: NodeSpec, api: Api) -> None:
        def probe() -> tuple[bool, str]:
            down.raise_if_ended(spec)
            status, node = api.call("GET", f"/api/v1/nodes/{spec.name}")
            if status != HTTPStatus.OK:
                return False, f"{status}"
            ready = [c for c in node["status"].get("conditions", []) if c["type"] == "Ready"]
            return bool(ready) and ready[0]["status"] == "True", ready[0]["message"] if ready else "no condition"

        until("node Ready", probe, deadline_s=self.deadline_s, every_s=0.05)

    def _until_dns(self, spec: NodeSpec, api: Api) -> None:
        def probe() -> tuple[bool, str]:
            down.raise_if_ended(spec)
            status, body = api.call("GET", "/apis/apps/v1/namespaces/kube-system/deployments/coredns")
            ready = status == HTTPStatus.OK and body["status"].get("readyReplicas", 0) >= 1
            return ready, f"{status} {json.dumps(body.get('status')) if status == HTTPStatus.OK else body}"

        until("DNS ready", probe, deadline_s=self.deadline_s, every_s=0.05)

    def _keep_logs(self, spec: NodeSpec) -> Path:
        kept = self.settings.records / "logs" / f"node-{spec.name}-{int(time.time())}"
        kept.mkdir(parents=True, exist_ok=True)
        for source in (*spec.logs.glob("*.log"), spec.folder / "died.json", spec.folder / "ended.json"):
            if source.exists():
                shutil.copy2(source, kept / source.name)
        return kept


def supervisor_argv(spec: NodeSpec) -> list[str]:
    """How the supervisor of a node is started; also how it is recognised."""
    return [sys.executable, "-m", "incident_arena.node.supervise", str(spec.folder)]


def require_root() -> None:
    """Refuse early when namespaces and control groups are out of reach.

    Raises:
        UserError: this process is not root.
    """
    if os.geteuid() != 0:
        raise UserError("node", "needs root for namespaces and control groups", "run the same command with sudo")


def _files(spec: NodeSpec, golden: Path) -> None:
    pki.create(spec)
    config.write(spec)
    store.link_into(golden, spec)


def _create(api: Api, stream: str) -> None:
    """Create objects in their order; each must be new."""
    for document in yaml.safe_load_all(stream):
        metadata = document["metadata"]
        path = PATHS[document["kind"]].format(namespace=metadata.get("namespace", ""))
        status, body = api.call("POST", path, document)
        if status != HTTPStatus.CREATED:
            message = body.get("message", body) if isinstance(body, dict) else body
            raise InfrastructureError(f"{document['kind']} {metadata['name']}", f"was refused ({status}): {message}")
