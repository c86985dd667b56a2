"""The HTTP side: checks the caller, refuses changes after the declaration, audits, answers JSON."""

import asyncio
import hmac
import json
import time
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Any

from aiohttp import web

from incident_arena import stores
from incident_arena.errors import InfrastructureError
from incident_arena.services import cluster
from incident_arena.services.admin.audit import INTERRUPTED, Audit
from incident_arena.services.admin.components import Components
from incident_arena.services.admin.config import Config
from incident_arena.services.admin.connections import Connections
from incident_arena.services.admin.declare import Declaring
from incident_arena.services.admin.traffic import Traffic
from incident_arena.services.cluster import Cluster
from incident_arena.verbs.acts import Act, Answer, Call, Refusal, Route
from incident_arena.verbs.command import listed

ACT_DEADLINE_S = 90
LARGEST_BODY = 64 * 1024
KUBERNETES_TIMEOUT_S = 20.0

type Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def application(config: Config, kubernetes: Cluster) -> web.Application:
    """The server, ready to run. It closes the connection to the cluster at its end.

    Raises:
        UserError: a store is of no kind there is, or its verbs can't work as the chart gives it.
    """
    audit = Audit(config.audit)
    components = Components(config.components, kubernetes)
    status, *of_one = components.routes()
    routes = [
        # The order in which the command line's help has them: first what shows the whole service.
        status,
        *Traffic(config.edge, kubernetes).routes(),
        *of_one,
        *store_routes(config),
        *Connections(config.connections, kubernetes, components).routes(),
        *Declaring(audit, config.vocabulary).routes(),
    ]
    door = Door(config.token, audit)
    app = web.Application(client_max_size=LARGEST_BODY, middlewares=[door.guard])
    app.router.add_get("/healthz", _alive)
    app.router.add_get("/", _listing(routes))
    for route in routes:
        app.router.add_route(route.method, route.path, door.handler(route))

    async def close(_app: web.Application) -> None:
        await kubernetes.close()

    app.on_cleanup.append(close)
    return app


def store_routes(config: Config) -> list[Route]:
    """The verbs of the application's stores: each kind's on all of its stores."""
    routes: list[Route] = []
    for kind in dict.fromkeys(spec.kind for spec in config.stores):
        module = stores.part(kind, "admin")
        if module is not None:
            routes += module.routes([spec for spec in config.stores if spec.kind == kind], config.account)
    return routes


class Door:
    """What every call goes through. Changes and the declaration come one at a time, so that their order is certain."""

    def __init__(self, token: str, audit: Audit) -> None:
        """`token` is the one that a caller has to give."""
        self._token = token
        self._audit = audit
        self._one_at_a_time = asyncio.Lock()

    @web.middleware
    async def guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Let in who has the token, and turn errors into answers."""
        given = request.headers.get("Authorization", "")
        if request.path != "/healthz" and not hmac.compare_digest(given.encode(), f"Bearer {self._token}".encode()):
            return _refused(Refusal("the caller", "gave no valid token", "send it as a bearer token", status=401))
        try:
            return await handler(request)
        except Refusal as refusal:
            return _refused(refusal)
        except web.HTTPException as refusal:
            thing = f"{request.method} {request.path}"
            return _refused(Refusal(thing, refusal.reason, "GET / lists the verbs", status=refusal.status))

    def handler(self, route: Route) -> Handler:
        """The HTTP handler of a verb."""

        async def handle(request: web.Request) -> web.StreamResponse:
            try:
                act = await route.prepare(await _call(request))
            except Refusal as refusal:
                self._audit.note(route.kind, route.what, f"{request.path}: {refusal.reason}", ok=False)
                raise
            if route.kind == "read":
                return web.json_response(await self._look(act))
            # The act goes on when the client hangs up: its result must reach the audit.
            return web.json_response(await asyncio.shield(asyncio.ensure_future(self._change(route, act))))

        return handle

    async def _look(self, act: Act) -> Answer:
        try:
            answer = await _in_time(act)
        except Refusal:
            self._audit.note("read", act.what, act.detail, ok=False)
            raise
        self._audit.note("read", act.what, act.detail, ok=True)
        return answer

    async def _change(self, route: Route, act: Act) -> Answer:
        async with self._one_at_a_time:
            declared = self._audit.declaration()
            if declared is not None:
                self._audit.note(route.kind, act.what, f"{act.detail} (after the declaration)", ok=False)
                when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(declared.at))
                reason = f"the repair was declared complete at {when} ({declared.at:.3f})"
                raise Refusal(act.what, reason, "nothing can be changed any more", status=409)
            at = time.time()
            number = self._audit.attempt(route.kind, act.what, act.detail)
            detail, ok = f"{act.detail} {INTERRUPTED}", True
            try:
                answer = await _in_time(act)
                detail = act.detail
            except Refusal as refusal:
                if refusal.status < HTTPStatus.INTERNAL_SERVER_ERROR:  # else it had begun
                    detail, ok = act.detail, False
                raise
            finally:
                self._audit.result(number, route.kind, act.what, detail, at=at, ok=ok)
            return answer


async def _in_time(act: Act) -> Answer:
    try:
        return await asyncio.wait_for(act.effect(), ACT_DEADLINE_S)
    except TimeoutError:
        raise Refusal(act.what, f"did not end within {ACT_DEADLINE_S} s", "look at the state", status=504) from None
    except InfrastructureError as error:
        raise Refusal(error.thing, error.reason, error.remedy, status=502) from error


async def _call(request: web.Request) -> Call:
    body: Any = {}
    if request.can_read_body:
        try:
            body = json.loads(await request.read())
        except ValueError as error:
            raise Refusal("the request's body", f"is not JSON: {error}") from error
    if not isinstance(body, dict):
        raise Refusal("the request's body", "is not a JSON object")
    return Call(path=dict(request.match_info), query=dict(request.query), body=body)


def _refused(refusal: Refusal) -> web.Response:
    error = {"thing": refusal.thing, "reason": refusal.reason, "remedy": refusal.remedy}
    return web.json_response({"error": error}, status=refusal.status)


async def _alive(_request: web.Request) -> web.StreamResponse:
    return web.json_response({"alive": True})


def _listing(routes: list[Route]) -> Handler:
    """All verbs, and the commands that the command line makes of each."""
    verbs = [
        {"verb": r.what, "request": f"{r.method} {r.path}", "about": r.help, "commands": [*map(listed, r.commands)]}
        for r in routes
    ]

    async def listing(_request: web.Request) -> web.StreamResponse:
        return web.json_response({"verbs": verbs})

    return listing


def main() -> None:
    """Serve until the pod is stopped."""
    config = Config.from_environment()
    kubernetes = cluster.of_pod(config.service_account, config.namespace, timeout_s=KUBERNETES_TIMEOUT_S)
    web.run_app(application(config, kubernetes), port=config.port, access_log=None, print=None)
