"""Gathering: everything after the agent is gone, up to the manifest that closes the evidence folder.

A challenge that fails is evidence (its stage is not ok); only what keeps the evidence from being whole makes it
unfinished. Whatever happens, the manifest is written.
"""

import asyncio
import contextlib
import dataclasses
import time
from collections.abc import Callable
from pathlib import Path

from incident_arena import __version__, wait
from incident_arena.errors import ArenaError, InfrastructureError, UserError
from incident_arena.formats.records import Manifest, Reconciled, Reconciliations, Stage
from incident_arena.services.referee import actions, admission, draining, events, glances, reconcile, seal
from incident_arena.services.referee.figures import Figures
from incident_arena.services.referee.folder import MANIFEST
from incident_arena.services.referee.parts import Parts
from incident_arena.services.referee.patience import insist, patient
from incident_arena.stores.kubernetes.picture import AGENT, COMPONENT

LIVE_FILES = ("observations.jsonl", "health.jsonl", "usage.jsonl")
STORE_TIMEOUT_S = 20
AGENT_GONE_S = 60.0
SOAK_ENDS_S = 30.0
HURRIED_S = 15.0
"""What a wait gets once it is certain that the repair failed: a backlog that no worker takes never drains."""


async def collect(parts: Parts) -> str:
    """Gather all evidence and close the folder.

    Raises:
        UserError: no agent was started, or the folder is closed already.
        ArenaError: gathering failed; the manifest says why.
    """
    started = parts.evidence.state.agent_started
    if started is None:
        raise UserError("gathering", "no agent was started", "run `agent-started` first")
    if parts.evidence.has(MANIFEST):
        raise UserError("gathering", "the evidence folder is closed", "read it; it is not gathered twice")
    try:
        async with asyncio.timeout(parts.task.deadlines.gather):
            sealed = await _gather(parts, started)
    except TimeoutError as error:
        reason = f"gathering overran its deadline of {parts.task.deadlines.gather:g} s"
        _close(parts, started, unfinished=reason)
        raise InfrastructureError("gathering", reason) from error
    except BaseException as error:
        _close(parts, started, unfinished=str(error) or type(error).__name__)
        raise
    _close(parts, started, sealed=sealed)
    return f"sealed: {sealed}" if sealed else "gathered"


async def _gather(parts: Parts, started: float) -> str:
    """All of it; when it is sealed before the soak, why."""
    await _agent_gone(parts)
    ended = time.time()
    parts.evidence.tell(agent_ended=ended)
    parts.evidence.append("stages.jsonl", Stage(name="agent", started=started, seconds=ended - started, ok=True))
    with parts.evidence.stage("glances", tolerant=True) as note:  # before restarts take the logs away
        note.detail = await glances.keep(parts, started, ended)
    _, seen = await admission.snapshot(parts, "C")
    if any(each.state == "planted" for each in seen):
        parts = _hurried(parts)
    drained = await _reconciled(parts, "drain", "reconcile")
    _keep(parts, Reconciliations(drained=drained, end=None))
    if parts.evidence.state.seal and (sealed := await asyncio.to_thread(seal.reason, parts, started, ended)):
        return sealed
    with contextlib.suppress(wait.DeadlineError):  # a load that is gone is evidence too: its silence is judged
        await insist("the load resumes", parts.load.resume)
    await _soak(parts)
    parts = await _challenge(parts)
    end = await _reconciled(parts, "drain-end", "reconcile-end")
    _keep(parts, Reconciliations(drained=drained, end=end))
    await admission.snapshot(parts, "D")
    return ""


async def _agent_gone(parts: Parts) -> None:
    """The runner takes the agent away before it asks for this; what is still there is taken away here."""

    async def probe() -> tuple[bool, str]:
        for pod in await parts.cluster.pods(AGENT):
            await parts.cluster.delete_pod(pod["metadata"]["name"])
        left = await parts.cluster.items("pods", f"{COMPONENT}={AGENT}")
        return not left, f"{len(left)} pods"

    await patient("the agent's pod is gone", probe, AGENT_GONE_S)


async def _reconciled(parts: Parts, drain: str, name: str) -> Reconciled | None:
    """Drain and look, also when the backlog stands: records may be lost all the same. None: no store answered."""
    with parts.evidence.stage(drain, tolerant=True) as note:
        note.detail = await draining.drained(parts)
    found: list[Reconciled] = []
    with parts.evidence.stage(name, tolerant=True) as note:
        found.append(await asyncio.to_thread(_reconcile, parts))
        note.detail = f"{len(found[0].records)} records"
    return found[0] if found else None


