"""What the referee asks the load: how it is, to pause, and to go on. The agent's pod can't reach it."""

import hashlib
import hmac
import time
from typing import Annotated, Literal

from aiohttp import web
from pydantic import Field, ValidationError

from incident_arena.errors import UserError
from incident_arena.formats.records import Record
from incident_arena.formats.task import LoadSpec
from incident_arena.services.load.generator import Generator


class Peak(Record):
    """More operations, for some time: `factor` times the rate in all, of `kinds` or, when there are none, of all."""

    factor: Annotated[float, Field(gt=1)]
    seconds: Annotated[float, Field(gt=0)]
    kinds: tuple[str, ...] = ()


class KindStatus(Record):
    """One kind since the process began; times are seconds since the epoch."""

    results: dict[str, int]
    last_ok: float | None
    last_not_ok: float | None
    last_error: str


class LoadStatus(Record):
    """The load at one moment. `lateness_*`: seconds after their due time at which recent operations went out."""

    version: Literal[1] = 1
    at: float
    state: Literal["waiting", "running", "paused"]
    """waiting: the application is not ready for the load."""
    waiting_for: str
    """What it waits for, as was seen last."""
    seed: int
    config: str
    """Hash of all that decides what is sent; must not change during an episode."""
    origin: float | None
    sent: int
    in_flight: int
    lateness_p50: float | None
    lateness_p95: float | None
    kinds: dict[str, KindStatus]


def config_hash(spec: LoadSpec, target: str) -> str:
    """SHA-256 over the load's specification and the target's address."""
    text = f"{spec.model_dump_json()}\n{target}"
    return hashlib.sha256(text.encode()).hexdigest()


class Api:
    """GET /status; POST /pause, /resume and /peak (a Peak) with `Authorization: Bearer <token>`."""

    def __init__(self, generator: Generator, spec: LoadSpec, target: str, token: str) -> None:
        """Speak for a generator."""
        self._generator = generator
        self._seed = spec.seed
        self._config = config_hash(spec, target)
        self._token = token

    def application(self) -> web.Application:
        """The routes."""
        application = web.Application()
        application.add_routes(
            [
                web.get("/status", self._status),
                web.post("/pause", self._pause),
                web.post("/resume", self._resume),
                web.post("/peak", self._peak),
            ]
        )
        return application

    def status(self) -> LoadStatus:
        """The load now."""
        generator = self._generator
        running: Literal["paused", "running"] = "paused" if generator.paused else "running"
        return LoadStatus(
            at=time.time(),
            state="waiting" if generator.origin is None else running,
            waiting_for=generator.waiting_for if generator.origin is None else "",
            seed=self._seed,
            config=self._config,
            origin=generator.origin,
            sent=generator.sent,
            in_flight=generator.in_flight,
            lateness_p50=generator.lateness(0.5),
            lateness_p95=generator.lateness(0.95),
            kinds={
                name: KindStatus(
                    results=dict(sorted(figures.results.items())),
                    last_ok=figures.last_ok,
                    last_not_ok=figures.last_not_ok,
                    last_error=figures.last_error,
                )
                for name, figures in generator.figures.items()
            },
        )

    async def _status(self, _: web.Request) -> web.Response:
        return self._answer()

    async def _pause(self, request: web.Request) -> web.Response:
        self._authorize(request)
        self._generator.paused = True
        return self._answer()

    async def _resume(self, request: web.Request) -> web.Response:
        self._authorize(request)
        self._generator.paused = False
        return self._answer()

    async def _peak(self, request: web.Request) -> web.Response:
        self._authorize(request)
        try:
            peak = Peak.model_validate_json(await request.read())
            self._generator.peak(peak.factor, peak.seconds, peak.kinds)
        except (ValidationError, UserError) as error:
            raise web.HTTPBadRequest(text=f"{error}\n") from error
        return self._answer()

    def _authorize(self, request: web.Request) -> None:
        given = request.headers.get("Authorization", "").encode()
        if not hmac.compare_digest(given, f"Bearer {self._token}".encode()):
            raise web.HTTPUnauthorized(text="the load's token is needed\n")

    def _answer(self) -> web.Response:
        return web.Response(text=self.status().model_dump_json(), content_type="application/json")
