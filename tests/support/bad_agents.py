"""Agents that fail in ways that would end more than their own trial."""

import asyncio
import os
from pathlib import Path
from typing import Any

from harbor.agents.base import BaseAgent
from harbor.environments.base import BaseEnvironment
from harbor.models.agent.context import AgentContext

WAYS = "ARENA_BAD_WAYS"
"""Environment variable: a file with a line for each trial: how its agent fails; empty when it repairs."""


class BadAgent(BaseAgent):
    """Fails as the next line of WAYS says."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        ways = Path(os.environ[WAYS])
        self.way, _, rest = ways.read_text().partition("\n")
        ways.write_text(rest)
        if self.way == "is not made":
            raise OSError("no agent today")

    @staticmethod
    def name() -> str:
        return "bad"

    def version(self) -> str:
        return "1"

    async def setup(self, environment: BaseEnvironment) -> None:
        del environment
        if self.way == "is not set up":
            raise RecursionError("setup")

    async def run(self, instruction: str, environment: BaseEnvironment, context: AgentContext) -> None:
        del instruction
        context.metadata = {"way": self.way} if self.way != "reads its logs" else None
        match self.way:
            case "":
                await environment.exec("sleep 1; touch /logs/agent/solved.txt")
            case "cancels itself":
                raise asyncio.CancelledError
            case "exits":
                raise SystemExit(3)
            case "raises":
                raise RecursionError("run")
            case "times out":
                raise TimeoutError

    def populate_context_post_run(self, context: AgentContext) -> None:
        del context
        if self.way == "reads its logs":
            raise UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte")
