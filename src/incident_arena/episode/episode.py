"""The class that Harbor's environment drives."""

import asyncio
import json
import time
from collections.abc import Callable
from pathlib import Path

from incident_arena.episode import logs, way_out
from incident_arena.episode.ground import Ground
from incident_arena.episode.stages import RUNNER_STAGES, STAGES, Act, place
from incident_arena.errors import ArenaError, InfrastructureError
from incident_arena.formats.records import Stage
from incident_arena.images import agents
from incident_arena.node import down
from incident_arena.settings import Settings

FREEZE_S = 60.0
REFEREE_S = 30.0


class Episode(Ground):
    """One episode, up to the moment at which its agent may start.

    Args:
        settings: where things are.
        task_folder: exported `environment/`: task.json, chart/, values.yaml.
        name: unique on the machine; the node's name too.
        record: folder for this episode's records and, should it fail, its logs.
        on_stage: told of each stage that has ended.
        way: which names the agent may call.
        agent_image: what the chart gets as its image `agent`.
        seed: the trial's, by which the task's values are drawn.
    """

    def __init__(
        self,
        settings: Settings,
        task_folder: Path,
        name: str,
        record: Path,
        on_stage: Callable[[Stage], None] | None = None,
        *,
        way: way_out.WayOut = way_out.WayOut(),  # noqa: B008  frozen
        agent_image: str = agents.PLAIN,
        seed: int = 1,
    ) -> None:
        super().__init__(settings, task_folder, name, way=way, agent_image=agent_image, seed=seed)
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
            for act in STAGES:
                await self._play(act)
                if act.name == RUNNER_STAGES[-1]:
                    await self._tell_referee()
            await self.referee("agent-started", deadline_s=REFEREE_S)
        except ArenaError as error:
            if self.spec is not None:
                kept = await logs.keep(self.spec, self.record)
                raise InfrastructureError(error.thing, error.reason, f"logs are in {kept}") from error
            raise

    async def _play(self, act: Act) -> None:
        deadline_s = float(getattr(self.task.deadlines, act.deadline))
        started = time.time()
        clock = time.monotonic()
        detail, ok = "", False
        try:
            detail = await act.act(self, deadline_s)
            ok = True
        except ArenaError as error:
            detail = str(error)
            raise InfrastructureError(f"stage {act.name!r}", f"{error.thing}: {error.reason}", error.remedy) from error
        finally:
            seconds = time.monotonic() - clock
            stage = Stage(name=act.name, started=started, seconds=seconds, ok=ok, detail=detail)
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
