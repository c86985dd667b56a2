"""The class that Harbor's environment drives."""

import asyncio
import json
import time
from collections.abc import Callable
from pathlib import Path

from incident_arena.episode import logs
from incident_arena.episode.ground import Ground, Order
from incident_arena.episode.stages import RUNNER_STAGES, STAGES, Step, place
from incident_arena.errors import ArenaError, InfrastructureError
from incident_arena.formats.records import Stage
from incident_arena.node import down

FREEZE_S = 60.0
REFEREE_S = 30.0


class Episode(Ground):
    """One episode, up to the moment at which its agent may start.

    Args:
        order: which one.
        record: folder for this episode's records and, should it fail, its logs.
        on_stage: told of each stage that has ended.
    """

    def __init__(
        self,
        order: Order,
        record: Path,
        on_stage: Callable[[Stage], None] | None = None,
    ) -> None:
        super().__init__(order)
        self.record = record
        self.on_stage = on_stage
        self.stages: list[Stage] = []
        self.peak_memory_mb = 0

    async def start(self) -> None:
        """Play every stage up to snapshot B.

        Raises:
            ArenaError: a stage failed; the episode is inadmissible. Logs are kept, and the message says where.
        """
        await place(self)
        try:
            for step in STAGES:
                await self._play(step)
                if step.name == RUNNER_STAGES[-1]:
                    await self._tell_referee()
            sealed = ("--seal",) if self.order.seal else ()
            await self.referee("agent-started", *sealed, deadline_s=REFEREE_S)
        except ArenaError as error:
            if self.spec is not None:
                kept = await logs.keep(self.spec, self.record)
                raise InfrastructureError(error.thing, error.reason, f"logs are in {kept}") from error
            raise

    async def _play(self, step: Step) -> None:
        deadline_s = float(getattr(self.task.deadlines, step.deadline))
        started = time.time()
        clock = time.monotonic()
        detail, ok = "", False
        try:
            detail = await step.play(self, deadline_s)
            ok = True
        except ArenaError as error:
            detail = str(error)
            raise InfrastructureError(f"stage {step.name!r}", f"{error.thing}: {error.reason}", error.remedy) from error
        finally:
            seconds = time.monotonic() - clock
            stage = Stage(name=step.name, started=started, seconds=seconds, ok=ok, detail=detail)
            self.stages.append(stage)
            if self.on_stage:
                self.on_stage(stage)

    async def _tell_referee(self) -> None:
        told = [json.loads(stage.model_dump_json()) for stage in self.stages if stage.name in RUNNER_STAGES]
        await self.referee("stage", stdin=json.dumps(told).encode(), deadline_s=REFEREE_S)

    async def freeze(self) -> None:
        """Delete the agent's pod and wait until it is gone."""
        await self.kube.delete_pod("agent", deadline_s=FREEZE_S)

    async def stop(self) -> None:
        """Take relay and node down; does nothing when there are none."""
        await self.relay.stop()
        if self.spec is None:
            return
        self.peak_memory_mb = down.memory_mb(self.spec)[1]
        await asyncio.to_thread(down.stop, self.settings, self.spec)
        self.spec = None
