"""The machine's own way out: its proxy, and whom it trusts. Many users sit behind one."""

import os
import ssl
from collections.abc import Mapping
from pathlib import Path
from urllib.request import proxy_bypass_environment  # type: ignore[attr-defined]  # the stubs leave it out

from incident_arena.egress.connect import Dial, Streams, Target, Via, dial_direct, dial_via
from incident_arena.errors import UserError

PROXIES = ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy")
BUNDLES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS")
"""Where a custom authority is named; all that are set are trusted."""
SYSTEM_BUNDLE = Path("/etc/ssl/certs/ca-certificates.crt")


def proxy_for(target: Target, environment: Mapping[str, str] = os.environ) -> Via | None:
    """The proxy through which the machine reaches a target; None: directly.

    Raises:
        UserError: the proxy's URL is wrong.
    """
    url = next((environment[name] for name in PROXIES if environment.get(name)), "")
    exempt = environment.get("NO_PROXY") or environment.get("no_proxy") or ""
    if not url or target.host in {"localhost", "127.0.0.1", "::1"}:
        return None
    if proxy_bypass_environment(str(target), {"no": exempt}):
        return None
    return Via.parse(url)


def dialler(environment: Mapping[str, str] = os.environ) -> Dial:
    """How the machine reaches a target, as its environment says.

    Raises:
        UserError: the proxy's URL is wrong.
    """
    proxy_for(Target("example.invalid", 443), environment)  # said before anything starts

    async def dial(target: Target) -> Streams:
        via = proxy_for(target, environment)
        return await (dial_via(via, target, _trust(environment)) if via else dial_direct(target))

    return dial


def _trust(environment: Mapping[str, str]) -> ssl.SSLContext:
    return ssl.create_default_context(cadata=authorities(environment) or None)


def authorities(environment: Mapping[str, str] = os.environ) -> str:
    """Certificates of everybody whom the machine trusts, as PEM; empty when it has none.

    Raises:
        UserError: a file that the environment names can't be read.
    """
    named = [Path(environment[name]) for name in BUNDLES if environment.get(name)]
    files = dict.fromkeys([*(path for path in [SYSTEM_BUNDLE] if path.is_file()), *named])
    try:
        return "\n".join(dict.fromkeys(path.read_text(encoding="latin-1").strip() for path in files)) + "\n" * bool(
            files
        )
    except OSError as error:
        raise UserError("the machine's certificates", str(error), f"mend {', '.join(BUNDLES)}") from error