def _reconcile(parts: Parts) -> Reconciled:
    """Ask the stores, over connections of their own, which may take longer than a look.

    Raises:
        InfrastructureError: they do not answer.
    """
    try:
        with parts.config.opened(STORE_TIMEOUT_S) as opened:
            return reconcile.reconcile(parts.config.ledger, parts.substrate, opened, parts.task.settling.job)
    except ArenaError:
        raise
    except Exception as error:  # what the agent left in the stores must not be a way out of a verdict
        raise InfrastructureError("reconciliation", f"{type(error).__name__}: {error}") from error


async def _soak(parts: Parts) -> None:
    """A window in which nothing is done. What was due in it may end before the next challenge begins."""
    figures = Figures(parts.config.ledger, parts.task)
    with parts.evidence.stage("soak"):
        started = time.time()
        await draining.passing("the soak", parts.task.windows.soak)
        ended = time.time()
    with contextlib.suppress(wait.DeadlineError):  # then it failed by being late, whatever comes next
        await draining.ended("the soak", figures, started, ended, SOAK_ENDS_S)


def _hurried(parts: Parts) -> Parts:
    """With shorter waits: what fails in them would fail in longer ones, and does not change the reward any more."""
    limits = parts.task.deadlines
    shorter = {"drain": min(limits.drain, HURRIED_S), "restart": min(limits.restart, HURRIED_S)}
    task = parts.task.model_copy(update={"deadlines": limits.model_copy(update=shorter)})
    return dataclasses.replace(parts, task=task)


async def _challenge(parts: Parts) -> Parts:
    """The task's challenges in order, then a window. The first that fails hurries what is left."""
    for challenge in parts.task.challenges:
        with parts.evidence.stage(challenge.stage, tolerant=True) as note:
            note.detail = await events.run(parts, challenge)
        if not note.ok:
            parts = _hurried(parts)
    figures = Figures(parts.config.ledger, parts.task)
    with parts.evidence.stage("restarted") as note:
        try:
            note.detail = await admission.until_healthy(
                figures, min(parts.task.settling.back, parts.task.deadlines.restart)
            )
        except wait.DeadlineError as error:
            note.detail = f"never healthy again: {error.reason}"
        await draining.passing("the window after the challenges", parts.task.windows.restarted)
    return parts


def _keep(parts: Parts, reconciliations: Reconciliations) -> None:
    parts.evidence.write("reconciled.json", reconciliations)


def _close(parts: Parts, started: float, *, unfinished: str = "", sealed: str = "") -> None:
    """Copy what others wrote, and write the manifest last."""
    ended = parts.evidence.state.agent_ended or time.time()
    problems = [unfinished] if unfinished else []
    for name, content in _copies(parts, started, ended).items():
        try:
            parts.evidence.write(name, content())
        except (ArenaError, OSError, ValueError) as error:
            problems.append(f"{name}: {error}")
    parts.evidence.write(
        MANIFEST,
        Manifest(
            task=parts.task.name,
            episode=parts.config.episode,
            product=__version__,
            agent_started=started,
            agent_ended=ended,
            complete=not problems,
            unfinished="; ".join(problems),
            sealed=sealed,
            files=parts.evidence.digests(),
        ),
    )
    if problems and not unfinished:
        raise InfrastructureError("gathering", "; ".join(problems))


def _copies(parts: Parts, started: float, ended: float) -> dict[str, Callable[[], bytes]]:
    """Evidence that is written elsewhere while the episode runs: file name to how its content is read."""
    copies = {name: _reader(parts.evidence.live.folder / name) for name in LIVE_FILES}
    copies["ledger.jsonl"] = _reader(parts.config.ledger)
    copies["actions.jsonl"] = lambda: _actions(parts, started, ended)
    return copies


def _reader(path: Path) -> Callable[[], bytes]:
    """Reads whole lines only: the last one may just be being written."""

    def read() -> bytes:
        content = path.read_bytes()
        return content[: content.rfind(b"\n") + 1]

    return read


def _actions(parts: Parts, started: float, ended: float) -> bytes:
    found = [*actions.gather(parts.stores, parts.config.admin_audit, started, ended), *glances.kept(parts)]
    found.sort(key=lambda each: each.at)
    return "".join(action.model_dump_json() + "\n" for action in found).encode()
