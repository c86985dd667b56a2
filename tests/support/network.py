"""Who reaches what in a deployed substrate."""

import json

REACH = """
import json, socket, sys
from concurrent.futures import ThreadPoolExecutor
def reach(target):
    host, port = target
    try:
        socket.create_connection((host, port), timeout=2.5).close()
    except OSError as error:
        return f"{type(error).__name__}: {error}"
    return "open"
targets = json.loads(sys.argv[1])
with ThreadPoolExecutor(64) as pool:
    print(json.dumps(list(pool.map(reach, targets))))
"""

MODEL = "model.arena.internal"
"""A name that the agent may call in these tests; a server on this machine is behind it."""
OPEN = [
    ("mariadb", 3306),
    ("redis-cache", 6379),
    ("redis-queue", 6379),
    ("admin", 8080),
    ("edge", 8081),
    ("prometheus", 9090),
]


def reach(deployed, component: str, targets: list[tuple[str, int]]) -> dict[str, str]:
    found = deployed.python(component, REACH, json.dumps(targets))
    return {f"{host}:{port}": what for (host, port), what in zip(targets, found, strict=True)}


def node_address(deployed) -> str:
    (node,) = deployed.get("/api/v1/nodes")["items"]
    return next(a["address"] for a in node["status"]["addresses"] if a["type"] == "InternalIP")
