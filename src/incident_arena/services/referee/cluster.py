"""The Kubernetes API as the referee's pod reaches it: with the pod's service account, JSON in and out."""

import contextlib
import os
import ssl
from collections.abc import AsyncGenerator, Mapping
from pathlib import Path
from typing import Any

import aiohttp

from incident_arena.errors import InfrastructureError, UserError
from incident_arena.stores.kubernetes import picture as kubernetes

type Json = dict[str, Any]

COMPONENT = kubernetes.COMPONENT
TIMEOUT = aiohttp.ClientTimeout(total=10)
REFUSED = 400
GONE = 404


class ClusterError(InfrastructureError):
    """The API server refused a request or could not be reached; `status` is None in the latter case."""

    def __init__(self, what: str, reason: str, status: int | None = None) -> None:
        self.status = status
        super().__init__(what, reason)


class Cluster:
    """One namespace; made by `connect`."""

    def __init__(self, session: aiohttp.ClientSession, server: str, account: Path, namespace: str) -> None:
        self._session = session
        self._server = server
        self._account = account
        self.namespace = namespace

    async def call(
        self, method: str, path: str, body: Json | None = None, query: Mapping[str, str] | None = None
    ) -> Json:
        """Send one request; a body is a merge patch.

        Raises:
            ClusterError: refused, or the server could not be reached.
        """
        what = f"{method} {path}"
        # The token is renewed while the pod runs, so it is read each time.
        headers = {"Authorization": f"Bearer {(self._account / 'token').read_text().strip()}"}
        if method == "PATCH":
            headers["Content-Type"] = "application/merge-patch+json"
        try:
            async with self._session.request(
                method, self._server + path, json=body, params=query, headers=headers
            ) as answer:
                content = await answer.json(content_type=None)
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
            raise ClusterError(what, f"{type(error).__name__}: {error}") from error
        if answer.status >= REFUSED:
            raise ClusterError(what, f"{answer.status}: {content.get('message', content)}", answer.status)
        return dict(content)

    async def items(self, kind: str, selector: str = "") -> list[Json]:
        """All objects of a kind (see stores/kubernetes.py), or those that a label selector takes."""
        query = {"labelSelector": selector} if selector else None
        return list((await self.call("GET", kubernetes.list_path(kind, self.namespace), query=query))["items"])

    async def pods(self, component: str) -> list[Json]:
        """A component's pods that are not being deleted."""
        pods = await self.items("pods", f"{COMPONENT}={component}")
        return [pod for pod in pods if not pod["metadata"].get("deletionTimestamp")]

    async def delete_pod(self, name: str) -> None:
        """Delete a pod, as a graceful restart would; gone already is as good."""
        try:
            await self.call("DELETE", self._pod(name))
        except ClusterError as error:
            if error.status != GONE:
                raise

    async def label_pod(self, name: str, label: str, value: str) -> None:
        """Set one label of a pod."""
        await self.call("PATCH", self._pod(name), {"metadata": {"labels": {label: value}}})

    def _pod(self, name: str) -> str:
        return f"{kubernetes.list_path('pods', self.namespace)}/{name}"


@contextlib.asynccontextmanager
async def connect(
    account: Path, namespace: str, environment: Mapping[str, str] = os.environ
) -> AsyncGenerator[Cluster]:
    """Open a session to the cluster that this pod is in.

    Args:
        account: folder with the service account's token and the cluster's authority (`ca.crt`).
        namespace: the arena's.
        environment: KUBERNETES_SERVICE_HOST and _PORT; KUBERNETES_URL instead of both is for tests.

    Raises:
        UserError: this is no pod with a service account.
    """
    url = environment.get("KUBERNETES_URL")
    host, port = environment.get("KUBERNETES_SERVICE_HOST"), environment.get("KUBERNETES_SERVICE_PORT")
    if not (account / "token").is_file() or not (url or (host and port)):
        raise UserError(
            "the referee's cluster", f"no service account in {account}, or KUBERNETES_SERVICE_HOST is not set",
            "run it in the pod `referee`, with automountServiceAccountToken",
        )  # fmt: skip
    authority = account / "ca.crt"
    context = ssl.create_default_context(cafile=str(authority)) if authority.is_file() else None
    if context:
        # Python 3.13 asks for extensions that many a cluster's own authority leaves out; the chain is verified.
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    connector = aiohttp.TCPConnector(ssl=context) if context else aiohttp.TCPConnector()
    async with aiohttp.ClientSession(connector=connector, timeout=TIMEOUT) as session:
        yield Cluster(session, url or f"https://{host}:{port}", account, namespace)


def ready(pod: Json) -> bool:
    """Whether a pod is Ready."""
    conditions = pod.get("status", {}).get("conditions") or []
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


def state(pod: Json) -> str:
    """What a pod is doing, in a few words: its phase, and why a container waits or ended."""
    status = pod.get("status", {})
    held_up = [
        f"{container['name']} {name}: {detail.get('reason', '?')}"
        for container in status.get("containerStatuses") or []
        for name in ("waiting", "terminated")
        if (detail := (container.get("state") or {}).get(name))
    ]
    return ", ".join([str(status.get("phase", "Unknown")), *held_up])
