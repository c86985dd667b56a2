"""A person as an agent: the page, then a shell in the agent's pod on the user's terminal."""

import asyncio
import contextlib
import math
import os
import shlex
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, override

from harbor.agents.base import BaseAgent
from harbor.environments.base import BaseEnvironment
from harbor.models.agent.context import AgentContext
from rich.console import Console
from rich.markdown import Markdown
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from incident_arena.errors import ArenaError, UserError
from incident_arena.formats.task import TaskSpec
from incident_arena.harbor.cast import TEXT, Direction, Recorder
from incident_arena.harbor.cluster import AGENT
from incident_arena.harbor.ending import FROZEN
from incident_arena.harbor.environment import ArenaEnvironment
from incident_arena.harbor.terminal import OnTerminal, Terminal
from incident_arena.harbor.tunnel import kubectl, telemetry
from incident_arena.kube import Kube
from incident_arena.wait import DeadlineError, until_async

LOOK_S = 1.0
LAST_WORDS_S = 1.0
"""What the declaring command may take to print its answer before the shell is taken away."""
DECLARE_S = 30
PROMPT = r"\[\e[1;36m\]on-call\[\e[0m\] \w \$ "
CHOICES = "[bold]d[/]eclare the repair complete · [bold]g[/]o on in a new shell · [bold]q[/]uit without declaring: "
UNANSWERED = 3
"""So often may a question be met by the end of the input; then it counts as giving up."""


class PersonAgent(BaseAgent):
    """Hands the agent's pod to the person at the terminal.

    Args:
        logs_dir: Harbor's folder for the agent's logs; the recording goes there.
        kwargs: the rest of what Harbor hands to every agent.
    """

    def __init__(self, logs_dir: Path, **kwargs: Any) -> None:
        """See the class."""
        super().__init__(logs_dir=logs_dir, **kwargs)

    @staticmethod
    @override
    def name() -> str:
        return "person"

    @override
    def version(self) -> str:
        return "1.0.0"

    @override
    async def setup(self, environment: BaseEnvironment) -> None:
        """A person needs nothing in the pod."""

    @override
    async def set_web_tools_disabled(self, disabled: bool, environment: BaseEnvironment) -> None:
        """A person has no web tools."""

    @override
    async def run(self, instruction: str, environment: BaseEnvironment, context: AgentContext) -> None:
        if not isinstance(environment, ArenaEnvironment):
            raise UserError("a person", "plays in an arena environment alone", "start it with `arena play`")
        task = TaskSpec.model_validate_json((environment.environment_dir / "task.json").read_text())
        with Terminal() as terminal:
            recorder = Recorder(self.logs_dir, terminal.size, os.environ.get("TERM", "xterm-256color"))
            try:
                async with telemetry(environment.kube) as metrics:
                    show_page(terminal.console, instruction, task, metrics, self.logs_dir / TEXT)
                    await _Sitting(terminal, environment, recorder).run()
            finally:
                recorder.close()


def show_page(console: Console, instruction: str, task: TaskSpec, metrics: str | None, transcript: Path) -> None:
    """What the agent is told, and what a person has besides."""
    until = time.strftime("%H:%M", time.localtime(time.time() + task.deadlines.agent))
    beside = Table.grid(padding=(0, 2, 0, 0))
    beside.add_column(style="dim", no_wrap=True)
    beside.add_column(overflow="fold")
    beside.add_row("metrics", Text(metrics, "cyan") if metrics else "no way from here; Prometheus answers in the shell")
    beside.add_row("time", f"until {until}, {task.deadlines.agent / 60:.0f} minutes")
    beside.add_row("transcript", Text(str(_near(transcript))))
    beside.add_row("the end", Text.from_markup("[bold]declare_repair_complete[/], or leave the shell and say so"))
    # A terminal that goes away is told by its signal; here it is only a reason to say nothing.
    with contextlib.suppress(OSError):
        console.print("", Rule(Text("You are on call", "bold"), style="dim"), "", sep="\n")
        console.print(Padding(Markdown(instruction, code_theme="ansi_dark"), (0, 2)))
        console.print("", Rule(style="dim"), Padding(beside, (1, 2)), sep="\n")


