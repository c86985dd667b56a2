"""HTTP as the load needs it: no cookies kept, no redirects followed, every body read to its end."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Literal

import aiohttp

from incident_arena.workload.operations import Answer

KEEP_ALIVE = 1.0
"""Seconds an idle connection is kept: less than any server does, so that none is reused just as it is closed."""
BODY_SHOWN = 120
"""Characters of an unexpected body that go into the ledger."""


@dataclass(frozen=True)
class Reply:
    """A complete answer. `body` is the parsed JSON, None when it is none. `cookies` by name."""

    status: int
    text: str
    body: Any
    cookies: Mapping[str, str]

    def part(self, *path: str) -> Any:
        """What is at a path of keys in the body; None where it ends early."""
        found = self.body
        for key in path:
            found = found.get(key) if isinstance(found, dict) else None
        return found

    def refusal(self) -> Answer | None:
        """The answer that follows from the status alone; None when it is a success and the body decides."""
        if HTTPStatus.OK <= self.status < HTTPStatus.MULTIPLE_CHOICES:
            return None
        result: Literal["failed", "indeterminate"] = (
            "indeterminate" if self.status >= HTTPStatus.INTERNAL_SERVER_ERROR else "failed"
        )
        return Answer(result, self.status, self._said())

    def wrong(self, reason: str) -> Answer:
        """The answer of an operation whose status said success and whose body did not."""
        return Answer("wrong", self.status, f"{reason}: {self.text[:BODY_SHOWN]}")

    def _said(self) -> str:
        """The application's own words for an error, else the body's beginning."""
        kind, words = self.part("exc_type"), self.part("exception")
        return f"{kind or ''} {words or ''}".strip()[:BODY_SHOWN] or self.text[:BODY_SHOWN]


class Client:
    """One connection pool to the application."""

    def __init__(self, target: str, timeout_s: float) -> None:
        """Talk to `target`, the application's base address. `timeout_s` bounds each request. Needs a running loop."""
        self._session = aiohttp.ClientSession(
            target,
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=KEEP_ALIVE),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=timeout_s),
        )

    async def call(
        self,
        method: str,
        path: str,
        *,
        headers: Mapping[str, str] | None = None,
        params: Mapping[str, str] | None = None,
        content: Any = None,
        form: Mapping[str, str] | None = None,
    ) -> Reply:
        """Send one request; `content` goes as JSON.

        Raises:
            TimeoutError: no complete answer in time.
            aiohttp.ClientError, OSError: the connection failed.
        """
        async with self._session.request(
            method, path, headers=headers, params=params, json=content, data=form, allow_redirects=False
        ) as response:
            text = await response.text(errors="replace")
            cookies = {name: morsel.value for name, morsel in response.cookies.items()}
        try:
            body = json.loads(text)
        except ValueError:
            body = None
        return Reply(response.status, text, body, cookies)

    async def close(self) -> None:
        """Close all connections."""
        await self._session.close()
