"""What is let through, and where it goes: an addon of mitmproxy.

The agent's DNS answers with the gateway's address for every allowed name, so that each client arrives here by TLS with
the name that it asked for (SNI), whether or not it knows of proxies. That name must be on the list and be the Host of
each request. The gateway then speaks to that name's upstream, through the egress proxy.
"""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from mitmproxy import http
from mitmproxy.net.server_spec import ServerSpec

from incident_arena.route import CLIENT, Call, fingerprint
from incident_arena.services.gateway.answers import Answer

FORBIDDEN, UPGRADE = 403, 426
KEYS = ("x-api-key", "authorization", "api-key", "x-goog-api-key")
"""Headers that hold a key, by provider."""
INFERENCE = (
    "/messages",
    "/responses",
    "/chat/completions",
    ":generateContent",
    ":streamGenerateContent",
    "/completions",
)
STATE = "arena"
_WORDS = {"refused": "refused", "timed out": "timeout", "timeout": "timeout", "certificate": "tls", "TLS": "tls"}


@dataclass(frozen=True)
class Upstream:
    """Where an allowed name is served."""

    tls: bool
    host: str
    port: int

    @classmethod
    def parse(cls, url: str) -> "Upstream":
        """Read `https://host[:port]` or `http://host[:port]`.

        Raises:
            ValueError: it is neither.
        """
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ValueError(f"{url!r} is no http or https URL")
        tls = parts.scheme == "https"
        return cls(tls, parts.hostname, parts.port or (443 if tls else 80))


@dataclass
class _Pending:
    """A request under way."""

    started: float
    clock: float
    host: str
    allowed: bool
    credential: str = ""
    asked: str = ""
    sent: float | None = None
    """When all of it was here, to be sent on; by the monotonic clock, as `clock`."""
    answer: Answer | None = None


class Gate:
    """The addon.

    Args:
        upstreams: allowed names, each with where it is served.
        proxy: host and port of the egress proxy.
        salt: for the fingerprints of keys.
        told: takes each call once it has ended.
    """

    def __init__(
        self, upstreams: Mapping[str, Upstream], proxy: tuple[str, int], salt: bytes, told: Callable[[Call], None]
    ) -> None:
        """See the class."""
        self._upstreams = dict(upstreams)
        self._proxy: ServerSpec = ("http", proxy)
        self._salt = salt
        self._told = told

    def requestheaders(self, flow: http.HTTPFlow) -> None:
        """Refuse what is not allowed before its body is read."""
        name = (flow.client_conn.sni or "").lower().rstrip(".")
        host, _, port = (flow.request.host_header or "").lower().partition(":")
        upstream = self._upstreams.get(name)
        same = host.rstrip(".") == name and port in {"", "443"}
        allowed = upstream is not None and same and flow.client_conn.tls_established
        pending = _Pending(time.time(), time.monotonic(), (name or host)[:253], allowed)
        flow.metadata[STATE] = pending
        if upstream is None or not allowed:
            flow.response = _refusal(FORBIDDEN, f"{host or name or 'this'} is not on the episode's allow-list")
            return
        if flow.request.headers.get("upgrade"):
            flow.response = _refusal(UPGRADE, "WebSockets do not pass here; use HTTP")
            return
        pending.credential = self._credential(flow.request)
        # A compressed answer could not be looked at while it passes.
        flow.request.headers["accept-encoding"] = "identity"
        flow.request.scheme = "https" if upstream.tls else "http"
        flow.request.host, flow.request.port = upstream.host, upstream.port
        flow.server_conn.via = self._proxy

    def request(self, flow: http.HTTPFlow) -> None:
        """The body has come: which model is asked for."""
        pending: _Pending | None = flow.metadata.get(STATE)
        if pending is not None and flow.response is None:
            pending.asked = fingerprint(self._salt, _path(flow.request), _model(flow.request))
            pending.sent = time.monotonic()

    def responseheaders(self, flow: http.HTTPFlow) -> None:
        """Let the answer pass part by part."""
        pending: _Pending | None = flow.metadata.get(STATE)
        if pending is None or flow.response is None or not pending.allowed:
            return
        kind = flow.response.headers.get("content-type", "")
        pending.answer = Answer(is_stream=kind.startswith("text/event-stream"))
        flow.response.stream = pending.answer.see

    def response(self, flow: http.HTTPFlow) -> None:
        """The answer has passed, or is our own."""
        self._tell(flow, "")

    def error(self, flow: http.HTTPFlow) -> None:
        """It broke off on either side."""
        text = flow.error.msg if flow.error else ""
        pending: _Pending | None = flow.metadata.get(STATE)
        never_whole = pending is not None and pending.sent is None
        if never_whole or "client" in text.lower():
            self._tell(flow, CLIENT)
        else:
            self._tell(flow, next((word for part, word in _WORDS.items() if part in text), "cut"))

    def _tell(self, flow: http.HTTPFlow, error: str) -> None:
        pending: _Pending | None = flow.metadata.pop(STATE, None)
        if pending is None:
            return
        request, response, answer = flow.request, flow.response, pending.answer
        now = time.monotonic()
        first = answer.first if answer and answer.first is not None else now
        status = response.status_code if response is not None and (answer or not error) else 0
        whole = not error and (answer is None or answer.whole)
        self._told(
            Call(
                at=pending.started,
                seconds=max(0.0, now - pending.clock),
                host=pending.host,
                port=request.port if pending.allowed else 443,
                method=request.method[:20],
                status=status,
                bytes_in=answer.bytes if answer else 0,
                bytes_out=len(request.raw_content or b""),
                allowed=pending.allowed,
                model_call=request.method == "POST" and _path(request).endswith(INFERENCE),
                whole=whole,
                refusal=answer.refusal if answer else "",
                error=error or ("" if whole else "cut"),
                credential=pending.credential,
                asked=pending.asked,
                waited=0.0 if pending.sent is None else max(0.0, first - pending.sent),
            )
        )

    def _credential(self, request: http.Request) -> str:
        found = [request.headers[name] for name in KEYS if name in request.headers]
        key = found[0] if found else request.query.get("key", "")
        return fingerprint(self._salt, key.removeprefix("Bearer ")) if key else ""


def _path(request: http.Request) -> str:
    return request.path.partition("?")[0]


def _model(request: http.Request) -> str:
    try:
        body = json.loads(request.get_content() or b"{}")
    except (ValueError, RecursionError):
        return ""
    return str(body.get("model", ""))[:200] if isinstance(body, dict) else ""


def _refusal(status: int, text: str) -> http.Response:
    body = json.dumps({"error": {"type": "incident_arena_gateway", "message": text}})
    return http.Response.make(status, body, {"content-type": "application/json", "connection": "close"})
