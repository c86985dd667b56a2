"""Where an agent finds its model's server: base URLs as they are on this machine, and as an agent's pod needs them.

A pod reaches the model through the gateway alone, which opens TLS on port 443 to hosts that have a name. So a server
on this machine, on another port or without TLS gets a URL of that kind, and the gateway is told what stands behind it.
"""

import ipaddress
from urllib.parse import urlsplit, urlunsplit

from incident_arena.errors import UserError

MODEL_HOST = "model.arena.internal"
"""What a model's server is called in the pod when it has no name there: it is on loopback, or given by its address."""
HTTPS = 443


def route(url: str) -> tuple[str, dict[str, str]]:
    """Turn a model's base URL into one that works in the agent's pod.

    Args:
        url: as it is reached from this machine.

    Returns:
        The URL for the pod, always https on port 443 with path and query kept; and what the gateway has to put behind
        its host, `{host: scheme://host:port}`, empty when it is just that host.

    Raises:
        UserError: it is no http(s) URL with a host, or holds a password, which would be written into the job.
    """
    parts = urlsplit(url)
    shown = f"model URL {_without_password(url)!r}"
    try:
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise UserError(shown, str(error), "give it as https://host:port/path") from error
    if parts.scheme not in {"http", "https"} or not host:
        raise UserError(shown, "is no http or https URL with a host", "give it as https://host:port/path")
    if parts.username is not None or parts.password is not None:
        raise UserError(shown, "holds a password", "give the key as a variable, with --agent-env NAME")
    name = MODEL_HOST if _is_nameless(host) else host
    secure = parts.scheme == "https"
    if name == host and secure and port in {None, HTTPS}:
        return urlunsplit(("https", host, parts.path, parts.query, "")), {}
    literal = f"[{host}]" if ":" in host else host
    behind = f"{parts.scheme}://{literal}:{port or (HTTPS if secure else 80)}"
    return urlunsplit(("https", name, parts.path, parts.query, "")), {name: behind}


def merge(routes: list[dict[str, str]]) -> dict[str, str]:
    """All upstreams of one job.

    Raises:
        UserError: two servers would have the same name in the pod.
    """
    merged: dict[str, str] = {}
    for upstreams in routes:
        for host, behind in upstreams.items():
            if merged.setdefault(host, behind) != behind:
                raise UserError(
                    f"model servers {merged[host]} and {behind}",
                    f"would both be {host} in the agent's pod",
                    "play them in jobs of their own: an [[agents]] entry for each, or two runs",
                )
    return merged


def _is_nameless(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
    return True


def _without_password(url: str) -> str:
    scheme, found, rest = url.partition("://")
    authority, slash, path = rest.partition("/")
    return f"{scheme}{found}{authority.rpartition('@')[2]}{slash}{path}"