def _near(path: Path) -> Path:
    """As short as it can be told from here."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


class _Sitting:
    """One person at one episode: shells and questions until it ends."""

    def __init__(self, terminal: Terminal, environment: ArenaEnvironment, recorder: Recorder) -> None:
        self._terminal = terminal
        self._environment = environment
        self._kube = environment.kube
        self._recorder = recorder

    async def run(self) -> None:
        """Until the person has declared or given up."""
        while True:
            await self._shell()
            if await _frozen(self._kube):
                self._say("Declared. Your part is done; now the evidence is gathered and judged.")
                return
            if await self._left():
                return

    async def _shell(self) -> None:
        """One shell; it ends by itself, or shortly after the declaration."""
        self._recorder.said("a shell begins")
        program = OnTerminal(shell(self._kube), self._terminal.size)
        ending = asyncio.create_task(self._end_when_frozen(program))
        try:
            await self._terminal.lend(program, self._moved("i"), self._moved("o"))
        finally:
            ending.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await ending
            await program.close()
        self._recorder.said("the shell has ended")

    def _moved(self, way: Direction) -> Callable[[bytes], None]:
        return lambda data: self._recorder.moved(way, data)

    async def _end_when_frozen(self, program: OnTerminal) -> None:
        async def declared() -> tuple[bool, str]:
            return await _frozen(self._kube), "not frozen"

        async def ended() -> tuple[bool, str]:
            return program.ended, "the shell is there"

        # Harbor ends the agent's time; this deadline only has to be later.
        await until_async("the declaration", declared, deadline_s=math.inf, every_s=LOOK_S)
        with contextlib.suppress(DeadlineError):
            await until_async("the declaring command's last words", ended, deadline_s=LAST_WORDS_S, every_s=0.1)
        program.hang_up()

    async def _left(self) -> bool:
        """The shell has ended without a declaration: ask. True when the person's part is over."""
        self._say("The shell has ended, and the incident is not declared repaired.")
        unanswered = 0
        while unanswered < UNANSWERED:
            answer = await self._terminal.ask(f"  {CHOICES}")
            unanswered += answer is None
            if answer is None:
                self._say("")
            choice = (answer or "?")[:1].lower()
            if choice == "d" and await self._declare():
                return True
            if choice == "g":
                return False
            if choice == "q":
                break
        self._say("Given up. Now the evidence is gathered and judged.")
        self._recorder.said("given up")
        return True

    async def _declare(self) -> bool:
        causes = await self._terminal.ask("  What was broken? [dim]COMPONENT.ASPECT …, or nothing:[/] ")
        named = shlex.join((causes or "").replace(",", " ").split())
        command = f"declare_repair_complete --causes {named}" if named else "declare_repair_complete"
        self._recorder.said(command)
        done = await self._environment.exec(command, timeout_sec=DECLARE_S)
        if done.return_code != 0:
            self._say((done.stderr or done.stdout or "it was refused").strip(), "red")
            return False
        self._say("Declared. Now the evidence is gathered and judged.")
        return True

    def _say(self, text: str, style: str = "") -> None:
        with contextlib.suppress(OSError):
            self._terminal.console.print(f"\n  {text}" if text else "", style=style or None, markup=False)


def shell(kube: Kube) -> tuple[str, ...]:
    """The command for an interactive shell in the agent's pod, on the caller's terminal."""
    settings = {"TERM": os.environ.get("TERM", "xterm-256color"), "PS1": PROMPT}
    given = [f"{name}={value}" for name, value in settings.items()]
    return (*kubectl(kube), "exec", "--stdin", "--tty", "--quiet", AGENT, "--", "env", *given, "bash", "--norc", "-i")


async def _frozen(kube: Kube) -> bool:
    """Whether the agent has declared; the referee cuts its pod off then. A cluster that doesn't answer: not yet."""
    try:
        pod = await kube.get(f"/api/v1/namespaces/{kube.namespace}/pods/{AGENT}")
    except ArenaError:
        return False
    return FROZEN in (pod["metadata"].get("labels") or {})
