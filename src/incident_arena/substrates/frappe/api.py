"""The framework's HTTP interface, as the load uses it. What depends on the framework's package name is in `Names`."""

import json
from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Any

import aiohttp

from incident_arena.workload.client import Client, Reply
from incident_arena.workload.operations import NotReadyError

PAGE = 20
"""Rows of a page, as the framework has it by default."""
EVERYTHING = "2000"
"""Rows asked for where all are wanted."""


@dataclass(frozen=True)
class Names:
    """What the framework's package name decides: `monoframe` from the registry, `frappe` in the official image."""

    package: str = "monoframe"

    def method(self, path: str) -> str:
        """Path of a whitelisted method."""
        return f"/api/method/{self.package}.{path}"


@dataclass(frozen=True)
class Accounts:
    """Who the load is, and who signs in; the first of the users gets mentioned."""

    api_key: str
    api_secret: str
    users_password: str
    email: str = "load@arena.test"
    users: tuple[str, ...] = tuple(f"user{number:02d}@arena.test" for number in range(1, 11))


class Api:
    """Calls as the load's account, which needs no cross-site token because it signs in by its key.

    All calls raise TimeoutError, aiohttp.ClientError and OSError as `Client.call` does.
    """

    def __init__(self, client: Client, accounts: Accounts, names: Names) -> None:
        """Call by `client`."""
        self._client = client
        self._accounts = accounts
        self._names = names
        self._token = {"Authorization": f"token {accounts.api_key}:{accounts.api_secret}"}

    async def log_in(self, user: str) -> Reply:
        """Sign in by password; the session is in the cookie `sid`."""
        form = {"usr": user, "pwd": self._accounts.users_password}
        return await self._client.call("POST", "/api/method/login", form=form)

    async def resource(self, method: str, doctype: str, name: str = "", content: Any = None) -> Reply:
        """Create (POST), read (GET), update (PUT) or delete (DELETE) a record."""
        path = f"/api/resource/{doctype}/{name}".removesuffix("/")
        return await self._client.call(method, path, headers=self._token, content=content)

    async def method(self, path: str, **form: str) -> Reply:
        """Call a whitelisted method."""
        return await self._client.call("POST", self._names.method(path), headers=self._token, form=form)

    async def query(
        self,
        doctype: str,
        filters: list[list[Any]],
        fields: list[str],
        *,
        session: str | None = None,
        **params: str,
    ) -> Reply:
        """List records, in the order of names unless `params` say otherwise; in a session instead of the load's."""
        headers = {"Cookie": f"sid={session}"} if session else self._token
        query = {
            "filters": json.dumps(filters),
            "fields": json.dumps(fields),
            "order_by": "name asc",
            "limit_page_length": str(PAGE),
        }
        return await self._client.call("GET", f"/api/resource/{doctype}", headers=headers, params=query | params)

    async def rows(self, doctype: str, field: str, pattern: str, value: str) -> list[tuple[str, str]]:
        """Names and one value of all records whose `field` is like `pattern`, in the order of names.

        Raises:
            NotReadyError: the application refused.
        """
        filters = [[field, "like", pattern]]
        reply = await self.query(doctype, filters, ["name", value], limit_page_length=EVERYTHING)
        if refusal := reply.refusal():
            raise NotReadyError(f"{doctype}: {refusal.status} {refusal.error}")
        return [(str(row.get("name")), str(row.get(value))) for row in rows_of(reply)]


async def seen(call: Awaitable[Reply]) -> Reply | None:
    """A look for effects: when it fails, nothing was seen."""
    try:
        return await call
    except (TimeoutError, aiohttp.ClientError, OSError):
        return None


def rows_of(reply: Reply | None) -> list[dict[str, Any]]:
    """The rows of a list; none where it is no list."""
    rows = reply.part("data") if reply is not None and reply.refusal() is None else None
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
