"""The stages before the agent: is the episode fit to be played?"""

import asyncio
import time

from incident_arena import wait
from incident_arena.errors import InfrastructureError
from incident_arena.formats.records import Observation, Stage
from incident_arena.services.referee import draining, events, looks, pictures
from incident_arena.services.referee.figures import Figures
from incident_arena.services.referee.folder import LABELS
from incident_arena.services.referee.parts import Parts
from incident_arena.services.referee.patience import POLL_S, insist


async def healthy(parts: Parts) -> str:
    """Wait until every operation kind of the load succeeds.

    Raises:
        DeadlineError: with the operations that did not.
    """
    figures = Figures(parts.config.ledger, parts.task)
    with parts.evidence.stage("healthy") as note:
        note.detail = await until_healthy(figures, parts.task.deadlines.healthy)
    return note.detail


async def until_healthy(figures: Figures, deadline_s: float) -> str:
    """Wait until the figures are healthy, and say what they are.

    Raises:
        DeadlineError: with what was seen last.
    """
    seen = ""

    async def probe() -> tuple[bool, str]:
        nonlocal seen
        await asyncio.to_thread(figures.refresh)
        well, seen = figures.healthy()
        return well, seen

    await wait.until_async("every operation kind succeeds for 5 s", probe, deadline_s=deadline_s, every_s=POLL_S)
    return seen


async def baseline(parts: Parts) -> str:
    """Wait for a window in bounds; the stage ends exactly where the window does.

    Raises:
        DeadlineError: with the kinds that are out of bounds.
    """
    length = parts.task.windows.baseline
    figures = Figures(parts.config.ledger, parts.task)
    started = time.time()
    end = started

    async def probe() -> tuple[bool, str]:
        nonlocal end
        await asyncio.to_thread(figures.refresh)
        end = figures.whole(started)
        if end - started < length:
            return False, f"{end - started:.0f} of {length:g} s"
        return figures.in_bounds(end - length, end)

    stage = Stage(name="baseline", started=started, seconds=0, ok=True)
    try:
        await wait.until_async(
            f"the load is in bounds for {length:g} s", probe, deadline_s=parts.task.deadlines.baseline, every_s=POLL_S
        )
    except InfrastructureError as error:
        failed = {"seconds": time.time() - started, "ok": False, "detail": error.reason}
        parts.evidence.append("stages.jsonl", stage.model_copy(update=failed))
        raise
    parts.evidence.append("stages.jsonl", stage.model_copy(update={"seconds": end - started}))
    return f"in bounds for {length:g} s"


async def snapshot(parts: Parts, label: str) -> tuple[str, list[Observation]]:
    """Take a snapshot, as a stage of its own.

    Each fault's observer looks too: the continuous looks are seconds apart, and may miss a short stretch of time.

    Returns:
        What it says about itself, and the look at each fault.
    """
    with parts.evidence.stage(f"snapshot-{label}") as note:
        if label == LABELS[0]:
            for event in (*parts.task.challenges, *parts.task.scenes):
                await events.prepare(parts, event)
        seen = await looks.record(parts)
        taken = await asyncio.wait_for(pictures.take(parts, label), parts.task.deadlines.snapshot)
        note.detail = f"{sum(len(facts) for facts in taken.facts.values())} facts in {taken.seconds:.1f} s"
    return note.detail, seen


async def plant(parts: Parts) -> str:
    """Plant every fault, and have its observer see it; then the scenes happen.

    Nothing is under way meanwhile: what a fault would cut off in the middle (a job that has begun under the old grant)
    would be damage of the planting, another one in each episode.

    Raises:
        StoreError: a component refused.
        InfrastructureError: an observer does not see what was planted, or the queue does not come to rest.
    """
    with parts.evidence.stage("plant") as note:
        await draining.drained(parts)
        for seen in await looks.record(parts):
            if seen.state != "clear":
                raise InfrastructureError(f"fault '{seen.fault}'", f"is not planted yet, but is seen as: {seen.seen}")
        for each in parts.faults:
            await asyncio.to_thread(each.fault.plant, parts.stores[each.component], each.parameters)
        for seen in await looks.record(parts):
            if seen.state != "planted":
                raise InfrastructureError(f"fault '{seen.fault}'", f"was planted, but is seen as: {seen.seen}")
        for each in (*parts.faults, *parts.others):
            await asyncio.to_thread(each.fault.cover, parts.stores[each.component])
        await insist("the load resumes", parts.load.resume)
        told = [each.fault.describe(each.parameters) for each in parts.faults]
        told += [await events.begin(parts, scene) for scene in parts.task.scenes]
        note.detail = "; ".join(told)
    return note.detail


async def symptom(parts: Parts) -> str:
    """Wait until the load's own figures show the fault.

    Raises:
        DeadlineError: with the figures seen last.
    """
    figures = Figures(parts.config.ledger, parts.task)
    seen = ""
    with parts.evidence.stage("symptom") as note:
        since = time.time()

        async def probe() -> tuple[bool, str]:
            nonlocal seen
            await asyncio.to_thread(figures.refresh)
            shown, seen = figures.symptom(since)
            return shown, seen

        await wait.until_async(
            "the load shows the fault", probe, deadline_s=parts.task.deadlines.symptom, every_s=POLL_S
        )
        note.detail = seen
    return note.detail
