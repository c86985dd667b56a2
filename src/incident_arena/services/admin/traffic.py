"""What users see: the requests of the last seconds, from the edge's access log.

The edge writes one JSON object a request: `time` (seconds since the epoch), `method`, `path` (without the query),
`status`, `seconds`. Other lines of its log are left out.
"""

import json
import math
import time
from collections.abc import Iterable
from dataclasses import dataclass

from pydantic import BaseModel, ValidationError

from incident_arena.services.cluster import Cluster
from incident_arena.stores.kubernetes.picture import COMPONENT
from incident_arena.verbs.acts import Act, Answer, Call, Route, detail
from incident_arena.verbs.command import Argument, Command

LONGEST_S = 600
FAILED = 500
"""From this status on the application failed its user."""
SHOWN_PARTS = 3
"""A path's first parts say which operation it is; the rest are names."""


class Request(BaseModel):
    """One line of the access log."""

    time: float
    method: str
    path: str
    status: int
    seconds: float

    @property
    def route(self) -> str:
        """The kind of request: `GET /api/resource/Note/*`."""
        parts = self.path.split("/")[1:]
        return f"{self.method} /" + "/".join([*parts[:SHOWN_PARTS], *(["*"] if parts[SHOWN_PARTS:] else [])])


@dataclass(frozen=True)
class Traffic:
    """The verb. `edge` is the component whose log counts; an application may have none, and then no such verb."""

    edge: str
    kubernetes: Cluster

    def routes(self) -> list[Route]:
        """The one verb, if it can be."""
        if not self.edge:
            return []
        about = "requests of users in the last seconds, by kind: ?seconds=30"
        seconds = Argument("--seconds", type="number", default=30, help="how far to look back (default 30)")
        told = "requests of users in the last seconds: number, failed (5xx), p95 in seconds, by kind"
        offered = (Command("traffic", told, (seconds,)),)
        return [Route("traffic", "GET", "/traffic", "read", self.show, about, offered)]

    async def show(self, call: Call) -> Act:
        """Counts, failures and p95 in seconds."""
        seconds = call.number("seconds", 30, LONGEST_S)

        async def effect() -> Answer:
            pods = await self.kubernetes.items("pods", f"{COMPONENT}={self.edge}")
            query = {"sinceSeconds": str(seconds + 1)}
            logs = [await self.kubernetes.log(pod["metadata"]["name"], query) for pod in pods]
            since = time.time() - seconds
            requests = [request for log in logs for request in parse(log.splitlines()) if request.time >= since]
            return {"seconds": seconds, **summary(requests)}

        return Act("traffic", detail(seconds=seconds), effect)


def parse(lines: Iterable[str]) -> list[Request]:
    """The requests among the lines of a log."""
    requests = []
    for line in lines:
        if line.startswith("{"):
            try:
                requests.append(Request.model_validate(json.loads(line)))
            except (ValueError, ValidationError):
                continue  # a line that the log's rotation cut
    return requests


def summary(requests: list[Request]) -> Answer:
    """Totals, and by route."""
    routes: dict[str, list[Request]] = {}
    for request in requests:
        routes.setdefault(request.route, []).append(request)
    return {
        "requests": len(requests),
        "failed": sum(request.status >= FAILED for request in requests),
        "routes": {
            route: {
                "requests": len(found),
                "failed": sum(request.status >= FAILED for request in found),
                "p95": sorted(request.seconds for request in found)[math.ceil(0.95 * len(found)) - 1],
            }
            for route, found in sorted(routes.items())
        },
    }
