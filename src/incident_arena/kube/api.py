"""A small reader of the Kubernetes API: a kubeconfig's client certificate, JSON in and out.

Starting kubectl costs a fifth of a second of processor time, which polling can't afford.
"""

import base64
import contextlib
import ssl
import tempfile
from collections.abc import AsyncGenerator, Mapping
from pathlib import Path
from typing import Any

import aiohttp
import yaml
from pydantic import BaseModel, ConfigDict, Field

from incident_arena.errors import InfrastructureError, UserError

type Json = dict[str, Any]

TIMEOUT = aiohttp.ClientTimeout(total=10)


class ApiError(InfrastructureError):
    """The API server refused a request or could not be reached; `status` is None in the latter case."""

    def __init__(self, what: str, reason: str, status: int | None = None) -> None:
        """See the class."""
        self.status = status
        super().__init__(what, reason)


class _Lenient(BaseModel):
    model_config = ConfigDict(extra="ignore", populate_by_name=True)


class _Cluster(_Lenient):
    server: str
    authority: str | None = Field(default=None, alias="certificate-authority")
    authority_data: str | None = Field(default=None, alias="certificate-authority-data")


class _User(_Lenient):
    certificate: str | None = Field(default=None, alias="client-certificate")
    certificate_data: str | None = Field(default=None, alias="client-certificate-data")
    key: str | None = Field(default=None, alias="client-key")
    key_data: str | None = Field(default=None, alias="client-key-data")
    token: str | None = None


class Api:
    """Requests to one cluster; made by `connect`."""

    def __init__(self, session: aiohttp.ClientSession, server: str) -> None:
        """See the class."""
        self._session = session
        self._server = server.rstrip("/")

    async def request(
        self, method: str, path: str, *, body: Json | None = None, query: Mapping[str, str] | None = None
    ) -> Json:
        """Send one request.

        Args:
            method: HTTP method.
            path: absolute, as `/api/v1/namespaces/arena/pods`.
            body: JSON to send.
            query: query parameters.

        Raises:
            ApiError: refused, or the server could not be reached.
        """
        what = f"{method} {path}"
        try:
            async with self._session.request(method, self._server + path, json=body, params=query) as answer:
                content = await answer.json(content_type=None)
                if answer.status >= 400:  # noqa: PLR2004 - HTTP
                    raise ApiError(what, f"{answer.status}: {content.get('message', content)}", answer.status)
                return dict(content)
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise ApiError(what, f"{type(error).__name__}: {error}") from error

    async def text(self, path: str, **query: str) -> str:
        """What a GET answers that is no JSON, as a pod's log; bytes that are no UTF-8 are replaced.

        Raises:
            ApiError: refused, or the server could not be reached.
        """
        what = f"GET {path}"
        try:
            async with self._session.get(self._server + path, params=query) as answer:
                content = await answer.text(errors="replace")
                if answer.status >= 400:  # noqa: PLR2004 - HTTP
                    raise ApiError(what, f"{answer.status}: {content[:500]}", answer.status)
                return content
        except (aiohttp.ClientError, OSError) as error:
            raise ApiError(what, f"{type(error).__name__}: {error}") from error

    async def items(self, path: str, **query: str) -> list[Json]:
        """The items of a list."""
        return list((await self.request("GET", path, query=query))["items"])


@contextlib.asynccontextmanager
async def connect(kubeconfig: Path) -> AsyncGenerator[Api]:
    """Open a session to the cluster of a kubeconfig's current context.

    Raises:
        UserError: the kubeconfig is missing or lacks something.
    """
    cluster, user = _read(kubeconfig)
    headers = {"Authorization": f"Bearer {user.token}"} if user.token else {}
    connector = aiohttp.TCPConnector(ssl=_context(cluster, user, kubeconfig.parent))
    async with aiohttp.ClientSession(connector=connector, headers=headers, timeout=TIMEOUT) as session:
        yield Api(session, cluster.server)


def _read(kubeconfig: Path) -> tuple[_Cluster, _User]:
    try:
        config = yaml.safe_load(kubeconfig.read_text())
        context = _named(config["contexts"], config["current-context"])["context"]
        cluster = _Cluster.model_validate(_named(config["clusters"], context["cluster"])["cluster"])
        user = _User.model_validate(_named(config["users"], context["user"])["user"])
    except (OSError, yaml.YAMLError, KeyError, TypeError, ValueError) as error:
        raise UserError(
            f"kubeconfig {str(kubeconfig)!r}", f"{type(error).__name__}: {error}", "name one that kubectl accepts"
        ) from error
    return cluster, user


def _named(entries: list[Json], name: str) -> Json:
    for entry in entries:
        if entry["name"] == name:
            return entry
    raise KeyError(name)


def _context(cluster: _Cluster, user: _User, base: Path) -> ssl.SSLContext | bool:
    if not cluster.server.startswith("https:"):
        return False
    context = ssl.create_default_context(cadata=_pem(cluster.authority_data, cluster.authority, base))
    certificate, key = _pem(user.certificate_data, user.certificate, base), _pem(user.key_data, user.key, base)
    if certificate and key:
        # The ssl module takes a certificate from a file only.
        with tempfile.NamedTemporaryFile("w", suffix=".pem") as file:
            file.write(certificate.rstrip() + "\n" + key)
            file.flush()
            context.load_cert_chain(file.name)
    return context


def _pem(data: str | None, path: str | None, base: Path) -> str | None:
    if data:
        return base64.b64decode(data).decode()
    return (base / path).read_text() if path else None
