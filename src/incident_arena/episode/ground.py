"""What the stages of an episode work on: its task, its images, its node once that is up, and the referee in it."""

from dataclasses import dataclass, field
from pathlib import Path

from incident_arena import charts
from incident_arena.episode import needs, way_out
from incident_arena.errors import InfrastructureError
from incident_arena.faults import drawing
from incident_arena.formats.records import Closing
from incident_arena.formats.task import TaskSpec
from incident_arena.images import agents
from incident_arena.kube import Kube
from incident_arena.node.spec import NodeSpec
from incident_arena.settings import Settings

REFEREE = "incident_arena.services.referee"
GRACE_S = 15.0
"""More than a stage's own deadline that its process may take, so that the stage can say itself what it waited for."""


@dataclass(frozen=True, kw_only=True)
class Order:
    """The episode that is wanted.

    Attributes:
        settings: where things are.
        task_folder: exported `environment/`: task.json, chart/, values.yaml.
        name: unique on the machine; the node's name too.
        way: which names the agent may call.
        agent_image: what the chart gets as its image `agent`.
        seal: whether gathering ends where nothing later can make the trial pass.
        seed: the trial's, by which the task's values are drawn.
    """

    settings: Settings
    task_folder: Path
    name: str
    way: way_out.WayOut = field(default_factory=way_out.WayOut)
    agent_image: str = agents.PLAIN
    seal: bool = False
    seed: int = 1


class Ground:
    """See the module."""

    def __init__(self, order: Order) -> None:
        self.order = order
        self.settings = order.settings
        self.task_folder = order.task_folder
        self.name = order.name
        spec = TaskSpec.model_validate_json((order.task_folder / "task.json").read_text())
        self.task: TaskSpec = drawing.played(spec, charts.kinds(order.task_folder / "chart"), order.seed)
        self.images = needs.find(order.settings, order.task_folder, order.agent_image)
        self.relay = way_out.Relay(order.way)
        self.spec: NodeSpec | None = None

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
