"""Agents for tests of what is around them; they call no model."""

import asyncio
from pathlib import Path
from typing import Any, override

from harbor.agents.base import BaseAgent
from harbor.agents.capabilities import AgentCapabilities
from harbor.environments.base import BaseEnvironment
from harbor.models.agent.context import AgentContext


class Solver(BaseAgent):
    """Says in its pod that it solved the task; at effort `high` it waits for ever while the file `hold` is there."""

    capabilities = AgentCapabilities(reasoning_effort=True)

    def __init__(self, logs_dir: Path, hold: str = "", **kwargs: Any) -> None:
        super().__init__(logs_dir=logs_dir, **kwargs)
        self._hold = Path(hold) if hold else None
        self._effort = kwargs.get("reasoning_effort")

    @staticmethod
    @override
    def name() -> str:
        return "solver"

    @override
    def version(self) -> str:
        return "1"

    @override
    async def setup(self, environment: BaseEnvironment) -> None:
        """Needs nothing."""

    @override
    async def set_web_tools_disabled(self, disabled: bool, environment: BaseEnvironment) -> None:
        """Has none."""

    @override
    async def run(self, instruction: str, environment: BaseEnvironment, context: AgentContext) -> None:
        if self._hold and self._effort == "high" and self._hold.exists():
            self._hold.write_text("reached")
            await asyncio.Event().wait()
        await environment.exec("echo solved > /logs/agent/solved.txt")
