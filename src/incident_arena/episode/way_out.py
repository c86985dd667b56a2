"""An episode's way out: which names the agent may call, this machine's relay, and what the charts are told of it."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from incident_arena.egress import host
from incident_arena.egress.connect import ConnectProxy, Target
from incident_arena.errors import UserError
from incident_arena.node.pki import Authority, new_authority

EGRESS = "egress-proxy"
GATEWAY = "tls-gateway"
DNS = "dns-filter"
TOKEN_BYTES = 18


@dataclass(frozen=True)
class WayOut:
    """What an agent may call: `upstreams` has each allowed name with the URL where it is served."""

    upstreams: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def make(cls, allowed: list[str], upstreams: Mapping[str, str]) -> "WayOut":
        """Put Harbor's allow-list and what a run says about some of its names together.

        Args:
            allowed: host names.
            upstreams: name to `http(s)://host[:port]`, for those that are not served at `https://name`.

        Raises:
            UserError: an upstream is no such URL.
        """
        for name, url in upstreams.items():
            parts = urlsplit(url)
            if parts.scheme not in {"http", "https"} or not parts.hostname or parts.path not in {"", "/"}:
                raise UserError(f"upstream {name!r}", f"{url!r} is no http(s)://host[:port]", "mend the model's URL")
        names = dict.fromkeys([*(name.lower() for name in allowed), *upstreams])
        return cls({name: upstreams.get(name, f"https://{name}") for name in names})

    @property
    def targets(self) -> list[Target]:
        """Where tunnels may go."""
        return sorted({_target(url) for url in self.upstreams.values()})


def _target(url: str) -> Target:
    parts = urlsplit(url)
    return Target(str(parts.hostname), parts.port or (443 if parts.scheme == "https" else 80))


class Relay:
    """The machine's end: a CONNECT proxy on the node's link, in this process, so that it ends with the runner."""

    def __init__(self, way: WayOut) -> None:
        """See the class."""
        self.way = way
        self.port = 0
        self._authority: Authority = new_authority("incident-arena gateway")
        self._token = secrets.token_urlsafe(TOKEN_BYTES)
        self._proxy: ConnectProxy | None = None

    async def start(self, address: str) -> None:
        """Listen on the machine's end of the node's link.

        Raises:
            UserError: the machine's proxy is set wrongly.
            OSError: the address is not there.
        """
        self._proxy = ConnectProxy(self.way.targets, host.dialler(), token=self._token)
        self.port = await self._proxy.start(address)

    async def stop(self) -> None:
        """End it and its tunnels; a second call does nothing."""
        if self._proxy is not None:
            await self._proxy.close()
            self._proxy = None

    def values(self, address: str) -> dict[str, Any]:
        """What the charts are told, below `global.egress`."""
        return {
            "upstreams": dict(self.way.upstreams),
            "targets": [str(target) for target in self.way.targets],
            "relay": {"address": address, "port": self.port, "token": self._token},
            "authority": {
                "pair": self._authority.pair_pem,
                "certificate": self._authority.certificate_pem,
                "trusted": host.authorities(),
            },
        }
