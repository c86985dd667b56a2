"""The class that Harbor's environment drives."""

import asyncio
import json
import time
from collections.abc import Callable
from pathlib import Path

from incident_arena.episode import logs, needs, way_out
from incident_arena.episode.stages import REFEREE, RUNNER_STAGES, STAGES, Act, place
from incident_arena.errors import ArenaError, InfrastructureError
from incident_arena.formats.records import Closing, Stage
from incident_arena.formats.task import TaskSpec
from incident_arena.images import agents
from incident_arena.kube import Kube
from incident_arena.node import down
from incident_arena.node.spec import NodeSpec
from incident_arena.settings import Settings

FREEZE_S = 60.0
REFEREE_S = 30.0
GRACE_S = 15.0
"""More than a stage's own deadline that its process may take, so that the stage can say itself what it waited for."""


class Episode:
    """One episode, up to the moment at which its agent may start.

    Args:
        settings: where things are.
        task_folder: exported `environment/`: task.json, chart/, values.yaml.
        name: unique on the machine; the node's name too.
        record: folder for this episode's records and, should it fail, its logs.
        on_stage: told of each stage that has ended.
        way: which names the agent may call.
        agent_image: what the chart gets as its image `agent`.
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
    ) -> None:
        self.settings = settings
        self.task_folder = task_folder
        self.name = name
        self.record = record
        self.on_stage = on_stage
        self.task: TaskSpec = TaskSpec.model_validate_json((task_folder / "task.json").read_text())
        self.images = needs.find(settings, task_folder, agent_image)
        self.relay = way_out.Relay(way)
        self.spec: NodeSpec | None = None
        self.stages: list[Stage] = []
        self.peak_memory_mb = 0

    @property
    def node(self) -> NodeSpec:
        """The node, once it is up.

        Raises:
            InfrastructureError: it is not.
        """
        if self.spec is None:
            raise InfrastructureError(f"episode {self.name!r}", "has no node yet")
        return self.spec

    @property
    def kube(self) -> Kube:
        """The cluster, once the node is up."""
        return Kube(self.node.kubeconfig, self.node.bin)

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

    async def referee(self, *verb: str, deadline_s: float, stdin: bytes | None = None) -> str:
        """Run a verb of the referee in its pod.

        Returns:
            Its closing line: JSON, a records.Closing.

        Raises:
            InfrastructureError: it failed, with what it said; or it did not prove that it came to its end.
        """
        pod = await self.kube.pod_of("referee")
        argv = ["python", "-m", REFEREE, *verb]
        ended = await self.kube.exec(pod, argv, stdin=stdin, deadline_s=deadline_s + GRACE_S)
        what = f"referee {' '.join(verb)}"
        if ended.exit != 0:
            raise InfrastructureError(
                what, (ended.stderr or ended.stdout).strip()[-2000:] or f"exited with {ended.exit}"
            )
        line = ended.stdout.strip().rpartition("\n")[2]
        try:
            closing = Closing.model_validate_json(line)
        except ValueError:
            said = f"its last line is {line[-200:]!r}"
            raise InfrastructureError(
                what, f"ended without its closing line, so it may be unfinished: {said}"
            ) from None
        if closing.verb != verb[0]:
            raise InfrastructureError(what, f"has the closing line of {closing.verb!r}, so it may be unfinished")
        return line

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
