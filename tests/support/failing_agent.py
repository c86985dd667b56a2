"""An agent of a model whose way fails: it ends as it is told, and the trial gets the gateway's record of it."""

import os
from pathlib import Path

from harbor.agents.base import BaseAgent
from harbor.agents.installed.base import BaseInstalledAgent
from harbor.environments.base import BaseEnvironment
from harbor.models.agent.context import AgentContext

from incident_arena.analysis.errored import ROUTE_FILE

FAILURES = "ARENA_FAILURES"
"""Environment variable: how many trials end in the exception; each takes one byte of the file that it names."""
ROUTE = "ARENA_ROUTE"
"""Environment variable: a file with the route.json of those trials."""


class ApiRateLimitError(Exception):
    """Named as Harbor's own."""


class FailingAgent(BaseAgent):
    """Fails while there is something left to fail with."""

    @staticmethod
    def name() -> str:
        return "failing"

    def version(self) -> str:
        return "1"

    async def setup(self, environment: BaseEnvironment) -> None:
        pass

    async def run(self, instruction: str, environment: BaseEnvironment, context: AgentContext) -> None:
        del instruction, environment
        context.n_input_tokens, context.n_cache_tokens, context.n_output_tokens = 1000, 400, 20
        if not _spend():
            return
        _leave_route(Path(self.logs_dir).parent)
        if os.environ.get("ARENA_EXIT") != "well":
            raise ApiRateLimitError("429 from the provider")


def _spend() -> bool:
    left = Path(os.environ[FAILURES])
    text = left.read_text()
    left.write_text(text[1:])
    return bool(text)


def _leave_route(trial: Path) -> None:
    """The gateway's record, where the runner leaves it."""
    if route := os.environ.get(ROUTE):
        (trial / ROUTE_FILE).write_text(Path(route).read_text())


class FailingHostAgent(FailingAgent):
    """The same, under the name of one whose model is called from the host."""

    @staticmethod
    def name() -> str:
        return "terminus-2"


class PrintingAgent(BaseInstalledAgent):
    """A program in the pod that does nothing but blame the network."""

    @staticmethod
    def name() -> str:
        return "printing"

    def get_version_command(self) -> str | None:
        return None

    async def install(self, environment: BaseEnvironment) -> None:
        pass

    async def run(self, instruction: str, environment: BaseEnvironment, context: AgentContext) -> None:
        del instruction
        context.n_output_tokens = 20
        _leave_route(Path(self.logs_dir).parent)
        await self.exec_as_agent(environment, "echo 'dial tcp: connection refused' >&2; exit 1")
