"""Looks that no store audits: what the agent asked of the telemetry, and of the application through its looking door.

Both are in logs of pods, which are read when the agent is gone. They are only counted: what cannot be read, or was in
the log of a pod that is no more, is missing and decides nothing.

The telemetry's log has one JSON object a query: `ts` (ISO 8601), `httpRequest` (`path`), `params` (`query`). Nobody but
the agent asks it for anything that is logged. The access log of the application's entry has one a request: `time`
(seconds since the epoch), `method`, `path`, `status`, and `port`, where it came in: the looking door is for the agent
alone.
"""

import time
from collections.abc import Callable, Iterator
from typing import Annotated

from pydantic import AwareDatetime, BaseModel, Field

from incident_arena.errors import ArenaError
from incident_arena.formats.records import Action
from incident_arena.services.referee.actions import AGENT
from incident_arena.services.referee.parts import Parts
from incident_arena.stores import audits

FILE = "glances.jsonl"
TELEMETRY = "prometheus"
REFUSED = 400


class _Request(BaseModel):
    path: str


class _Params(BaseModel):
    query: str


class _Query(BaseModel):
    at: AwareDatetime = Field(alias="ts")
    request: _Request = Field(alias="httpRequest")
    params: _Params


class _Visit(BaseModel):
    time: Annotated[float, Field(ge=0)]
    method: str
    path: str
    status: int
    port: int


async def keep(parts: Parts, started: float, ended: float) -> str:
    """Write those between two moments down for the action log; says how many there were, or why one log is not read."""
    door = parts.config.looking_port
    logs: dict[str, Callable[[str], Action]] = {TELEMETRY: asked}
    if parts.config.edge and door:
        logs[parts.config.edge] = lambda line: visited(line, parts.config.edge, door)
    told = []
    for component, read in logs.items():
        try:
            found = [action for log in await _logs(parts, component, started) for action in looks(log, read)]
        except ArenaError as error:
            told.append(f"{component}: {error.reason}")
            continue
        kept = list(audits.bounded(action for action in found if started <= action.at <= ended))
        parts.evidence.live.append(FILE, *kept)
        told.append(f"{component}: {len(kept)}")
    return ", ".join(told)


def kept(parts: Parts) -> list[Action]:
    """What `keep` wrote down."""
    path = parts.evidence.live.folder / FILE
    return [Action.model_validate_json(line) for line in audits.lines(path, whole=True)] if path.is_file() else []


def looks(log: str, read: Callable[[str], Action]) -> Iterator[Action]:
    """The looks among the lines of a log; all else is left out, such as a line that its rotation cut."""
    for line in log.split("\n"):
        if line.startswith("{"):
            try:
                yield read(line)
            except ValueError:
                continue


def asked(line: str) -> Action:
    """A query of the telemetry.

    Raises:
        ValueError: the line is of none.
    """
    query = _Query.model_validate_json(line)
    what = query.request.path.rpartition("/")[2]
    return _look(query.at.timestamp(), TELEMETRY, what, query.params.query)


def visited(line: str, component: str, door: int) -> Action:
    """A request through the looking door.

    Raises:
        ValueError: the line is of none.
    """
    visit = _Visit.model_validate_json(line)
    if visit.port != door:
        raise ValueError(f"came in at {visit.port}")
    return _look(visit.time, component, visit.method, visit.path, ok=visit.status < REFUSED)


def _look(at: float, source: str, what: str, detail: str, *, ok: bool = True) -> Action:
    short = " ".join(detail.split())[: audits.DETAIL_MOST]
    return Action(at=at, source=source, actor=AGENT, kind="read", what=what, detail=short, ok=ok)


async def _logs(parts: Parts, component: str, since: float) -> list[str]:
    pods = await parts.cluster.pods(component)
    query = {"sinceSeconds": str(int(time.time() - since) + 1), "limitBytes": str(audits.BUDGET)}
    return [await parts.cluster.log(pod["metadata"]["name"], query) for pod in pods]
