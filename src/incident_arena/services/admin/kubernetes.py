"""A small client of the Kubernetes API, with the pod's service account: JSON in, JSON out."""

import json
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any

import aiohttp

from incident_arena.services.admin.acts import Refusal

MERGE_PATCH = "application/merge-patch+json"


@dataclass(frozen=True)
class Kubernetes:
    """Calls in one namespace. The token is read for each call, since it is renewed while the pod runs."""

    base: str
    namespace: str
    account: Path
    """The service account's folder."""

    async def get(self, kind: str, name: str = "", *, labels: str = "", group: str = "") -> dict[str, Any]:
        """One object, or the list of a kind (`pods`, `deployments`)."""
        return await self._call("GET", self._path(kind, name, group), {"labelSelector": labels} if labels else {})

    async def text(self, path: str, query: Mapping[str, str]) -> str:
        """A body that is not JSON (a pod's log), by its path below the namespace."""
        with _reached(path):
            async with self._session() as session, session.get(self._url(path), params=dict(query)) as answer:
                if answer.status >= HTTPStatus.BAD_REQUEST:
                    raise await _refused(answer, path)
                return await answer.text(errors="replace")

    async def patch(self, kind: str, name: str, change: Mapping[str, Any], *, group: str = "") -> dict[str, Any]:
        """Apply a merge patch."""
        return await self._call("PATCH", self._path(kind, name, group), {}, change)

    async def delete(self, kind: str, name: str) -> None:
        """Delete one object."""
        await self._call("DELETE", self._path(kind, name, ""), {})

    def _path(self, kind: str, name: str, group: str) -> str:
        root = f"/apis/{group}/v1" if group else "/api/v1"
        return f"{root}/namespaces/{self.namespace}/{kind}" + (f"/{name}" if name else "")

    def _url(self, path: str) -> str:
        return f"{self.base}/api/v1/namespaces/{self.namespace}/{path}"

    async def _call(
        self, method: str, path: str, query: Mapping[str, str], body: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        headers = {"Content-Type": MERGE_PATCH} if method == "PATCH" else {}
        url = self.base + path
        with _reached(path):
            async with (
                self._session() as session,
                session.request(method, url, params=dict(query), json=body, headers=headers) as answer,
            ):
                if answer.status >= HTTPStatus.BAD_REQUEST:
                    raise await _refused(answer, path)
                found: dict[str, Any] = await answer.json()
                return found

    def _session(self) -> aiohttp.ClientSession:
        authority = self.account / "ca.crt"
        context = ssl.create_default_context(cafile=str(authority)) if authority.exists() else None
        if context:
            # Python 3.13 asks for extensions that many a cluster's own authority leaves out; the chain is verified.
            context.verify_flags &= ~ssl.VERIFY_X509_STRICT
        token = (self.account / "token").read_text().strip()
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(ssl=context) if context else None,
            headers={"Authorization": f"Bearer {token}"},
            timeout=aiohttp.ClientTimeout(total=20),
        )


@contextmanager
def _reached(path: str) -> Iterator[None]:
    """Turn a lost connection into a refusal."""
    try:
        yield
    except (aiohttp.ClientError, OSError) as error:
        raise Refusal(f"kubernetes {path}", f"could not be reached: {error}", status=502) from error


async def _refused(answer: aiohttp.ClientResponse, path: str) -> Refusal:
    text = await answer.text(errors="replace")
    try:
        told = str(json.loads(text)["message"])
    except (ValueError, KeyError, TypeError):
        told = text[:300]
    return Refusal(f"kubernetes {path}", f"answered {answer.status}: {told}", status=502)
