"""The program in the pod `tls-gateway`: mitmproxy with the gate, its own log off.

variable    meaning
UPSTREAMS   JSON object: allowed name to URL, `{"api.example.com": "https://api.example.com"}`
PROXY       host:port of the egress proxy
PORT        where it listens; default 8443
AUTHORITY   folder with ca.pem: the episode's own authority, key and certificate, which signs for each name; and
            upstream.crt: whom the machine trusts; default /ca
LOG         folder for calls.jsonl, and the salt of its fingerprints; default /log
"""

import asyncio
import json
import os
import secrets
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from mitmproxy import options
from mitmproxy.tools.dump import DumpMaster

from incident_arena.services.gateway.gate import Gate, Upstream
from incident_arena.services.gateway.log import Log

CALLS = "calls.jsonl"
BODY = "64m"
IDLE_S = 7200
"""Longer than an agent's time: a model that thinks long is not cut off here, and put down to the client."""


def salt(folder: Path) -> bytes:
    """One for the trial, also after a restart of the container."""
    kept = folder / "salt"
    if not kept.exists():
        kept.write_bytes(secrets.token_bytes(16))
    return kept.read_bytes()


async def run(environment: Mapping[str, str]) -> None:
    """Serve until the pod ends."""
    named: dict[str, str] = json.loads(environment.get("UPSTREAMS") or "{}")
    upstreams = {name.lower(): Upstream.parse(url) for name, url in named.items()}
    host, _, port = environment["PROXY"].rpartition(":")
    authority, kept = Path(environment.get("AUTHORITY", "/ca")), Path(environment.get("LOG", "/log"))
    trusted = authority / "upstream.crt"
    with tempfile.TemporaryDirectory(prefix="mitmproxy-") as home:
        shutil.copyfile(authority / "ca.pem", Path(home) / "mitmproxy-ca.pem")
        # The target is a name that nobody serves: the gate sets one for each request that it lets through.
        mode = f"reverse:https://nowhere.invalid@{environment.get('PORT', '8443')}"
        own = options.Options(mode=[mode], confdir=home)
        master = DumpMaster(own, with_termlog=True, with_dumper=False)
        own.update(  # type: ignore[no-untyped-call]
            connection_strategy="lazy",
            keep_host_header=True,
            http3=False,
            body_size_limit=BODY,
            tcp_timeout=IDLE_S,
            ssl_verify_upstream_trusted_ca=str(trusted) if trusted.stat().st_size else None,
            termlog_verbosity="warn",
        )
        master.addons.add(Gate(upstreams, (host, int(port)), salt(kept), Log(kept / CALLS).add))  # type: ignore[no-untyped-call]
        await master.run()


if __name__ == "__main__":
    sys.exit(asyncio.run(run(os.environ)))
