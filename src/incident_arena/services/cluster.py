"""The Kubernetes API as a pod of the harness reaches it: with the pod's service account, JSON in and out.

Not kube/api.py: that one reads a kubeconfig, for which what runs in pods has no YAML.
"""

import contextlib
import json
import os
import ssl
from collections.abc import AsyncGenerator, Mapping
from pathlib import Path
from typing import Any

import aiohttp

from incident_arena.errors import InfrastructureError, UserError
from incident_arena.stores.kubernetes.picture import COMPONENT, list_path

type Json = dict[str, Any]

TIMEOUT_S = 10.0
REFUSED = 400
GONE = 404
LONGEST_TOLD = 300


class ClusterError(InfrastructureError):
    """The API server refused a request or could not be reached; `status` is None in the latter case."""

    def __init__(self, what: str, reason: str, status: int | None = None) -> None:
        self.status = status
        super().__init__(f"kubernetes {what}", reason)


class Cluster:
    """One namespace; made by `of_pod` or `connect`. The session opens at the first request."""

    def __init__(self, server: str, account: Path, namespace: str, timeout_s: float = TIMEOUT_S) -> None:
        self._server = server
        self._account = account
        self.namespace = namespace
        self._timeout = aiohttp.ClientTimeout(total=timeout_s)
        self._opened: aiohttp.ClientSession | None = None

    async def call(
        self, method: str, path: str, body: Json | None = None, query: Mapping[str, str] | None = None
    ) -> Json:
        """Send one request; a PATCH's body is a merge patch.

        Raises:
            ClusterError: refused, or the server could not be reached.
        """
        text = await self._ask(method, path, body, query)
        try:
            return dict(json.loads(text))
        except (ValueError, TypeError) as error:
            raise ClusterError(f"{method} {path}", f"answered no JSON object: {text[:LONGEST_TOLD]}") from error

    async def items(self, kind: str, selector: str = "") -> list[Json]:
        """All objects of a kind, by its plural, or those that a label selector takes."""
        query = {"labelSelector": selector} if selector else None
        return list((await self.call("GET", self.path(kind), query=query))["items"])

    async def get(self, kind: str, name: str) -> Json:
        """One object."""
        return await self.call("GET", self.path(kind, name))

    async def patch(self, kind: str, name: str, change: Json) -> Json:
        """Change one object by a merge patch."""
        return await self.call("PATCH", self.path(kind, name), change)

    async def replace_in_spec(self, kind: str, name: str, fields: Json) -> None:
        """Put other values in place of whole fields of one object's spec."""
        change = [{"op": "replace", "path": f"/spec/{field}", "value": value} for field, value in fields.items()]
        await self._ask("PATCH", self.path(kind, name), change, None)

    async def delete(self, kind: str, name: str) -> None:
        """Delete one object; one that is gone already is an error."""
        await self.call("DELETE", self.path(kind, name))

    async def pods(self, component: str) -> list[Json]:
        """A component's pods that are not being deleted."""
        pods = await self.items("pods", f"{COMPONENT}={component}")
        return [pod for pod in pods if not pod["metadata"].get("deletionTimestamp")]

    async def delete_pod(self, name: str) -> None:
        """Delete a pod, as a graceful restart would; gone already is as good."""
        try:
            await self.delete("pods", name)
        except ClusterError as error:
            if error.status != GONE:
                raise

    async def label_pod(self, name: str, label: str, value: str) -> None:
        """Set one label of a pod."""
        await self.patch("pods", name, {"metadata": {"labels": {label: value}}})

    async def log(self, pod: str, query: Mapping[str, str]) -> str:
        """A pod's log; the query says which part (`tailLines`, `sinceSeconds`, `previous`). Bad bytes are replaced."""
        return await self._ask("GET", f"{self.path('pods', pod)}/log", None, query)

    def path(self, kind: str, name: str = "") -> str:
        """Where a kind is listed in this namespace, or where one object of it is."""
        listed = list_path(kind, self.namespace)
        return f"{listed}/{name}" if name else listed

    async def close(self) -> None:
        """Close the session."""
        if self._opened is not None:
            await self._opened.close()

    async def _ask(
        self, method: str, path: str, body: Json | list[Json] | None, query: Mapping[str, str] | None
    ) -> str:
        what = f"{method} {path}"
        # The token is renewed while the pod runs, so it is read each time.
        headers = {"Authorization": f"Bearer {(self._account / 'token').read_text().strip()}"}
        if method == "PATCH":
            # RFC 6902 wants a list of operations, RFC 7386 an object.
            form = "json-patch" if isinstance(body, list) else "merge-patch"
            headers["Content-Type"] = f"application/{form}+json"
        try:
            async with self._session().request(
                method, self._server + path, json=body, params=query, headers=headers
            ) as answer:
                text = await answer.text(errors="replace")
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise ClusterError(what, f"could not be reached: {type(error).__name__}: {error}") from error
        if answer.status >= REFUSED:
            raise ClusterError(what, f"answered {answer.status}: {_told(text)}", answer.status)
        return text

    def _session(self) -> aiohttp.ClientSession:
        if self._opened is None:
            authority = self._account / "ca.crt"
            context = ssl.create_default_context(cafile=str(authority)) if authority.is_file() else None
            if context:
                # Python 3.13 asks for extensions that many a cluster's own authority leaves out; the chain is verified.
                context.verify_flags &= ~ssl.VERIFY_X509_STRICT
            connector = aiohttp.TCPConnector(ssl=context) if context else aiohttp.TCPConnector()
            self._opened = aiohttp.ClientSession(connector=connector, timeout=self._timeout)
        return self._opened


def of_pod(
    account: Path, namespace: str, environment: Mapping[str, str] = os.environ, timeout_s: float = TIMEOUT_S
) -> Cluster:
    """The cluster that this pod is in. Whoever makes it closes it.

    Args:
        account: folder with the service account's token and the cluster's authority (`ca.crt`).
        namespace: the arena's.
        environment: KUBERNETES_SERVICE_HOST and _PORT; KUBERNETES_URL instead of both is for tests.
        timeout_s: seconds that one request may take.

    Raises:
        UserError: this is no pod with a service account.
    """
    url = environment.get("KUBERNETES_URL")
    host, port = environment.get("KUBERNETES_SERVICE_HOST"), environment.get("KUBERNETES_SERVICE_PORT")
    if not (account / "token").is_file() or not (url or (host and port)):
        raise UserError(
            "this pod's cluster", f"no service account in {account}, or KUBERNETES_SERVICE_HOST is not set",
            "run it in its pod, with automountServiceAccountToken",
        )  # fmt: skip
    return Cluster(url or f"https://{host}:{port}", account, namespace, timeout_s)


@contextlib.asynccontextmanager
async def connect(
    account: Path, namespace: str, environment: Mapping[str, str] = os.environ
) -> AsyncGenerator[Cluster]:
    """`of_pod`, closed at the end."""
    cluster = of_pod(account, namespace, environment)
    try:
        yield cluster
    finally:
        await cluster.close()


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


def _told(text: str) -> str:
    """What an error's answer says."""
    try:
        return str(json.loads(text)["message"])
    except (ValueError, KeyError, TypeError):
        return text[:LONGEST_TOLD]
